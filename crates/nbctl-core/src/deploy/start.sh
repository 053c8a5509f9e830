running=$(mine)
if [ -n "$running" ]; then
  echo "$name already runs as" $running
  exit 0
fi
# Whoever the pid file names by now, it is not this daemon, which would refuse to start because of it.
rm -f -- "$pid_file"
mkdir -p -- "$logs" "${pid_file%/*}" || exit 1
cd -- "$root" || exit 1
ulimit -n "$files" 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
ulimit -c unlimited 2>/dev/null
# Empty, or the program that binds the daemon to processors and memory.
$bind "current/bin/$name" --flagfile "$conf" </dev/null >"$logs/$name.start" 2>&1
code=$?
if [ $code != 0 ]; then
  echo "$name ended with exit code $code" >&2
  last_words
  exit 1
fi
# The parent of the daemon is gone before the daemon has read its flags: see that it stays. The wait that follows looks on.
for i in 1 2 3; do
  sleep 0.05
  alive $running || running=$(mine)
done
if [ -z "$running" ]; then
  echo "$name ended right after its start" >&2
  last_words
  exit 1
fi
echo "$name runs as" $running
