#!/usr/bin/env bash
# inventory.sh N PREFIX: writes $NBCTL_BED_DIR/inventory.yaml (h1 monitors and loads, the others are the cluster, with
# three metads where there are hosts for them) and an ssh_config with the hosts' names.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

n=$1 prefix=$2
release=${NBCTL_BED_NEBULA:-3.8.0}
packages=${NBCTL_BED_PACKAGES:-$BED_DIR/packages}

roles() {
  local metads=1
  [ "$n" -lt 4 ] || metads=3
  if [ "$n" = 1 ]; then
    echo monitor, load, metad, graphd, storaged
  elif [ "$1" = 1 ]; then
    echo monitor, load
  elif [ "$1" -le $((metads + 1)) ]; then
    echo metad, graphd, storaged
  else
    echo graphd, storaged
  fi
}

inventory() {
  local i
  cat <<EOF
format: 1
cluster: $BED_NAME
disposable: true
nebula: {version: $release, packages: "$packages", deploy_dir: /home/vesoft/nebula}
ssh: {user: vesoft, identity_file: "$BED_DIR/id_ed25519", known_hosts_file: "$BED_DIR/known_hosts", known_hosts: strict}
monitor: {images: "$BED_IMAGES"}
hosts:
EOF
  for i in $(seq "$n"); do
    echo "  - {name: h$i, address: $prefix.$((60 + i)), roles: [$(roles "$i")]}"
  done
}

ssh_config() {
  local i
  for i in $(seq "$n"); do printf 'Host h%s\n  HostName %s.%s\n' "$i" "$prefix" $((60 + i)); done
  cat <<EOF
Host *
  User vesoft
  IdentityFile "$BED_DIR/id_ed25519"
  IdentitiesOnly yes
  UserKnownHostsFile "$BED_DIR/known_hosts"
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 5
EOF
}

inventory >"$BED_DIR/inventory.yaml"
ssh_config >"$BED_DIR/ssh_config"
