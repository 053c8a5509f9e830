# Before this text stand id and name (cluster), control (machine) and user (account that will work there).
claim() {
  mkdir -p -- "$1" || exit 1
  m=$1/.nbctl-owner
  if [ ! -e "$m" ]; then
    printf 'nbctl-owner 1\ncluster_id=%s\ncluster=%s\ncontrol=%s\ntime=%s\n' \
      "$id" "$name" "$control" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$m.$$" || exit 1
    # A hard link fails when somebody else's marker is there by now.
    ln -- "$m.$$" "$m" 2>/dev/null
    rm -f -- "$m".[0-9]*
  fi
  if ! grep -qxF "cluster_id=$id" "$m"; then
    echo "$1 was claimed by somebody else meanwhile:" >&2
    cat -- "$m" >&2
    exit 65
  fi
  # Where root had to create it, the account gets it.
  if [ "$(id -u)" = 0 ] && [ "$user" != root ]; then chown -- "$user:" "$1" "$m" || exit 1; fi
}
