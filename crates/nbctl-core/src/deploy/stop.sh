# Whatever runs below our folder under this name, also what was started past nbctl.
is_mine() {
  case ${1% (deleted)} in "$root"/*"/$name") return 0 ;; esac
  return 1
}
running=$(mine)
if [ -n "$running" ]; then
  kill -TERM $running 2>/dev/null
  looks=0
  end=$(($(date +%s) + patience))
  while alive $running; do
    looks=$((looks + 1))
    if [ $((looks % 10)) = 0 ] && [ "$(date +%s)" -ge "$end" ]; then
      if [ "$kill_after" != yes ]; then
        echo "$name (pid" $running") did not end within $patience s; it may still be flushing" >&2
        last_words
        exit 1
      fi
      kill -KILL $running 2>/dev/null
      sleep 0.5
      if alive $running; then
        echo "$name (pid" $running") cannot be killed" >&2
        exit 1
      fi
    fi
    sleep 0.1
  done
fi
rm -f -- "$pid_file"
