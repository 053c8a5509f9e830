#!/usr/bin/env bash
# engine.sh start|stop|status: this machine's Docker engine.
#   start   nothing when one answers; else through systemd where it runs, else by hand, also after an unclean end
#   stop    only an engine that `start` started, and only when nothing uses it any more
# The engine listens on its unix socket only. It is never a second one in this network namespace: two engines
# there take each other's bridge away.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=engine-remains.sh
. "$BED_HERE/engine-remains.sh"
# shellcheck source=engine-network.sh
. "$BED_HERE/engine-network.sh"

STATE=$BED_RUN/engine      # exists while an engine runs that we started: "starting", "systemd", or "PID START_TIME"
LOG=$(machine_file dockerd.log)

# start_time PID: the kernel's; tells a process from a later one with the same number
start_time() { awk '{ sub(/.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null; }

# live_daemon: the pid of a dockerd in this network namespace, ours or not
live_daemon() { pgrep -x dockerd | in_this_network; }

# wait_for_answer SECONDS [PID]: gives up early when that process ends
wait_for_answer() {
  local until=$((SECONDS + $1))
  while [ "$SECONDS" -lt "$until" ]; do
    engine_answers && return
    [ -z "${2:-}" ] || alive "$2" || return 1
    sleep 0.2
  done
  return 1
}

start_by_systemd() {
  as_root systemctl start docker.service
  wait_for_answer 60 || die "docker.service started but nothing answers on $ENGINE_SOCKET" "see: journalctl -u docker" 3
  echo systemd | as_root tee "$STATE" >/dev/null
}

# A daemon is there and silent: it may be starting. One that we started and that stays silent is ended.
settle_silent_daemon() {
  local pid=$1
  say "a dockerd runs (pid $pid) but does not answer yet, waiting ..."
  wait_for_answer 20 "$pid" && return
  alive "$pid" || return 0
  [[ $(cat "$STATE" 2>/dev/null) == starting || $(cat "$STATE" 2>/dev/null) == "$pid $(start_time "$pid")" ]] ||
    die "dockerd (pid $pid) runs here but does not answer on $ENGINE_SOCKET" \
      "end it, or let it listen there; a second engine beside it would take its bridge away" 3
  say "the test bed started it: ending it"
  end_process "$pid"
}

start_by_hand() {
  clear_remains
  remember_network
  echo starting | as_root tee "$STATE" >/dev/null
  as_root setsid env PATH="$(iptables_path):$PATH" dockerd -H "unix://$ENGINE_SOCKET" >"$LOG" 2>&1 </dev/null 9>&- &
  if wait_for_answer 60 $!; then
    own_it
  else
    tail -n 15 "$LOG" >&2
    die "dockerd does not come up" "its whole log is in $LOG" 3
  fi
}

# own_it: from "starting" to the daemon's pid, also for a start that was interrupted in between
own_it() {
  local pid
  pid=$(as_root cat /var/run/docker.pid)
  echo "$pid $(start_time "$pid")" | as_root tee "$STATE" >/dev/null
}

start() {
  local began=$EPOCHREALTIME pid
  lock engine
  if engine_answers; then
    [ "$(cat "$STATE" 2>/dev/null)" != starting ] || own_it
    say "engine: $(version) answers already"
    return
  fi
  command -v dockerd >/dev/null || die "no Docker engine is installed" "install it with: $BED_HERE/setup.sh bed" 3
  if [ -d /run/systemd/system ]; then
    start_by_systemd
  else
    for pid in $(live_daemon); do settle_silent_daemon "$pid"; done
    engine_answers || start_by_hand
  fi
  say "engine: $(version) started in $(seconds_since "$began")"
}

version() { dk version -f 'Docker {{.Server.Version}}'; }

# users: names of the running containers; whoever started one still needs the engine
users() { dk ps --format '{{.Names}}' | paste -sd ' '; }

stop() {
  local began=$EPOCHREALTIME pid used
  lock engine
  [ -e "$STATE" ] || { say "engine: not started by the test bed, left as it is"; return; }
  used=$(if engine_answers; then users; fi)
  [ -z "$used" ] || { say "engine: left running, it is in use by: $used"; return; }
  if [ "$(cat "$STATE")" = systemd ]; then
    as_root systemctl stop docker.service docker.socket
  else
    pid=$(cut -d' ' -f1 "$STATE")
    if [ "$(cat "$STATE")" = "$pid $(start_time "$pid")" ]; then end_process "$pid"; fi
    clear_remains
    restore_network
  fi
  as_root rm -f "$STATE"
  say "engine: stopped in $(seconds_since "$began")"
}

status() {
  if engine_answers; then
    say "engine: $(version), $([ -e "$STATE" ] && echo "started by the test bed" || echo "not started by the test bed")"
    dk ps --filter "label=$BED_LABEL" --format "table {{.Label \"$BED_LABEL\"}}\t{{.Names}}\t{{.Status}}"
  else
    say "engine: none answers on $ENGINE_SOCKET"
    return 3
  fi
}

case ${1:-} in
  start | stop | status) "$1" ;;
  *) die "engine.sh: start, stop or status?" "" 2 ;;
esac
