# Facts of one host in one round trip. POSIX sh with coreutils, sed, grep and awk; nothing is written.
# Processes are dear on hosts that are many and busy: what the shell can do itself, it does.
# Every answer is one line: a word, then fields, separated by tabs. `end` comes last.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin
nb_tab=$(printf '\t')
nb_nl='
'
nb_works=
nb_asked_at=

say() {
  nb_line=$1
  shift
  for nb_field do nb_line=$nb_line$nb_tab$nb_field; done
  printf '%s\n' "$nb_line"
}

have() { command -v "$1" >/dev/null 2>&1; }

# Into nb_value; empty where it cannot be read.
first_line() {
  nb_value=
  { read -r nb_value <"$1"; } 2>/dev/null
}

# Where a folder really is, into nb_real: `cd` needs no process, but leave to enter.
real() {
  if cd -P -- "$1" 2>/dev/null; then
    nb_real=$PWD
    cd /
  else
    nb_real=$(readlink -f "$1" 2>/dev/null)
  fi
}

# Settings of the kernel and its numbers, in two processes for all. `read` will not do: shells read byte by byte, and the
# files of /proc/sys give nothing after the first read.
kernel() {
  set -- vm/swappiness vm/max_map_count vm/min_free_kbytes vm/overcommit_memory kernel/numa_balancing net/core/somaxconn \
    net/core/netdev_max_backlog net/ipv4/tcp_max_syn_backlog net/ipv4/tcp_slow_start_after_idle kernel/random/boot_id
  cd /proc/sys || return
  grep -Hs '' "$@" /proc/stat /proc/meminfo /sys/kernel/mm/transparent_hugepage/enabled | awk -v ticks="$(getconf CLK_TCK)" '
    { at = index($0, ":"); file = substr($0, 1, at - 1); text = substr($0, at + 1); split(text, word, " ") }
    file == "/proc/stat" {
      if (word[1] ~ /^cpu[0-9]/) cpus++
      if (word[1] == "btime") print "ticks\t" ticks "\t" word[2]
      next
    }
    file == "/proc/meminfo" {
      sub(":", "", word[1])
      if (word[1] ~ /^(MemTotal|MemAvailable|SwapTotal)$/) print "memory\t" word[1] "\t" word[2]
      next
    }
    { n = split(file, part, "/"); name = part[n] }
    name == "boot_id" { print "boot\t" text; next }
    { print "setting\t" (name == "enabled" ? "thp" : name) "\t" text }
    END { print "cpus\t" cpus }'
  cd /
}

clock() { say clock "$1" "$(date +%s.%N)"; }

system() {
  if [ -r /etc/os-release ]; then
    ( . /etc/os-release; say os "$ID" "$VERSION_ID" "$PRETTY_NAME" )
  fi
  nb_value=$(uname -r -m)
  say kernel "${nb_value% *}" "${nb_value##* }"
  say glibc "$(getconf GNU_LIBC_VERSION 2>/dev/null)"
  kernel
  say nofile "$(ulimit -Sn)" "$(ulimit -Hn)"
  say setting core_limit "$(ulimit -Hc)"
  [ ! -d /run/systemd/system ] || say setting systemd yes
}

user() {
  # uid=1000(vesoft) gid=…, or uid=1000 gid=… for a number without a name.
  nb_value=$(id)
  nb_value=${nb_value%% *}
  nb_uid=${nb_value#uid=}
  nb_name=
  case $nb_value in *'('*) nb_name=${nb_value#*'('}; nb_name=${nb_name%')'} ;; esac
  say user "$nb_name" "${nb_uid%%'('*}" "$HOME"
  for nb_tool in bash ps ss tar gzip ar dpkg-deb rpm rpm2cpio cpio sha256sum docker sudo taskset numactl apt-get dnf yum; do
    have "$nb_tool" && say tool "$nb_tool"
  done
}

# Asked once, and only where it matters: each time is a line in the host's log.
sudo_works() {
  [ -z "$nb_works" ] || return 0
  nb_works=no
  if have sudo && sudo -n true >/dev/null 2>&1; then nb_works=yes; fi
  say sudo "$nb_works"
}

addresses() {
  if have ip; then
    ip -o addr show 2>/dev/null | awk '{ sub("/.*", "", $4); print "address\t" $4 }'
  else
    awk '/\|--/ { a = $2 } /32 host LOCAL/ { print "address\t" a }' /proc/net/fib_trie 2>/dev/null
  fi
}

# What look.sh sees of processes and sockets, as who we are and with sudo: a root that may not trace others, as in
# containers, sees less of our own processes. The folders are ours.
seen() {
  for nb_root do
    shift
    real "$nb_root"
    set -- "$@" "${nb_real:-$nb_root}"
  done
  nb_seen=$(look '' "$@")
  nb_known=$(known)
  if [ -n "$nb_sudo" ]; then
    nb_works=yes
    nb_more=$(printf '%s\n' "$nb_look" 'look "$@" </dev/null' | $nb_sudo sh -s "$nb_known" "$@" 2>/dev/null) || nb_works=no
    say sudo "$nb_works"
    nb_seen=$nb_seen$nb_nl$nb_more
    nb_known=$(known)
  fi
  merged
  strangers
}

# Processes told so far, a blank before and behind each.
known() { printf '%s\n' "$nb_seen" | awk -F'\t' '$1 == "process" { printf " %s", $2 } END { print " " }'; }

# Of sockets seen twice those rows win that know the owner. Without ss: the kernel's table, which knows none.
merged() {
  printf '%s\n' "$nb_seen" | awk -F'\t' '
    $1 == "process" { print }
    $1 == "listen" { split($2, word, " "); at = word[4]; if (!(at in row) || $2 ~ /users:/) row[at] = $0 }
    END { for (at in row) print row[at] }'
  case $nb_seen in
    *"listen$nb_tab"*) ;;
    *) awk '$4 == "0A" { print "listen-hex\t" $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null ;;
  esac
}

