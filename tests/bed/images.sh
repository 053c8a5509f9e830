#!/usr/bin/env bash
# images.sh build|python|save|list|clean: the bed's images, made from Debian packages only.
#   build   base, host and the four monitoring images; only what is missing or whose inputs changed
#   python  the host with Python, which Ansible needs there (benches only)
#   save    the monitoring images as tarballs in $NBCTL_BED_IMAGES (default $NBCTL_BED_DIR/images), with the index that `nbctl monitor` reads
#   list    what there is
#   clean   removes them, but for those that hosts are made of
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

REPO=nbctl-bed
MONITORING=(prometheus influxdb node-exporter process-exporter)

# inputs_of FOLDER: hash of everything that its images are made from
inputs_of() {
  {
    echo "${NBCTL_BED_SUITE:-bookworm}"
    cat "$BED_HERE/base.sh"
    [ "$1" = base ] || find "$BED_HERE/images/$1" -type f -print0 | sort -z | xargs -0 cat
  } | sha256sum | cut -c1-16
}

# are_current INPUTS NAME...
are_current() {
  local inputs=$1 name
  shift
  for name in "$@"; do
    [ "$(dk image inspect -f "{{index .Config.Labels \"$BED_IMAGE_LABEL\"}}" "$REPO/$name" 2>/dev/null)" = "$inputs" ] || return 1
  done
}

build_base() {
  local inputs
  inputs=$(inputs_of base)
  are_current "$inputs" base || timed "image base" "$BED_HERE/base.sh" "$REPO/base" "$BED_IMAGE_LABEL=$inputs"
}

build_host() {
  local inputs
  inputs=$(inputs_of host)
  are_current "$inputs" host ||
    timed "image host" "$BED_HERE/build-image.sh" host "$BED_IMAGE_LABEL=$inputs" "$REPO/host"
}

build_monitoring() {
  local inputs name targets=()
  inputs=$(inputs_of monitoring)
  for name in "${MONITORING[@]}"; do targets+=("$REPO/$name=$name"); done
  are_current "$inputs" "${MONITORING[@]}" ||
    timed "images ${MONITORING[*]}" "$BED_HERE/build-image.sh" monitoring "$BED_IMAGE_LABEL=$inputs" "${targets[@]}"
}

build() {
  local began=$EPOCHREALTIME job
  lock images
  need_engine
  build_base
  build_host &
  build_monitoring &
  # shellcheck disable=SC2064,SC2046  # the jobs of now
  trap "kill $(jobs -p | paste -sd ' ') 2>/dev/null" EXIT
  for job in $(jobs -p); do wait "$job"; done
  trap - EXIT
  say "images: ready after $(seconds_since "$began")"
}

python() {
  local inputs
  lock images
  need_engine
  inputs=$(inputs_of python)-$(inputs_of host)
  are_current "$inputs" python ||
    timed "image python" "$BED_HERE/build-image.sh" python "$BED_IMAGE_LABEL=$inputs" "$REPO/python"
}

# version_of NAME: of the Debian package inside, without Debian's own suffix
version_of() {
  local id
  id=$(dk create "$REPO/$1" version)
  dk cp "$id:/package.version" - | tar -xO | sed -E 's/^[0-9]+://; s/[-+~].*//'
  dk rm "$id" >/dev/null
}

index_entry() {
  local name=$1 file=$2
  printf '  - {component: %s, image: "%s", id: "%s", file: %s}\n' "$name" "$REPO/$name:$(version_of "$name")" \
    "$(dk image inspect -f '{{.Id}}' "$REPO/$name")" "$file"
}

index() {
  printf 'format: 1\nimages:\n'
  index_entry prometheus servers.tar.gz
  index_entry influxdb servers.tar.gz
  index_entry node-exporter exporters.tar.gz
  index_entry process-exporter exporters.tar.gz
}

# save_file FILE: the images that the index puts into that file, under their versioned names
save_file() {
  local names name
  names=$(sed -n "s|.*image: \"\([^\"]*\)\".*file: $1}|\1|p" "$BED_IMAGES/index.yaml.new")
  for name in $names; do dk tag "${name%:*}" "$name"; done
  # shellcheck disable=SC2086  # several names
  dk save $names | gzip -1 >"$BED_IMAGES/$1.new"
  mv "$BED_IMAGES/$1.new" "$BED_IMAGES/$1"
}

save() {
  local began=$EPOCHREALTIME dir=$BED_IMAGES
  need_engine
  mkdir -p "$dir"
  index >"$dir/index.yaml.new"
  if cmp -s "$dir/index.yaml.new" "$dir/index.yaml"; then
    rm "$dir/index.yaml.new"
    say "monitoring images: tarballs in $dir are current"
    return
  fi
  rm -f "$dir/index.yaml"
  save_file servers.tar.gz
  save_file exporters.tar.gz
  mv "$dir/index.yaml.new" "$dir/index.yaml"
  say "monitoring images: saved to $dir ($(du -sh "$dir" | cut -f1)) in $(seconds_since "$began")"
}

list() { need_engine && dk images --filter "label=$BED_IMAGE_LABEL" --format 'table {{.Repository}}:{{.Tag}}\t{{.ID}}\t{{.Size}}'; }

clean() {
  local id
  need_engine
  for id in $(dk images -q --filter "label=$BED_IMAGE_LABEL" | sort -u); do dk rmi -f "$id" >/dev/null 2>&1 || true; done
  rm -rf "$BED_IMAGES"
  say "images: removed; left, because hosts use them: $(dk images -q --filter "label=$BED_IMAGE_LABEL" | wc -l)"
}

case ${1:-} in
  build | python | save | list | clean) "$1" ;;
  *) die "images.sh: build, python, save, list or clean?" "" 2 ;;
esac
