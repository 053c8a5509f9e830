# Before this text stand root (deploy_dir) and version (versions/<sha12>).
cd -- "$root" || exit 1
link() {
  [ "$(readlink "$2" 2>/dev/null)" = "$1" ] && return 0
  rm -rf -- "$2.new"
  ln -s -- "$1" "$2.new" || exit 1
  # -T: never into the folder the old link leads to.
  mv -Tf -- "$2.new" "$2" || exit 1
}
link "$version" current
# Daemons look for share/resources in their working directory.
link current/share share
