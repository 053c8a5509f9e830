# Before this text stand root (deploy_dir) and version (versions/<sha12>).
cd -- "$root" || exit 1
link() {
  [ "$(readlink "$2" 2>/dev/null)" = "$1" ] && return 0
  rm -rf -- "$2.new"
  ln -s -- "$1" "$2.new" || exit 1
  # -T: never into the folder the old link leads to.
  mv -Tf -- "$2.new" "$2" || exit 1
}
# What adopt took over lies where packages are unpacked by hand; nothing of it runs any more.
if [ -d share ] && [ ! -L share ] && grep -q '^adopted=' .nbctl-owner; then
  mkdir -p versions/adopted || exit 1
  for name in bin scripts share; do
    [ ! -d "$name" ] || [ -L "$name" ] || mv -T -- "$name" "versions/adopted/$name" || exit 1
  done
fi
link "$version" current
# Daemons look for share/resources in their working directory.
link current/share share
