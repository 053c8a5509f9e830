# Changes to a host that can be taken back. Files named nbctl hold nothing but lines of ours.

# write FILE VALUE: a setting of the running kernel.
write() {
  printf '%s\n' "$2" >"$1" || { echo "cannot write $1" >&2; exit 1; }
}

# keep FILE KEY LINE: the one line that begins with KEY.
keep() {
  mkdir -p "${1%/*}" || exit 1
  { [ ! -f "$1" ] || without "$1" "$2"; printf '%s\n' "$3"; } >"$1.new" && chmod 644 "$1.new" && mv -f "$1.new" "$1" || exit 1
}

# drop FILE KEY: that line goes, and the file with its last line.
drop() {
  [ -f "$1" ] || return 0
  without "$1" "$2" >"$1.new" || exit 1
  if [ -s "$1.new" ]; then chmod 644 "$1.new" && mv -f "$1.new" "$1"; else rm -f "$1.new" "$1"; fi
}

without() { awk -v key="$2" 'index($0, key) != 1' "$1"; }

# start_engine: by whatever starts services here; waits for the socket.
start_engine() {
  if command -v systemctl >/dev/null 2>&1 && [ -d /run/systemd/system ]; then systemctl enable --now docker
  else service docker start; fi || exit 1
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ ! -S "$1" ] || return 0
    sleep 1
  done
  echo "the engine does not open $1" >&2
  exit 1
}