# Of other users' processes only the name is visible.
strangers() {
  grep -l '^nebula-' /proc/[0-9]*/comm 2>/dev/null | while IFS=/ read -r nb_e nb_p nb_pid nb_rest; do
    case $nb_known in *" $nb_pid "*) continue ;; esac
    nb_exe=$(readlink "/proc/$nb_pid/exe" 2>/dev/null || $nb_sudo readlink "/proc/$nb_pid/exe" 2>/dev/null)
    [ -n "$nb_exe" ] || echo stranger "$nb_pid" "$(stat -c %U "/proc/$nb_pid" 2>/dev/null)"
  done | processes
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
  if [ "$nb_at" != "$nb_asked_at" ]; then
    nb_row=$(df -Pk -- "$nb_at" 2>/dev/null)
    nb_row=${nb_row##*"$nb_nl"}
    nb_asked_at=$nb_at
  fi
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

# What lies in a folder, at most 200 names, into nb_names; a slash behind each.
names() {
  nb_names=
  nb_count=0
  for nb_file in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ -e "$nb_file" ] || [ -L "$nb_file" ] || continue
    nb_names=$nb_names${nb_file##*/}/
    nb_count=$((nb_count + 1))
    [ "$nb_count" -lt 200 ] || break
  done
  case $nb_names in
    *"$nb_tab"*|*"$nb_nl"*) nb_names=$(printf '%s' "$nb_names" | tr '\n\t' '  ') ;;
  esac
}

path() {
  if [ -L "$1" ]; then
    say path "$1" link "$(readlink "$1")" "$(readlink -f "$1" 2>/dev/null)"
  elif [ -d "$1" ]; then
    real "$1"
    names "$1"
    say path "$1" dir "$nb_real" "$nb_names"
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

digests() {
  for nb_file do
    shift
    [ -f "$nb_file" ] || continue
    if [ -r "$nb_file" ] && have sha256sum; then set -- "$@" "$nb_file"; else say file "$nb_file" ''; fi
  done
  [ $# != 0 ] || return 0
  sha256sum -- "$@" 2>/dev/null | while read -r nb_sum nb_file; do say file "$nb_file" "$nb_sum"; done
}

# Whose number a pid file holds; the name is empty when nobody has it.
pid_file() {
  [ -f "$1" ] || return 0
  nb_pid=
  { read -r nb_pid <"$1"; } 2>/dev/null
  case $nb_pid in ''|*[!0-9]*) nb_pid=0 ;; esac
  first_line "/proc/$nb_pid/comm"
  say pid-file "$1" "$nb_pid" "$nb_value"
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

docker_socket() {
  if [ ! -S "$1" ]; then say docker "$1" none
  elif [ -r "$1" ] && [ -w "$1" ]; then say docker "$1" ok
  else
    sudo_works
    say docker "$1" denied "$(stat -c '%U:%G %a' "$1" 2>/dev/null)"
  fi
}

rpm_package() {
  have rpm || return 0
  # Debian's rpm has a database for each user, and makes it when it is asked; what root installed is in root's.
  if [ -z "$nb_sudo" ] && [ "$(id -u)" != 0 ]; then return 0; fi
  $nb_sudo rpm -q --qf 'rpm\t%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}\t%{INSTPREFIXES}\n' "$1" 2>/dev/null |
    grep '^rpm'
}
