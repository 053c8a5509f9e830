#!/usr/bin/env bash
# bench-scale.sh [N]: N hosts (default 100) without engines, Debian's own sshd settings, and the bench against them. They
# need about 25 MB of memory each. Hosts and engine are cleaned up afterwards.
#   NBCTL_BENCH_KEEP=1   leaves the hosts up
set -euo pipefail
export NBCTL_BED_NAME=${NBCTL_BENCH_NAME:-scale}
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
alone "$NBCTL_BED_NAME" "$BED_HERE/bench-scale.sh" "$@"
export NBCTL_BED_TAKE=1     # whoever had hosts of this name is gone
cd "$BED_HERE/../.."

clean_up() {
  [ -z "${NBCTL_BENCH_KEEP:-}" ] || return 0
  "$BED_HERE/hosts.sh" down || true
  "$BED_HERE/engine.sh" stop || true
}

# squeeze PACKAGE: --quick stores what a gzip could halve; the name and the checksum file stay
squeeze() {
  local sum
  gunzip -c "$1" | gzip -9 >"$1.new"
  mv "$1.new" "$1"
  sum=$(sha256sum <"$1" | cut -c 1-64)
  sed -i "s/^[0-9a-f]*/$sum/" "$1.sha256sum.txt"
}

"$BED_HERE/engine.sh" start
trap '"$BED_HERE/engine.sh" stop' EXIT
"$BED_HERE/images.sh" build
export NBCTL_BED_IMAGES=$BED_IMAGES NBCTL_BED_DIR=$BED_DIR/$NBCTL_BED_NAME
mkdir -p "$NBCTL_BED_DIR"
bin=$("$BED_HERE/build.sh")
# A small package: what is measured is the way to a hundred hosts, not their unpacking on the processors of one machine.
strip -o "$NBCTL_BED_DIR/nebula-sandbox" "$bin/nebula-sandbox"
rm -rf "$NBCTL_BED_DIR/packages" "$NBCTL_BED_DIR/state"
"$bin/nbctl" sandbox package --type tar.gz --quick --binary "$NBCTL_BED_DIR/nebula-sandbox" --out "$NBCTL_BED_DIR/packages"
squeeze "$NBCTL_BED_DIR"/packages/*.tar.gz
trap clean_up EXIT
"$BED_HERE/hosts.sh" up --plain "${1:-100}"
cargo bench --quiet --locked --profile dev --bench scale </dev/null
