#!/usr/bin/env bash
# build-image.sh FOLDER LABEL TAG[=TARGET]...: images/FOLDER/Dockerfile, whole or target by target, built on this machine's
# network, so that whatever way its apt has to the package source works for the build as well.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export DOCKER_BUILDKIT=0     # Debian's engine brings the classic builder only
folder=$1 label=$2
shift 2
for tag in "$@"; do
  target=()
  [[ $tag != *=* ]] || target=(--target "${tag#*=}")
  dk build --force-rm --network host --label "$label" -t "${tag%=*}" "${target[@]}" "$BED_HERE/images/$folder"
done
# what the build needed on the way, and the images that these replace
dk image prune -f --filter "label=nbctl.bed.stage"
dk image prune -f --filter "label=$BED_IMAGE_LABEL"
