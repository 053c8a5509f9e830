#!/usr/bin/env bash
# build.sh: builds the programs of this repository; prints the folder they are in on stdout.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$BED_HERE/../.."

began=$SECONDS
echo "build: nbctl ..." >&2
cargo build --workspace --bins --locked </dev/null >&2
echo "build: nbctl: $((SECONDS - began)) s" >&2
echo "$(target_folder)/x86_64-unknown-linux-gnu/debug"
