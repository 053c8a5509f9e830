#!/usr/bin/env bash
# clients.sh: the official clients the tests drive, each in one pinned version, below $NBCTL_BED_DIR/clients; prints
# that folder on stdout. What is there already is kept.
#   python/                    an environment for pip and the interpreter
#   PACKAGE-VERSION/           a client and what it needs; `complete` in it says that it is whole
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

dir=$BED_DIR/clients

# make_client NAME COMMAND...: runs COMMAND in the new folder $dir/NAME unless it was completed before
make_client() {
  local home=$dir/$1
  [ ! -e "$home/complete" ] || return 0
  rm -rf "$home"
  mkdir -p "$home"
  (cd "$home" && timed "client $1" "${@:2}")
  touch "$home/complete"
}

# python_client PACKAGE VERSION
python_client() {
  make_client "$1-$2" "$dir/python/bin/python" -m pip install --no-input --quiet --disable-pip-version-check \
    --target . "$1==$2"
}

# Its native part is compiled against the headers that come with node, so that nothing else is fetched.
node_client() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    say "client nebula-nodejs 3.0.3 is left out: node or npm is missing; $BED_HERE/setup.sh tests installs both"
    return
  fi
  local prefix
  prefix=$(dirname "$(dirname "$(realpath "$(command -v node)")")")
  make_client nebula-nodejs-3.0.3 env npm_config_nodedir="$prefix" \
    npm install --no-audit --no-fund --loglevel=error @nebula-contrib/nebula-nodejs@3.0.3
}

make_client python python3 -m venv .
python_client nebula2-python 2.0.0
python_client nebula2-python 2.6.1
python_client nebula3-python 3.0.0
python_client nebula3-python 3.8.3
node_client
echo "$dir"
