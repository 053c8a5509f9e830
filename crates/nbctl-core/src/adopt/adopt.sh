# Daemons of NebulaGraph that run on this host, by executable, with the configuration they were started with.
# Every answer is one line of tab-separated words; texts of files follow line by line behind `|`.
exec </dev/null
flagfile() {
  # Words of the command line end with a zero byte; the flag stands as one word or as two.
  tr '\0' '\n' <"/proc/$1/cmdline" | awk '
    /^--?flagfile=/ { sub(/^[^=]*=/, ""); print; exit }
    seen { print; exit }
    /^--?flagfile$/ { seen = 1 }'
}
# The release, where the database of packages knows the file: daemons tell their build only.
release() {
  told=$(rpm -q --qf '%{NAME} %{VERSION}\n' -f "$1" 2>/dev/null | sed -n 's/^nebula-graph //p' | head -n 1)
  [ -n "$told" ] || { dpkg -S "$1" >/dev/null 2>&1 && told=$(dpkg-query -W -f '${Version}' nebula-graph 2>/dev/null); }
  printf %s "$told"
}
printf 'user\t%s\n' "$(id -un)"
for exe in /proc/[0-9]*/exe; do
  target=$(readlink "$exe" 2>/dev/null) || continue
  target=${target% (deleted)}
  case ${target##*/} in nebula-metad | nebula-graphd | nebula-storaged) ;; *) continue ;; esac
  pid=${exe#/proc/} pid=${pid%/exe}
  cwd=$(readlink "/proc/$pid/cwd") || continue
  conf=$(flagfile "$pid")
  case $conf in /*) ;; ?*) conf=$cwd/$conf ;; esac
  said=$("$target" --version 2>/dev/null | head -n 3 | tr '\n\t' '  ')
  owner=$(stat -c %U "/proc/$pid" 2>/dev/null)
  printf 'daemon\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$pid" "$target" "$cwd" "$conf" "${owner:-unknown}" "$said" "$(release "$target")"
  [ -n "$conf" ] && [ -r "$conf" ] && sed 's/^/|/' "$conf"
done
echo end
