#!/bin/sh
# collect.sh PACKAGE PROGRAM...: puts below /out/PACKAGE what an image FROM scratch needs to run the programs: themselves,
# the shared libraries they name, a shell for whoever looks inside, users, and the package's version.
set -eu
package=$1
shift
out=/out/$package
mkdir -p "$out/etc" "$out/bin" "$out/tmp"
chmod 1777 "$out/tmp"
for file in "$@" $(ldd "$@" | grep -o '/lib[^ ]*' | sort -u) /bin/busybox; do
  mkdir -p "$out$(dirname "$file")"
  cp -L "$file" "$out$file"
done
for applet in sh cat ls wget ps sleep; do ln -s busybox "$out/bin/$applet"; done
cp /etc/passwd /etc/group /etc/nsswitch.conf "$out/etc/"
dpkg-query -W -f '${Version}\n' "$package" >"$out/package.version"
