# shellcheck shell=bash
# engine-remains.sh: what a killed engine leaves behind that keeps the next one from starting. Sourced by engine.sh,
# and only used when no dockerd runs in this network namespace.

# in_this_network: of the pids on stdin those in this network namespace; the engines of test hosts are in others
in_this_network() {
  local pid
  while read -r pid; do
    [ "$(as_root readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] || echo "$pid"
  done
}

# alive PID: a process that ended and was not yet collected by its parent does not count
alive() { grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"; }

# end_process PID: TERM, then KILL after 30 s
end_process() {
  as_root kill -TERM "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do
    alive "$1" || return 0
    sleep 0.2
  done
  as_root kill -KILL "$1" 2>/dev/null || true
}

# containerd that a dockerd started is given a configuration in that dockerd's own folder.
orphaned_containerd() {
  pgrep -x containerd -a | awk '/\/run\/docker\/containerd\/containerd\.toml/ { print $1 }' | in_this_network
}

# Mounts of containers and networks that ended with their engine, and the engine's folder mounted onto itself. A disk
# of its own below /var/lib/docker is none of these: its own root is what is mounted.
remaining_mounts() {
  findmnt -rno TARGET,FSROOT | awk '
    $1 ~ /^\/var\/lib\/docker\// || $1 ~ /^\/(var\/)?run\/docker\/netns\// || ($1 == "/var/lib/docker" && $2 == $1) { print $1 }' | sort -r
}

# The pid files go in any case: a number that now belongs to another process makes an engine believe that it runs already.
clear_remains() {
  local pid mounted
  for pid in $(orphaned_containerd); do
    say "ending the containerd (pid $pid) of an engine that is gone"
    end_process "$pid"
  done
  for mounted in $(remaining_mounts); do as_root umount -l "$mounted" || true; done
  as_root rm -rf "$ENGINE_SOCKET" /var/run/docker.pid /var/run/docker/containerd/containerd.pid
  as_root find /var/run/docker/containerd -maxdepth 1 -type s -delete 2>/dev/null || true
}
