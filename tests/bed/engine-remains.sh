# shellcheck shell=bash
# engine-remains.sh: what a killed engine leaves behind that keeps the next one from starting. Sourced by engine.sh,
# and only used when no dockerd runs in this network namespace.

# end_process PID: TERM, then KILL after 30 s
end_process() {
  as_root kill -TERM "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do
    [ -d "/proc/$1" ] || return 0
    sleep 0.2
  done
  as_root kill -KILL "$1" 2>/dev/null || true
}

# A pid file whose number now belongs to another program makes the engine believe that it runs already.
clear_pid_file() {
  local file=$1 program=$2 pid
  [ -e "$file" ] || return 0
  pid=$(as_root cat "$file")
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$program" ] || return 0
  say "removing the stale $file (pid $pid)"
  as_root rm -f "$file"
}

# containerd that a dockerd started is given a configuration in that dockerd's own folder.
orphaned_containerd() { pgrep -x containerd -a | awk '/\/run\/docker\/containerd\/containerd\.toml/ { print $1 }'; }

clear_remains() {
  local pid
  for pid in $(orphaned_containerd); do
    say "ending the containerd (pid $pid) of an engine that is gone"
    end_process "$pid"
  done
  clear_pid_file /var/run/docker.pid dockerd
  clear_pid_file /var/run/docker/containerd/containerd.pid containerd
  as_root rm -rf "$ENGINE_SOCKET"
  as_root find /var/run/docker/containerd -maxdepth 1 -type s -delete 2>/dev/null || true
}
