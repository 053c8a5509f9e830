# Before this text stand file, unit (its name) and id (cluster).
[ -e "$file" ] || exit 0
if ! grep -qxF "# nbctl cluster $id" "$file"; then
  echo "$file is not a unit of this cluster" >&2
  exit 1
fi
systemctl disable "$unit" >&2
rm -f -- "$file" || exit 1
systemctl daemon-reload
systemctl reset-failed "$unit" 2>/dev/null
exit 0
