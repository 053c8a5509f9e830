#!/bin/sh
# The host's first process: a host key on first start, the key that may log in from $AUTHORIZED_KEY, then sshd.
set -eu

[ -f /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/ssh_host_ed25519_key
for home in /home/vesoft /root; do
  mkdir -p "$home/.ssh"
  chmod 700 "$home/.ssh"
  echo "$AUTHORIZED_KEY" >"$home/.ssh/authorized_keys"
done
chown -R vesoft:vesoft /home/vesoft/.ssh
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e
