#!/usr/bin/env bash
# apt-install.sh PACKAGE...: apt-get update and install, patient with whoever holds apt's locks.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# apt waits for the lock of dpkg when told so; for that of the package lists it does not, hence the loop. Anything
# else that fails (a mirror in the middle of its update) gets three tries.
patiently() {
  local try output
  for try in $(seq 120); do
    if output=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@" 2>&1); then
      printf '%s\n' "$output"
      return
    fi
    printf '%s\n' "$output"
    [[ $output == *"get lock"* || $output == *"to lock"* ]] || [ "$try" -lt 3 ] || return 1
    echo "try $try of 'apt-get $1' failed, again in 5 s"
    sleep 5
  done
  return 1
}

patiently update -qq
patiently install -y -qq --no-install-recommends "$@"
