#!/usr/bin/env bash
# check.sh: what can be said about the sources without running them. Prints the time of each stage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

stage() {
  local what=$1 began=$SECONDS
  shift
  printf 'check: %s ...\n' "$what" >&2
  "$@" </dev/null || { printf 'check: %s FAILED after %s s: %s\n' "$what" $((SECONDS - began)) "$*" >&2; exit 1; }
  printf 'check: %s: %s s\n' "$what" $((SECONDS - began)) >&2
}

stage fmt cargo fmt --all --check
stage clippy cargo clippy --workspace --all-targets --locked -q -- -D warnings
RUSTDOCFLAGS="-D warnings" stage doc cargo doc --workspace --no-deps --locked -q --keep-going
# Scripts on their own; what is below crates/ and src/ are pieces that the program puts together.
if command -v shellcheck >/dev/null; then
  mapfile -t scripts < <(git ls-files 'tests/*.sh' .ci/run)
  stage shellcheck shellcheck -x -P SCRIPTDIR "${scripts[@]}"
else
  echo "check: shellcheck left out, it is not installed" >&2
fi
