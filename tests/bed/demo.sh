#!/usr/bin/env bash
# demo.sh: the main job from bare hosts to a report and back, with the commands a user types. Its exit code is that of
# the first command that failed. Hosts and engine are cleaned up in any case; the report stays in ./demo.
set -euo pipefail
export NBCTL_BED_NAME=demo
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
alone demo "$BED_HERE/demo.sh"
export NBCTL_BED_TAKE=1     # whoever had hosts of this name is gone
cd "$BED_HERE/../.."
DEMO=$PWD/demo
export NBCTL_STATE_DIR=$DEMO

clean_up() {
  "$BED_HERE/hosts.sh" down || true
  "$BED_HERE/engine.sh" stop || true
}

# nbctl ARG...: shown as it is typed, run in the demo's folder, where `runs` and the state are kept
nbctl() {
  printf '\n$ nbctl %s\n' "$*" >&2
  (cd "$DEMO" && "$bin/nbctl" "$@" </dev/null)
}

the_job() {
  nbctl deploy "$NBCTL_BED_DIR/inventory.yaml" --yes
  nbctl status
  nbctl monitor up --yes
  nbctl data generate --persons 500 "$DEMO/data"
  nbctl bench full --quick --yes
  nbctl teardown --yes
  nbctl monitor down --data --yes
}

began=$SECONDS
"$BED_HERE/engine.sh" start
trap '"$BED_HERE/engine.sh" stop' EXIT
"$BED_HERE/images.sh" build
"$BED_HERE/images.sh" save
export NBCTL_BED_IMAGES=$BED_IMAGES NBCTL_BED_DIR=$BED_DIR/demo
trap clean_up EXIT
bin=$("$BED_HERE/build.sh")
mkdir -p "$DEMO"
find "$DEMO" -mindepth 1 -maxdepth 1 ! -name runs -exec rm -rf {} +     # new hosts; earlier reports stay
nbctl sandbox package --out "$NBCTL_BED_DIR/packages"
"$BED_HERE/hosts.sh" up 4
the_job
verdict=$(cd "$DEMO" && "$bin/nbctl" report latest --verdict)
report=$(find "$DEMO/runs" -name report.html -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
printf '\nreport:  %s\nverdict: %s\n' "$report" "$verdict"
say "demo done in $((SECONDS - began)) s"
