# What a login for nbctl consists of. Each has_… says whether it is so already.

fail() { echo "$*" >&2; exit 1; }

has_user() { id "$1" >/dev/null 2>&1; }

# A password of `*` fits no input, and unlike a locked account lets keys in.
make_user() { useradd -m -s /bin/bash "$1" && usermod -p '*' "$1" || exit 1; }

home_of() { getent passwd "$1" | cut -d: -f6; }

has_key() { grep -qxF -- "$2" "$(home_of "$1")/.ssh/authorized_keys"; }

# As that user: its home is its own, and may hold links that root must not follow.
add_key() {
  key=$2 su -s /bin/sh "$1" -c 'umask 077
cd && mkdir -p .ssh && printf "%s\n" "$key" >>.ssh/authorized_keys && chmod 700 .ssh && chmod 600 .ssh/authorized_keys' || exit 1
}

has_text() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# A name with a dot is not read by sudo; only what visudo accepts gets its real name.
put_sudoers() {
  command -v visudo >/dev/null 2>&1 || fail "sudo is not installed"
  printf '%s\n' "$2" >"$1.new" && chmod 440 "$1.new" || exit 1
  visudo -cqf "$1.new" || { rm -f "$1.new"; fail "visudo refuses the rule"; }
  mv -f "$1.new" "$1" || exit 1
  visudo -cq || { rm -f "$1"; fail "visudo refuses the rule beside the others; it was taken away again"; }
}

has_line() { grep -qxF -- "$2" "$1"; }

has_folder() { [ -d "$2" ] && [ "$(stat -c %U -- "$2")" = "$1" ]; }

make_folder() {
  if [ -e "$2" ] && ls -A -- "$2" | grep -qvx lost+found; then fail "$2 is neither empty nor of $1"; fi
  mkdir -p -- "$2" && chown "$1:" -- "$2" || exit 1
}

# Without that group there is no engine yet.
has_group() { ! getent group "$2" || id -nG "$1" | tr ' ' '\n' | grep -qx -- "$2"; }

firewall_kind() {
  if grep -qsx firewalld /proc/[0-9]*/comm; then echo firewalld
  elif grep -qsi '^ENABLED=yes' /etc/ufw/ufw.conf; then echo ufw
  fi
}

# Ranges as 9559-9560.
has_ports() {
  kind=$(firewall_kind)
  for range do
    case $kind in
      firewalld) firewall-cmd -q --query-port="$range/tcp" || return 1 ;;
      ufw) ufw status | grep -q "^$(echo "$range" | tr - :)/tcp .*ALLOW" || return 1 ;;
    esac
  done
}

open_ports() {
  kind=$(firewall_kind)
  for range do
    case $kind in
      firewalld) firewall-cmd -q --add-port="$range/tcp" && firewall-cmd -q --permanent --add-port="$range/tcp" || exit 1 ;;
      ufw) ufw allow "$(echo "$range" | tr - :)/tcp" || exit 1 ;;
    esac
  done
}
