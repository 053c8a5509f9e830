#!/usr/bin/env bash
# test.sh: `cargo test` with four test hosts of its own, named "test", and the official clients. The hosts are removed
# afterwards, and the engine is stopped if it was started here.
#   test.sh BINARY...   only these test binaries, with what they print
#   test.sh faults      only the tests that kill nbctl after every step of a deploy, and those of hosts that fail
#   NBCTL_TEST_KEEP=1   leaves the hosts up
set -euo pipefail
export NBCTL_BED_NAME=test
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
alone test "$BED_HERE/test.sh" "$@"
export NBCTL_BED_TAKE=1     # whoever had hosts of this name is gone
cd "$BED_HERE/../.."

clean_up() {
  [ -z "${NBCTL_TEST_KEEP:-}" ] || return 0
  "$BED_HERE/hosts.sh" down || true
  "$BED_HERE/engine.sh" stop || true
}

run_faults() {
  cargo test --locked --test life -- --nocapture --test-threads 1 faults::
  cargo test --locked --test life -- --nocapture --test-threads 1 --ignored on_test_hosts
}

# What tests said of parts that they could not do here; nextest shows nothing of tests that passed.
tell_left_out() {
  local said
  said=$(grep -oh 'left out: [^&<]*' "${bin%/*/*}/nextest/default/junit.xml" | sort | uniq -c) || true
  say "${said:-nothing was left out}"
}

run_tests() {
  if [ $# -gt 0 ]; then
    cargo test --locked "${@/#/--test=}" -- --nocapture
    return
  fi
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --locked --no-fail-fast || { tell_left_out; return 100; }
    tell_left_out
    cargo test --workspace --locked --doc
  else
    cargo test --workspace --locked --no-fail-fast
  fi
}

# put_packages: the stand-in's packages, where the inventory looks for them
put_packages() {
  "$bin/nbctl" sandbox package --out "$NBCTL_BED_DIR/packages"
}

"$BED_HERE/engine.sh" start
trap '"$BED_HERE/engine.sh" stop' EXIT
"$BED_HERE/images.sh" build
"$BED_HERE/images.sh" save
NBCTL_BED_CLIENTS=$("$BED_HERE/clients.sh")
export NBCTL_BED_CLIENTS NBCTL_BED_IMAGES=$BED_IMAGES NBCTL_BED_DIR=$BED_DIR/test
trap clean_up EXIT
bin=$("$BED_HERE/build.sh")
put_packages
"$BED_HERE/hosts.sh" up 4
began=$SECONDS
if [ "${1:-}" = faults ]; then run_faults; else run_tests "$@"; fi </dev/null
say "tests passed in $((SECONDS - began)) s"
