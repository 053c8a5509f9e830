# Before this text stand root (deploy_dir), name (program), conf, pid_file and logs.
root=$(cd -- "$root" 2>/dev/null && pwd -P) || { echo "there is no $root" >&2; exit 1; }

is_mine() {
  case ${1% (deleted)} in "$root"/versions/*/bin/"$name") return 0 ;; esac
  return 1
}

# Pids of this daemon: by executable, never by pid file, which outlives its process.
mine() {
  ls -l /proc/[0-9]*/exe 2>/dev/null |
    sed -n 's|.* /proc/\([0-9][0-9]*\)/exe -> \(.*\)$|\1 \2|p' |
    while read -r pid exe; do
      if is_mine "$exe"; then echo "$pid"; fi
    done
}

alive() {
  for pid do
    if is_mine "$(readlink "/proc/$pid/exe" 2>/dev/null)"; then return 0; fi
  done
  return 1
}

# What the daemon said last, on standard error.
last_words() {
  for file in "$logs/$name.start" "$logs/${name#nebula-}-stderr.log" "$logs/$name.ERROR" "$logs/$name.FATAL"; do
    if [ -s "$file" ]; then
      echo "$file:"
      tail -n 10 -- "$file"
    fi
  done >&2
}
