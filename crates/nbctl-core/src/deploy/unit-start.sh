# Before this text stands what start.sh has, and unit.
running=$(mine)
if [ -n "$running" ]; then
  echo "$name already runs as" $running
  exit 0
fi
rm -f -- "$pid_file"
systemctl reset-failed "$unit" 2>/dev/null
if ! systemctl start "$unit" >&2; then
  systemctl status --no-pager --lines 20 "$unit" >&2
  last_words
  exit 1
fi
# It is started when its parent has ended, which is before it has read its flags: see that it stays.
sleep 1
running=$(mine)
if [ -z "$running" ]; then
  echo "$name ended right after its start" >&2
  last_words
  exit 1
fi
echo "$name runs as" $running
