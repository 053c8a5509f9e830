# Before this text stand file, unit (its name), id (cluster) and text.
if [ -e "$file" ] && ! grep -qxF "# nbctl cluster $id" "$file"; then
  echo "$file is not a unit of this cluster" >&2
  exit 1
fi
printf '%s' "$text" >"$file.nbctl-new" && chmod 644 "$file.nbctl-new" && mv -Tf -- "$file.nbctl-new" "$file" || exit 1
systemctl daemon-reload && systemctl enable "$unit" >&2
