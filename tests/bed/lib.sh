# shellcheck shell=bash disable=SC2034
# lib.sh: what the scripts of the test bed share: parameters, progress lines, root rights, the engine's client.
# Sourced, never run.
#
#   NBCTL_BED_NAME   which bed (default dev); beds of different names do not touch each other
#   NBCTL_BED_DIR    where it keeps its files (default ./.bed)
#   NBCTL_BED_IMAGES where the monitoring images' tarballs are (default $NBCTL_BED_DIR/images); beds may share them

BED_HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BED_NAME=${NBCTL_BED_NAME:-dev}
BED_DIR=${NBCTL_BED_DIR:-$PWD/.bed}
BED_DIR=$(realpath -m -- "$BED_DIR")
BED_IMAGES=${NBCTL_BED_IMAGES:-$BED_DIR/images}
BED_LABEL=nbctl.bed                # on every container and network; its value is the bed's name
BED_IMAGE_LABEL=nbctl.bed.inputs   # on every image; its value is the hash of what the image was made from
BED_RUN=/run/nbctl-bed             # what concerns the machine rather than one bed: locks, the engine we started
ENGINE_SOCKET=/var/run/docker.sock
export NBCTL_BED_NAME=$BED_NAME NBCTL_BED_DIR=$BED_DIR

say() { printf 'bed: %s\n' "$*" >&2; }

# die WHAT [HINT] [EXIT CODE]
die() {
  printf 'error: %s\n' "$1" >&2
  [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
  exit "${3:-1}"
}

[[ $BED_NAME =~ ^[a-z][a-z0-9-]{0,15}$ ]] ||
  die "bed name '$BED_NAME' is not usable" "a letter first, then letters, digits or '-', 16 at most"

# as_root COMMAND...: runs it as root; asks sudo only where it is needed
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    die "'$1' needs root" "run this as root, or install sudo and allow your user to use it"
  fi
}

# dk ARG...: the client of this machine's engine, whatever DOCKER_HOST or a docker context say; DK_LIMIT in seconds
dk() {
  local client=(env -u DOCKER_HOST -u DOCKER_CONTEXT timeout "${DK_LIMIT:-0}" docker -H "unix://$ENGINE_SOCKET")
  if [ -w "$ENGINE_SOCKET" ]; then "${client[@]}" "$@"; else as_root "${client[@]}" "$@"; fi
}

engine_answers() { [ -S "$ENGINE_SOCKET" ] && DK_LIMIT=10 dk version >/dev/null 2>&1; }

need_engine() {
  engine_answers || die "no Docker engine answers on $ENGINE_SOCKET" "start one with: $BED_HERE/engine.sh start" 3
}

# seconds_since T: T and now are $EPOCHREALTIME
seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }'; }

# timed WHAT COMMAND...: says what is being done and how long it took; the command's output goes to a log, whose
# end is shown when it fails. COMMAND is a program, not a function, so that its own `set -e` keeps its meaning.
timed() {
  local what=$1 began=$EPOCHREALTIME log rc=0
  shift
  mkdir -p "$BED_DIR/log"
  log=$BED_DIR/log/${what//[^a-zA-Z0-9]/-}.log
  say "$what ..."
  "$@" >"$log" 2>&1 </dev/null || rc=$?
  if [ "$rc" = 0 ]; then
    say "$what: $(seconds_since "$began")"
  else
    tail -n 20 "$log" >&2
    printf 'error: %s failed after %s (exit code %s)\nhint: the whole output is in %s\n' \
      "$what" "$(seconds_since "$began")" "$rc" "$log" >&2
  fi
  return "$rc"
}

# machine_file NAME: path of a file that concerns the whole machine, made if it is missing: root's, open to every user
machine_file() {
  [ -e "$BED_RUN/$1" ] || { as_root mkdir -p "$BED_RUN" && as_root touch "$BED_RUN/$1" && as_root chmod 666 "$BED_RUN/$1"; }
  echo "$BED_RUN/$1"
}

# lock WHAT: held until this script ends, so that two runs do not build the same image or start two engines
lock() {
  local file
  file=$(machine_file "$1.lock")
  exec 9<"$file"
  flock -n 9 || { say "waiting for another run that holds $file ..." && flock 9; }
}

# alone NAME SCRIPT ARG...: starts the calling script again under a lock that, unlike that of `lock`, the programs it
# starts do not inherit: a process that outlives the run does not keep the next one waiting
alone() {
  local file
  [ "${BED_ALONE:-}" != "$1" ] || return 0
  file=$(machine_file "run-$1.lock")
  flock -n "$file" true || say "waiting for another run that holds $file ..."
  export BED_ALONE=$1
  shift
  exec flock -o "$file" "$@"
}
