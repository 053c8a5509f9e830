# Facts of one host in one round trip. POSIX sh with coreutils, sed, grep and awk; nothing is written.
# Every answer is one line: a word, then fields, separated by tabs. `end` comes last.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin
nb_tab=$(printf '\t')

say() {
  nb_line=$1
  shift
  for nb_field do nb_line=$nb_line$nb_tab$nb_field; done
  printf '%s\n' "$nb_line"
}

have() { command -v "$1" >/dev/null 2>&1; }

first_line() {
  nb_value=
  { read -r nb_value <"$1"; } 2>/dev/null
  printf '%s' "$nb_value"
}

# Kernel settings, in one process for all. `read` will not do: shells read byte by byte, and the files of /proc/sys
# give nothing after the first read.
settings() {
  grep -Hs '' "$@" | awk -F: '{ n = split($1, part, "/"); print "setting\t" part[n] "\t" $2 }'
}

clock() { say clock "$1" "$(date +%s.%N)"; }

system() {
  if [ -r /etc/os-release ]; then
    ( . /etc/os-release; say os "$ID" "$VERSION_ID" "$PRETTY_NAME" )
  fi
  say kernel "$(uname -r)" "$(uname -m)"
  say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
  say boot "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
  say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
  while read -r nb_key nb_value nb_rest; do
    case $nb_key in
      MemTotal:|MemAvailable:|SwapTotal:) say memory "${nb_key%:}" "$nb_value" ;;
    esac
  done </proc/meminfo
  say nofile "$(ulimit -Sn)" "$(ulimit -Hn)"
  say setting core_limit "$(ulimit -Hc)"
  say setting thp "$(first_line /sys/kernel/mm/transparent_hugepage/enabled)"
  [ ! -d /run/systemd/system ] || say setting systemd yes
  ( cd /proc/sys && settings vm/swappiness vm/max_map_count vm/min_free_kbytes vm/overcommit_memory kernel/numa_balancing \
    net/core/somaxconn net/core/netdev_max_backlog net/ipv4/tcp_max_syn_backlog net/ipv4/tcp_slow_start_after_idle )
}

user() {
  nb_works=no
  if have sudo && sudo -n true >/dev/null 2>&1; then nb_works=yes; fi
  say user "$(id -un 2>/dev/null)" "$(id -u)" "$HOME" "$nb_works"
  for nb_tool in bash ps ss tar gzip ar dpkg-deb rpm rpm2cpio cpio sha256sum docker sudo taskset numactl apt-get dnf yum; do
    have "$nb_tool" && say tool "$nb_tool"
  done
}

addresses() {
  if have ip; then
    ip -o addr show 2>/dev/null | while read -r nb_n nb_dev nb_family nb_addr nb_rest; do
      say address "${nb_addr%%/*}"
    done
  else
    awk '/\|--/ { a = $2 } /32 host LOCAL/ { print "address\t" a }' /proc/net/fib_trie 2>/dev/null
  fi
}

# Both as who we are and with sudo: a root that may not trace others, as in containers, sees less of our own processes.
twice() {
  "$@"
  [ -z "$nb_sudo" ] || $nb_sudo "$@"
}

# Listening TCP sockets: with owners from ss, or without from the kernel's table. Rows that know the owner win.
listening() {
  nb_table=$(twice ss -lntp 2>/dev/null | awk '/^State/ { next } !($4 in row) || /users:/ { row[$4] = $0 } END { for (at in row) print row[at] }')
  if [ -n "$nb_table" ]; then
    printf '%s\n' "$nb_table" | while IFS= read -r nb_row; do say listen "$nb_row"; done
  else
    awk '$4 == "0A" { print "listen-hex\t" $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
  fi
}

resolve() {
  nb_found=$(getent ahostsv4 "$1" 2>/dev/null | while read -r nb_addr nb_rest; do printf '%s ' "$nb_addr"; done)
  say resolve "$1" "$nb_found"
}

# Room where a path lies or would be created.
space() {
  nb_at=$1
  while [ ! -e "$nb_at" ] && [ "$nb_at" != / ]; do
    nb_at=${nb_at%/*}
    nb_at=${nb_at:-/}
  done
  nb_write=no
  [ -w "$nb_at" ] && nb_write=yes
  nb_row=$(df -Pk -- "$nb_at" 2>/dev/null | tail -n 1)
  say space "$1" "$nb_at" "$nb_write" "$nb_row"
  disk "$1" "${nb_row%% *}"
}

# How the kernel orders the requests of the disk below, and whether it spins; a partition has neither itself.
disk() {
  case $2 in
    /dev/mapper/*) nb_dev=$(readlink -f "$2" 2>/dev/null) ;;
    /dev/*) nb_dev=$2 ;;
    *) return 0 ;;
  esac
  nb_queue=/sys/class/block/${nb_dev##*/}
  [ -d "$nb_queue/queue" ] || nb_queue=$nb_queue/..
  nb_scheduler=
  nb_spins=
  { read -r nb_scheduler <"$nb_queue/queue/scheduler"; read -r nb_spins <"$nb_queue/queue/rotational"; } 2>/dev/null
  say disk "$1" "$nb_scheduler" "$nb_spins"
}

