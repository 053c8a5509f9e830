# Before this text stand root (deploy_dir), version (versions/<sha12>), package, format and programs.
# Unpacks beside and renames, so that a version is there whole or not at all.
cd -- "$root" || exit 1
new=$version.new
fail() { echo "$*" >&2; rm -rf -- "$new"; exit 1; }
rm -rf -- "$new"
mkdir -p -- "$new" || exit 1
cd -- "$new" || exit 1
case $format in
  tar.gz) tar -xzof "$package" ;;
  rpm)
    # cpio writes 512 bytes at a time: with tar this takes half the time, where rpm2archive (4.17) can leave it uncompressed.
    if rpm2archive --help 2>/dev/null </dev/null | grep -q nocompression; then
      { rpm2archive -n - <"$package" || : >.cut; } | tar -xof - && [ ! -e .cut ]
    else
      rpm2cpio "$package" | cpio -idmu --quiet -C 65536
    fi ;;
  deb)
    if ! command -v ar >/dev/null 2>&1; then
      dpkg-deb --fsys-tarfile "$package" | tar -xof -
    else
      member=$(ar t "$package" | grep '^data\.tar')
      case $member in
        *.gz) ar p "$package" "$member" | tar -xzof - ;;
        *.xz) ar p "$package" "$member" | tar -xJof - ;;
        *.zst) ar p "$package" "$member" | tar -x --zstd -of - ;;
        *) ar p "$package" "$member" | tar -xof - ;;
      esac
    fi ;;
esac
code=$?
cd -- "$root" || exit 1
[ $code = 0 ] || fail "cannot unpack $package"
# The folder that holds bin/: the package's top folder, or its prefix.
found=$(find "$new" -path '*/bin/nebula-*' ! -type d 2>/dev/null | head -n 1)
[ -n "$found" ] || fail "there is no bin/nebula-* in $package"
home=${found%/bin/*}
for program in $programs; do
  [ -x "$home/bin/$program" ] || fail "there is no bin/$program in $package"
  "$home/bin/$program" --version >/dev/null 2>"$new/.said" </dev/null ||
    fail "$program does not run on this host: $(tail -n 3 "$new/.said")"
done
rm -f -- "$new/.said"
if [ -e "$version" ]; then
  rm -rf -- "$version.old"
  mv -- "$version" "$version.old" || fail "cannot put $version aside"
fi
mv -- "$home" "$version" || fail "cannot rename $home to $version"
rm -rf -- "$new" "$version.old"
