#!/usr/bin/env bash
# build.sh: builds the programs of this repository; prints the folder they are in on stdout.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

began=$SECONDS
echo "build: nbctl ..." >&2
cargo build --workspace --bins --locked </dev/null >&2
echo "build: nbctl: $((SECONDS - began)) s" >&2
target=$(cargo metadata --format-version 1 --no-deps --offline | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
echo "$target/x86_64-unknown-linux-gnu/debug"