path() {
  if [ -L "$1" ]; then
    say path "$1" link "$(readlink "$1")" "$(readlink -f "$1" 2>/dev/null)"
  elif [ -d "$1" ]; then
    say path "$1" dir "$(readlink -f "$1" 2>/dev/null)" "$(ls -A "$1" 2>/dev/null | head -n 200 | tr '\n\t' '/ ')"
  elif [ -f "$1" ]; then
    say path "$1" file "$(wc -c <"$1" 2>/dev/null)"
  elif [ -e "$1" ]; then
    say path "$1" other
  else
    say path "$1" none
  fi
}

# Programs and packages below a folder that daemons are installed in.
install() {
  for nb_file in "$1"/versions/*/bin/nebula-*; do
    if [ -f "$nb_file" ] && [ -x "$nb_file" ]; then say installed "$1" "${nb_file#"$1"/}"; fi
  done
  for nb_file in "$1"/cache/*; do
    if [ -f "$nb_file" ]; then say cached "$nb_file" "$(wc -c <"$nb_file" 2>/dev/null)"; fi
  done
}

owner() {
  [ -r "$1/.nbctl-owner" ] || return 0
  while IFS= read -r nb_row; do say owner "$1" "$nb_row"; done <"$1/.nbctl-owner"
}

digest() {
  [ -f "$1" ] || return 0
  nb_sum=$(sha256sum 2>/dev/null <"$1")
  say file "$1" "${nb_sum%% *}"
}

# Whose number a pid file holds; the name is empty when nobody has it.
pid_file() {
  [ -f "$1" ] || return 0
  nb_pid=
  { read -r nb_pid <"$1"; } 2>/dev/null
  case $nb_pid in ''|*[!0-9]*) nb_pid=0 ;; esac
  say pid-file "$1" "$nb_pid" "$(first_line "/proc/$nb_pid/comm")"
}

# Which firewall is at work, and the ports that it lets in; `?` where it may not be asked.
firewall() {
  if grep -qsx firewalld /proc/[0-9]*/comm; then
    nb_open=$($nb_sudo firewall-cmd --list-ports 2>/dev/null) || nb_open='?'
    say firewall firewalld "$nb_open"
  elif grep -qsi '^ENABLED=yes' /etc/ufw/ufw.conf; then
    nb_open=$($nb_sudo ufw status 2>/dev/null) || nb_open='?'
    say firewall ufw "$(printf '%s' "$nb_open" | sed -n 's/^\([0-9][0-9:]*\)\(\/tcp\)\{0,1\} *ALLOW.*/\1/p; s/^?$/?/p' | tr '\n' ' ')"
  else
    case $($nb_sudo iptables -S INPUT 2>/dev/null) in
      *'-P INPUT DROP'*|*'-j DROP'*|*'-j REJECT'*) say firewall iptables '?' ;;
      *) say firewall none '' ;;
    esac
  fi
}

one_process() {
  nb_stat=$(first_line "/proc/$1/stat")
  nb_cmd=$(tr '\000\011\012' '   ' 2>/dev/null <"/proc/$1/cmdline")
  nb_files=$($nb_sudo sed -n 's/^Max open files *\([0-9a-z]*\).*/\1/p' "/proc/$1/limits" 2>/dev/null)
  nb_cwd=$(twice readlink "/proc/$1/cwd" 2>/dev/null | head -n 1)
  say process "$1" "$2" "$(first_line "/proc/$1/comm")" "$(stat -c %U "/proc/$1" 2>/dev/null)" \
    "${nb_stat##*) }" "$nb_files" "$nb_cwd" "$nb_cmd"
}

# Processes whose executable lies below one of the folders, and any called nebula-*.
processes() {
  say ticks "$(getconf CLK_TCK)" "$(sed -n 's/^btime //p' /proc/stat)"
  nb_roots=
  for nb_root do
    nb_real=$(readlink -f "$nb_root" 2>/dev/null)
    nb_roots="$nb_roots${nb_real:-$nb_root}
"
  done
  twice ls -l /proc/[0-9]*/exe 2>/dev/null |
    sed -n 's|.* /proc/\([0-9][0-9]*\)/exe -> \(.*\)$|\1 \2|p' | sort -u |
    while read -r nb_pid nb_exe; do
      nb_name=${nb_exe##*/}
      case $nb_name in nebula-*) one_process "$nb_pid" "$nb_exe"; continue ;; esac
      printf '%s' "$nb_roots" | while IFS= read -r nb_root; do
        case $nb_exe in "$nb_root"/*) one_process "$nb_pid" "$nb_exe"; break ;; esac
      done
    done
  # Of other users' processes only the name is visible.
  grep -l '^nebula-' /proc/[0-9]*/comm 2>/dev/null | while IFS=/ read -r nb_e nb_p nb_pid nb_rest; do
    [ -n "$(twice readlink "/proc/$nb_pid/exe" 2>/dev/null)" ] || one_process "$nb_pid" ''
  done
}

docker_socket() {
  if [ ! -S "$1" ]; then say docker "$1" none
  elif [ -r "$1" ] && [ -w "$1" ]; then say docker "$1" ok
  else say docker "$1" denied "$(stat -c '%U:%G %a' "$1" 2>/dev/null)"
  fi
}

rpm_package() {
  have rpm || return 0
  # Debian's rpm has a database for each user, and makes it when it is asked; what root installed is in root's.
  if [ -z "$nb_sudo" ] && [ "$(id -u)" != 0 ]; then return 0; fi
  $nb_sudo rpm -q --qf 'rpm\t%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}\t%{INSTPREFIXES}\n' "$1" 2>/dev/null |
    grep '^rpm'
}
