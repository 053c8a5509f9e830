# Deletes one path of ours. Before this text stand p (path), root (folder with the owner marker) and id (cluster).
# Exit codes: 0 gone (or was), 65 refused, 1 something could not be removed.
marker=.nbctl-owner
lease=.nbctl-lease
refuse() { echo "refused: $*" >&2; exit 65; }
real() { [ -d "$1" ] && [ "$(cd -P -- "$1" 2>/dev/null && pwd -P)" = "$1" ]; }
owned() { [ ! -L "$1" ] && [ -f "$1" ] && grep -qxF "cluster_id=$id" "$1"; }
system() {
  case "$1" in
    /home/*/*) return 1 ;;
    / | /home/* | /root | /root/.ssh | /media | /mnt | /opt | /srv | /tmp | /usr | /var) return 0 ;;
    /bin | /boot | /dev | /etc | /home | /lib | /lib32 | /lib64 | /libx32 | /proc | /run | /sbin | /sys) return 0 ;;
    /bin/* | /boot/* | /dev/* | /etc/* | /lib/* | /lib64/* | /proc/* | /sbin/* | /sys/* | /run/user/*) return 0 ;;
    /usr/bin* | /usr/sbin* | /usr/lib* | /usr/include* | /usr/share | /usr/src | /usr/local | /usr/games) return 0 ;;
    /usr/local/bin | /usr/local/sbin | /usr/local/lib* | /usr/local/etc | /usr/local/share) return 0 ;;
    /var/backups | /var/cache | /var/lib | /var/local | /var/lock | /var/log | /var/mail | /var/opt) return 0 ;;
    /var/run | /var/spool | /var/tmp | /var/lib/docker | /var/lib/containerd) return 0 ;;
  esac
  return 1
}
nl='
'
homes=$nl${HOME:-/root}$nl$(cut -d: -f6 /etc/passwd)$nl
for x in "$p" "$root"; do
  if system "$x"; then refuse "$x is a folder of the system"; fi
  case $homes in
    *"$nl$x$nl"* | *"$nl$x/"*)
      h=${homes#*"$nl$x"}
      refuse "$x is or holds a home ($x${h%%"$nl"*})" ;;
  esac
done
if [ -L "$p" ]; then refuse "$p is a symlink"; fi
if [ ! -e "$p" ]; then
  a=$p
  while [ -n "$a" ] && [ ! -e "$a" ]; do a=${a%/*}; done
  if [ ! -x "${a:-/}" ]; then refuse "no permission to look into $a"; fi
  echo "::nbctl:already-so::"
  exit 0
fi
real "$root" || refuse "a symlink is in the path $root"
if [ ! -d "$p" ]; then
  real "${p%/*}" || refuse "a symlink is in the path $p"
  owned "$root/$marker" || refuse "$root has no marker of this cluster"
  rm -f -- "$p" || exit 1
  exit 0
fi
real "$p" || refuse "a symlink is in the path $p"
cd -P -- "$p" && [ "$(pwd -P)" = "$p" ] || refuse "$p changed while it was looked at"

# Mount points: itself is emptied only, those below are left alone. -xdev does not see bind mounts of the same
# file system, so they are named one by one.
self=no
mounts=no
set --
# A shell reads byte by byte: the table is gone through only when the path may be in it, as it is or with escapes.
case $(cat /proc/self/mountinfo) in *" $p"* | *\\*) looked=/proc/self/mountinfo ;; *) looked=/dev/null ;; esac
while read -r a b c d m more; do
  case "$m" in *\\*) m=$(printf '%b' "$m") ;; esac
  case "$m" in
    "$p") self=yes ;;
    "$p"/*)
      mounts=yes
      set -- "$@" -path "./$(printf '%s\n' "${m#"$p"/}" | sed 's/[][*?\\]/\\&/g')" -prune -o
      ;;
  esac
done <"$looked"
if [ $self = yes ]; then set -- "$@" -path ./lost+found -prune -o; fi
rest() { find . -xdev -mindepth 1 "$@" ! -path "./$marker" ! -path "./$lease" -print 2>/dev/null | head -n 3; }

if ! owned "$root/$marker"; then
  if [ -z "$(rest "$@")" ] && [ ! -e "./$marker" ]; then echo "::nbctl:already-so::"; exit 0; fi
  refuse "$root has no marker of this cluster"
fi
foreign=$(find . -xdev "$@" -name "$marker" ! -exec grep -qxF "cluster_id=$id" {} \; -print | head -n 1)
if [ -n "$foreign" ]; then refuse "$p holds what belongs to another cluster ($foreign)"; fi

# Marker and lease go last, so that a deletion cut short can be taken up again and nobody else comes between.
find . -xdev -mindepth 1 "$@" ! -type d ! -path "./$marker" ! -path "./$lease" -exec rm -f -- {} +
find . -xdev -mindepth 1 "$@" -type d -print0 | sort -rz | xargs -0 -r rmdir -- 2>/dev/null
left=$(find . -xdev -mindepth 1 "$@" ! -type d ! -path "./$marker" ! -path "./$lease" -print | head -n 3)
if [ -z "$left" ] && [ $mounts = no ]; then left=$(rest "$@"); fi
if [ -n "$left" ]; then
  echo "could not remove everything; left are:" >&2
  echo "$left" >&2
  exit 1
fi
if [ $mounts = yes ]; then echo "$p holds mount points; they and what is on them stay"; fi
rm -f -- "./$marker" && rm -f -- "./$lease" || exit 1
if [ $self = yes ]; then echo "$p is a mount point: emptied, not removed"; exit 0; fi
if [ $mounts = yes ]; then exit 0; fi
cd / && rmdir -- "$p"
