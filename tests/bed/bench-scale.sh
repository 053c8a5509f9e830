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

"$BED_HERE/engine.sh" start
trap '"$BED_HERE/engine.sh" stop' EXIT
"$BED_HERE/images.sh" build
export NBCTL_BED_IMAGES=$BED_IMAGES NBCTL_BED_DIR=$BED_DIR/$NBCTL_BED_NAME
mkdir -p "$NBCTL_BED_DIR"
bin=$("$BED_HERE/build.sh")
"$bin/nbctl" sandbox package --out "$NBCTL_BED_DIR/packages"
trap clean_up EXIT
"$BED_HERE/hosts.sh" up --plain "${1:-100}"
cargo bench --quiet --locked --profile dev --bench scale </dev/null
