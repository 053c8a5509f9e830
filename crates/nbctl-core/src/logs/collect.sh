# Before this text stands max (bytes of a file that are sent: its end). A line says what comes, then come the bytes.
# $1 folder in the answer, $2 file.
send() {
  if [ ! -f "$2" ] || [ ! -r "$2" ]; then return 0; fi
  size=$(wc -c <"$2")
  take=$((size))
  if [ "$take" -gt "$max" ]; then take=$max; fi
  printf 'file\t%s/%s\t%s\t%s\n' "$1" "${2##*/}" "$take" "$((size - take))"
  # What is written meanwhile is left out; when the file was cut meanwhile, nothing else may shift.
  { tail -c "+$((size - take + 1))" -- "$2" | head -c "$take"; head -c "$take" /dev/zero; } 2>/dev/null | head -c "$take"
}
# $1 role, $2 program, $3 folder. Links lead to files that are there under their own name.
logs() {
  for file in "$3/$2".* "$3/$1"-std*.log; do
    if [ ! -L "$file" ]; then send "$1" "$file"; fi
  done
}
