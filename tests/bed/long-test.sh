#!/usr/bin/env bash
# long-test.sh CRATE TEST: one test that is too long for `make test`; what it prints is shown. Fails when it fails,
# and when there is no test of that name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

list=$(cargo test --quiet --locked --package "$1" --lib --tests -- --ignored --list "$2" </dev/null)
if ! grep -q ": test$" <<<"$list"; then
  printf 'error: %s has no such test: %s\n' "$1" "$2" >&2
  exit 1
fi
exec cargo test --quiet --locked --package "$1" --lib --tests -- --ignored --nocapture "$2" </dev/null
