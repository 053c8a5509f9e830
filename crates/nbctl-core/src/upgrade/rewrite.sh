# Before this text stand data (a folder of storaged), old (its name afterwards), tool (db_upgrader) and metads.
[ -d "$data" ] || [ -d "$old" ] || exit 0
new=$data.upgraded
if [ -d "$data" ]; then
  rm -rf -- "$new"
  mkdir -p -- "$new" || exit 1
  "$tool" --src_db_path="$data" --dst_db_path="$new" --upgrade_meta_server="$metads" --upgrade_version=2:3 </dev/null >&2 || exit 1
  mv -T -- "$data" "$old" || exit 1
fi
# Cut short between the two renames: the second one is left.
mv -T -- "$new" "$data"
