# Before this text stand data (a folder) and root (where its copy goes).
[ -d "$data" ] || exit 0
need=$(du -sk -- "$data" | awk '{print $1; exit}')
have=$(df -Pk -- "$root" | awk 'NR == 2 {print $4}')
if [ "${need:-0}" -ge "${have:-0}" ]; then
  echo "a copy of $data needs $need KiB, and $root has $have KiB" >&2
  exit 1
fi
