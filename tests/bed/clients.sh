#!/usr/bin/env bash
# clients.sh: the official Python client in an environment of its own below $NBCTL_BED_DIR/clients; prints the path of
# its python on stdout. Made once, and again when the version asked for changes.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

version=${NBCTL_BED_PYTHON_CLIENT:-3.0.0}
dir=$BED_DIR/clients/nebula3-python-$version

if [ ! -e "$dir/complete" ]; then
  rm -rf "$dir"
  mkdir -p "$BED_DIR/clients"
  timed "python environment" python3 -m venv "$dir"
  timed "nebula3-python $version" "$dir/bin/pip" install --no-input --quiet "nebula3-python==$version"
  "$dir/bin/python" -c 'import nebula3'
  touch "$dir/complete"
fi
echo "$dir/bin/python"
