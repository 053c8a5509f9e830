#!/bin/sh
# start-engine.sh LABEL CGROUP SUBNET: the host's own Docker engine. It is called from outside with nsenter, which keeps the
# outside's capabilities, so the host's container itself needs neither --privileged nor added ones.
set -eu

mount -o remount,rw /sys
mount -o remount,rw /proc/sys
mount --make-rshared /          # so that "/:/rootfs:ro,rslave" works here as on a host that systemd booted
if iptables-nft -t nat -L -n >/dev/null 2>&1; then flavour=nft; else flavour=legacy; fi
update-alternatives --set iptables "/usr/sbin/iptables-$flavour" >/dev/null
# An engine that was told to end takes its containerd and that one's socket along when it is done, also a new one's.
for _ in $(seq 200); do
  pgrep -x dockerd >/dev/null || pgrep -x containerd >/dev/null || break
  sleep 0.1
done
rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
exec dockerd --label "$1" --cgroup-parent "$2" --bip "$3" --default-address-pool base=10.231.0.0/16,size=24 \
  >/var/log/dockerd.log 2>&1 </dev/null
