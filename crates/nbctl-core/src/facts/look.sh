# What whoever asks may see of processes and listening sockets; asked by the login, and once more by root where that is
# allowed. A row each: `listen` and the words of ss; `process` with its number, executable, name, user, status, limit of
# open files, folder and command line.

# Rows of processes whose executable, in a line of ls, lies below one of nb_roots or is called nebula-*, without those of
# nb_known; and of those that a line names as `stranger`, with number and user.
processes() {
  nb_known=$nb_known nb_roots=$nb_roots awk '
    function ours(path, i) {
      if (path ~ /(^|\/)nebula-[^\/]*$/) return 1
      for (i = 1; i <= roots; i++) if (root[i] != "" && index(path, root[i] "/") == 1) return 1
      return 0
    }
    function first(file, line) { getline line <file; close(file); return line }
    function nofile(file, line, word) {
      while ((getline line <file) > 0) if (line ~ /^Max open files/) split(line, word, " ")
      close(file)
      return word[4]
    }
    function status(file, line) { line = first(file); sub(/.*\) /, "", line); return line }
    BEGIN { roots = split(ENVIRON["nb_roots"], root, "\n") }
    $1 == "stranger" { user[$2] = $3; exe[$2] = ""; next }
    {
      at = index($0, " /proc/")
      link = substr($0, at + 7)
      to = index(link, " -> ")
      if (!at || !to) next
      split(substr(link, 1, to - 1), part, "/")
      pid = part[1]
      path = substr(link, to + 4)
      if (part[2] == "cwd") cwd[pid] = path
      else if (!index(ENVIRON["nb_known"], " " pid " ") && ours(path)) { user[pid] = $3; exe[pid] = path }
    }
    END {
      OFS = "\t"
      for (pid in exe) {
        of = "/proc/" pid
        print pid, exe[pid], first(of "/comm"), user[pid], status(of "/stat"), nofile(of "/limits"), cwd[pid]
      }
    }' 2>/dev/null |
    while IFS= read -r nb_row; do
      # Zeros and blanks; no awk is sure to read the first.
      nb_cmd=$(tr '\000\011\012' '   ' 2>/dev/null <"/proc/${nb_row%%[!0-9]*}/cmdline")
      printf 'process\t%s\t%s\n' "$nb_row" "$nb_cmd"
    done
}

# $1: processes told already, a blank before and behind each; the rest: folders.
look() {
  nb_known=$1
  shift
  nb_roots=
  for nb_root do nb_roots="$nb_roots$nb_root
"; done
  ss -lntp 2>/dev/null | awk 'NR > 1 { print "listen\t" $0 }'
  ls -l /proc/[0-9]*/exe /proc/[0-9]*/cwd 2>/dev/null | processes
  return 0
}
