#!/usr/bin/env bash
# bench-deploy.sh: four hosts without engines, Ansible from its Python package in an environment of its own, a package of
# 100 MiB, and the bench against them. Hosts and engine are cleaned up afterwards; Ansible stays for the next time.
#   NBCTL_BENCH_KEEP=1   leaves the hosts up
set -euo pipefail
export NBCTL_BED_NAME=${NBCTL_BENCH_NAME:-bench}
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
alone "$NBCTL_BED_NAME" "$BED_HERE/bench-deploy.sh"
export NBCTL_BED_TAKE=1     # whoever had hosts of this name is gone
cd "$BED_HERE/../.."
ANSIBLE=2.19.14
CLIENT=3.8.3

clean_up() {
  [ -z "${NBCTL_BENCH_KEEP:-}" ] || return 0
  "$BED_HERE/hosts.sh" down || true
  "$BED_HERE/engine.sh" stop || true
}

# get_ansible DIR: ansible-core and the client that says ADD HOSTS
get_ansible() {
  [ ! -e "$1/complete-$ANSIBLE-$CLIENT" ] || return 0
  rm -rf "$1"
  python3 -m venv "$1"
  timed "ansible $ANSIBLE" "$1/bin/python" -m pip install --no-input --quiet --disable-pip-version-check \
    "ansible-core==$ANSIBLE" "nebula3-python==$CLIENT" ||
    die "Ansible cannot be installed, so there is nothing to compare with" "pip must reach its registry" 3
  touch "$1/complete-$ANSIBLE-$CLIENT"
}

"$BED_HERE/engine.sh" start
trap '"$BED_HERE/engine.sh" stop' EXIT
"$BED_HERE/images.sh" build
"$BED_HERE/images.sh" python
export NBCTL_BED_IMAGES=$BED_IMAGES NBCTL_BED_DIR=$BED_DIR/$NBCTL_BED_NAME NBCTL_BED_HOST_IMAGE=nbctl-bed/python
bench=$NBCTL_BED_DIR/bench
mkdir -p "$bench"
get_ansible "$bench/ansible"
bin=$("$BED_HERE/build.sh")
rm -rf "$bench/packages" "$bench/state" "$bench/playbook"
"$bin/nbctl" sandbox package --at-least 100 --out "$bench/packages"
cp -R benches/deploy/ansible "$bench/playbook"
trap clean_up EXIT
"$BED_HERE/hosts.sh" down   # what an ended run left there would be measured, too
"$BED_HERE/hosts.sh" up --plain 4
cargo bench --quiet --locked --profile dev --bench deploy </dev/null
