# Before this text stand id (cluster) and token; for `take` also text (the lease), stale (seconds) and over (tokens).
# Every answer is one line: lease, a word, the folder, seconds since it was renewed, the lines of the lease.
ours() { [ ! -L "$1/.nbctl-owner" ] && [ -f "$1/.nbctl-owner" ] && grep -qxF "cluster_id=$id" "$1/.nbctl-owner"; }
there() { [ ! -L "$1" ] && [ -f "$1" ]; }
token_of() { sed -n 's/^token=//p' "$1" 2>/dev/null | head -n 1; }
age_of() { echo $(($(date +%s) - $(stat -c %Y -- "$1" 2>/dev/null || date +%s))); }
tell() {
  printf 'lease\t%s\t%s\t%s' "$1" "$2" "$3"
  while IFS= read -r row; do printf '\t%s' "$row"; done 2>/dev/null <"$2/.nbctl-lease"
  echo
}

take_one() {
  f=$1/.nbctl-lease
  # Between looking and replacing nobody else may do the same; the lock goes with this shell.
  exec 9<"$1/.nbctl-owner"
  flock -w 5 9 2>/dev/null
  rm -f -- "$f".[0-9a-f]*
  if ! { printf '%s\n' "$text" >"$f.$token"; } 2>/dev/null; then
    rm -f -- "$f.$token"
    tell unwritten "$1" 0
    return 0
  fi
  if ! there "$f"; then
    # Where there is no flock(1): a hard link fails when somebody else's lease is there by now.
    if ln -- "$f.$token" "$f" 2>/dev/null; then
      rm -f -- "$f.$token"
      tell taken "$1" 0
      return 0
    fi
    rm -f -- "$f.$token"
    tell foreign "$1" "$(age_of "$f")"
    return 1
  fi
  has=$(token_of "$f")
  old=$(age_of "$f")
  case " $over $token " in
    *" $has "*) ;;
    *) if [ "$old" -le "$stale" ]; then
        rm -f -- "$f.$token"
        tell foreign "$1" "$old"
        return 1
      fi ;;
  esac
  if [ "$has" = "$token" ]; then tell taken "$1" 0; else tell taken-over "$1" "$old"; fi
  mv -f -- "$f.$token" "$f"
}

# All or none.
take() {
  code=0
  for folder do
    if ours "$folder"; then take_one "$folder" || code=1; fi
  done
  [ $code = 0 ] || release "$@" >/dev/null
}

renew() {
  for folder do
    if ours "$folder"; then
      if [ "$(token_of "$folder/.nbctl-lease")" = "$token" ]; then
        touch -c -- "$folder/.nbctl-lease"
      elif ours "$folder"; then
        # Still marked, so it was not our own teardown that took the lease away.
        tell lost "$folder" 0
      fi
    fi
  done
}

release() {
  for folder do
    f=$folder/.nbctl-lease
    if there "$f" && [ "$(token_of "$f")" = "$token" ]; then
      tell removed "$folder" "$(age_of "$f")"
      rm -f -- "$f"
    fi
  done
}

look() {
  for folder do
    f=$folder/.nbctl-lease
    if there "$f"; then tell there "$folder" "$(age_of "$f")"; fi
  done
}
