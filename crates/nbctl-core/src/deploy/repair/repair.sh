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

# leave_group USER: who is no member, since joining failed, has nothing to leave.
leave_group() {
  id -nG "$1" | tr ' ' '\n' | grep -qx docker || return 0
  gpasswd -d "$1" docker
}

# Packages of an engine. What an installation brings is noted, so that the undo can take away all of it and nothing else.
NEW=/var/lib/nbctl-engine-packages
files=
export DEBIAN_FRONTEND=noninteractive

# take_files FOLDER SHA256 NAME [SHA256 NAME]...: from the login's folder into one of root's own, $files; compared there.
take_files() {
  from=$1
  shift
  files=$(mktemp -d) || exit 1
  trap 'rm -rf "$files"' EXIT
  while [ $# -gt 1 ]; do
    # apt stumbles over the `%3a` in the names that it gives itself, so here they are numbers.
    to=$files/$#.${2##*.}
    cat "$from/$2" >"$to" && rm -f "$from/$2" || exit 1
    [ "$(sha256sum <"$to" | cut -c 1-64)" = "$1" ] || { echo "$2 is not what was sent" >&2; exit 1; }
    shift 2
  done
  rmdir "$from" 2>/dev/null || true
}

installed() {
  if command -v dpkg-query >/dev/null 2>&1; then dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii *//p'
  else rpm -qa --qf '%{NAME}\n'; fi | sort -u
}

begin_install() {
  installed >"$NEW.before" || exit 1
  getent group docker >/dev/null || : >"$NEW.group"
  trap end_install EXIT
}

# Also when the installation failed half-way.
end_install() {
  installed >"$NEW.after"
  comm -13 "$NEW.before" "$NEW.after" >>"$NEW"
  [ -s "$NEW" ] || rm -f "$NEW" "$NEW.group"
  rm -f "$NEW.before" "$NEW.after"
  [ -z "$files" ] || rm -rf "$files"
}

remove_new() {
  [ -s "$NEW" ] || return 0
  if command -v apt-get >/dev/null 2>&1; then tool='apt-get purge -y -qq'
  elif command -v dnf >/dev/null 2>&1; then tool='dnf remove -y -q'
  else tool='yum remove -y -q'; fi
  $tool $(cat "$NEW") || return 1
  # Packages leave the group behind that they make.
  [ ! -f "$NEW.group" ] || ! getent group docker >/dev/null || groupdel docker || return 1
  rm -f "$NEW" "$NEW.group"
}
