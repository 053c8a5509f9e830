#!/usr/bin/env bash
# hosts.sh up [--plain] [N]|down|status|pause hN|unpause hN: N test hosts (default 4), each a container with its own sshd and its own Docker engine in
# its own network, process and mount namespaces, on a private network of this machine.
#   up      makes what is missing, leaves what is well, removes what is too many; writes inventory.yaml, ssh_config,
#           known_hosts and a key into $NBCTL_BED_DIR
#           --plain: without Docker engines, so that many fit on one machine
#   down    removes what carries this bed's label, and those files
#   pause   the host answers nothing any more, as if its power were gone; unpause brings it back
#   status  one line a host; exit code 3 when one is not well
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=network.sh
. "$BED_HERE/network.sh"

MINE=(--filter "label=$BED_LABEL=$BED_NAME")
KEY=$BED_DIR/id_ed25519
AT_ONCE=12                         # hosts being made at the same time

container() { echo "nbctl-bed-$BED_NAME-h$1"; }

# present: numbers of the bed's hosts, whatever state they are in
present() { dk ps -a "${MINE[@]}" --format '{{.Names}}' | sed "s/.*-h//" | sort -n; }

# One bed, one folder: two folders would take each other's hosts away, two beds each other's files. A caller that knows
# that nobody uses the other folder's hosts any more says so with NBCTL_BED_TAKE=1.
check_owner() {
  local other
  other=$(cat "$BED_DIR/bed-name" 2>/dev/null || echo "$BED_NAME")
  [ "$other" = "$BED_NAME" ] || die "$BED_DIR holds the files of bed '$other', not of '$BED_NAME'" \
    "take NBCTL_BED_NAME=$other, or another folder (NBCTL_BED_DIR)" 2
  other=$(dk ps -a "${MINE[@]}" --format '{{.Label "nbctl.bed.dir"}}' | grep -vxF "$BED_DIR" | head -1 || true)
  [ -n "$other" ] || return 0
  [ -n "${NBCTL_BED_TAKE:-}" ] || die "the hosts of bed '$BED_NAME' belong to $other" \
    "take NBCTL_BED_DIR=$other, or another name (NBCTL_BED_NAME), or remove them: NBCTL_BED_DIR=$other $0 down" 2
  say "removing the hosts that an earlier run from $other left"
  remove_hosts "$(present)"
}

make_key() {
  mkdir -p "$BED_DIR"
  echo "$BED_NAME" >"$BED_DIR/bed-name"
  [ -f "$KEY" ] || { remove_hosts "$(present)" && ssh-keygen -q -t ed25519 -N '' -C "nbctl-bed-$BED_NAME" -f "$KEY"; }
}

remove_hosts() {
  local i
  for i in $1; do dk rm -f -v "$(container "$i")" >/dev/null; done
}

# too_many N: hosts of an earlier, larger bed
too_many() { present | awk -v n="$1" '$1 > n'; }

# wait_for_jobs: for those of `up`, whose variables it uses
wait_for_jobs() {
  for i in "${jobs[@]}"; do wait "$i" || failed=1; done
  jobs=()
}

up() {
  local kind=engine n i began=$EPOCHREALTIME failed=0 jobs=()
  [ "${1:-}" != --plain ] || { kind=plain && shift; }
  n=${1:-4}
  [[ $n =~ ^[1-9][0-9]{0,2}$ && $n -le 120 ]] || die "'$n' is not a number of hosts" "1 to 120" 2
  lock "bed-$BED_NAME"
  need_engine
  check_owner
  make_key
  remove_hosts "$(too_many "$n")"
  ensure_network
  for i in $(seq "$n"); do
    "$BED_HERE/host.sh" "$(container "$i")" "$i" "$(bed_prefix)" "$KEY.pub" "$kind" >"$BED_DIR/host$i.key" 9>&- &
    jobs+=($!)
    [ $((i % AT_ONCE)) != 0 ] || wait_for_jobs
  done
  wait_for_jobs
  [ "$failed" = 0 ] || die "not every host came up" "see above; remove them all with: $0 down" 3
  cat "$BED_DIR"/host*.key >"$BED_DIR/known_hosts"
  rm "$BED_DIR"/host*.key
  "$BED_HERE/inventory.sh" "$n" "$(bed_prefix)"
  say "bed '$BED_NAME': $n hosts up in $(seconds_since "$began"): ssh -F $BED_DIR/ssh_config h1"
}

down() {
  local began=$EPOCHREALTIME
  lock "bed-$BED_NAME"
  if engine_answers; then
    check_owner
    remove_hosts "$(present)"
    remove_network
  else
    say "no engine answers: containers of bed '$BED_NAME', if any, go at the next up or down with an engine"
  fi
  remove_cgroups
  rm -f "$BED_DIR"/{bed-name,inventory.yaml,ssh_config,known_hosts,id_ed25519,id_ed25519.pub,host*.key}
  say "bed '$BED_NAME': down in $(seconds_since "$began")"
}

# Containers inside a host leave their empty control group folders behind; all of a bed's are below one name.
remove_cgroups() {
  local group
  for group in /sys/fs/cgroup/nbctl-bed-"$BED_NAME" /sys/fs/cgroup/*/nbctl-bed-"$BED_NAME"; do
    [ ! -d "$group" ] || as_root find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}

status() {
  local i rc=0 line
  need_engine
  [ -n "$(present)" ] || { say "bed '$BED_NAME': no hosts"; return 3; }
  for i in $(present); do
    # shellcheck disable=SC2016  # for the host's shell
    line=$(ssh -F "$BED_DIR/ssh_config" "h$i" 'docker info -f "engine {{.ServerVersion}}, {{.ContainersRunning}} containers"' 2>&1) || rc=3
    printf 'h%s  %s  %s\n' "$i" "$(bed_prefix).$((60 + i))" "$line"
  done
  return "$rc"
}

case ${1:-} in
  up) up "${@:2}" ;;
  down | status) "$1" ;;
  pause | unpause) need_engine && dk "$1" "$(container "${2#h}")" >/dev/null ;;
  *) die "hosts.sh: up [N], down, status, pause hN or unpause hN?" "" 2 ;;
esac
