#!/usr/bin/env bash
# base.sh TAG LABEL: the image that all others are made from: a minimal Debian, by debootstrap from the package
# source that this machine's own apt uses (or NBCTL_BED_MIRROR), imported without any container registry.
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SUITE=${NBCTL_BED_SUITE:-bookworm}

# apt_sources: "deb URI SUITE COMPONENT" for what of this machine's apt settings is Debian SUITE, updates included
apt_sources() {
  # shellcheck disable=SC2016  # apt fills these in
  apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' |
    awk -F'|' -v suite="$SUITE" '
      ($1 == "Debian" || $1 == "") && $4 == "main" && ($3 == suite || $3 == suite "-updates" || $3 == suite "-security") {
        print "deb", $2, $3, $4
      }' | sort -u
}

sources() {
  if [ -n "${NBCTL_BED_MIRROR:-}" ]; then echo "deb $NBCTL_BED_MIRROR $SUITE main"; else apt_sources; fi
}

# Whatever this machine's apt needs to reach its source (a proxy, a clock that is off, own certificates) counts inside as well.
apt_settings() {
  printf 'APT::Install-Recommends "false";\nAcquire::Languages "none";\nDPkg::Use-Pty "false";\n'
  apt-config dump | grep -E '^Acquire::(https?|Retries|Check-Valid-Until|Check-Date)' | grep -v ' "";$' || true
}

slim_settings() {
  printf 'path-exclude=/usr/share/%s/*\n' doc man locale info lintian
  echo force-unsafe-io
}

# prepare TREE: package settings; no daemon starts because its package is installed
prepare() {
  local tree=$1
  sources >"$tree/etc/apt/sources.list"
  apt_settings >"$tree/etc/apt/apt.conf.d/90bed"
  slim_settings >"$tree/etc/dpkg/dpkg.cfg.d/bed"
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod 755 "$tree/usr/sbin/policy-rc.d"
  if grep -q https: "$tree/etc/apt/sources.list"; then
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
  fi
}

pack() {
  tar -C "$1" --numeric-owner -c --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*' \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' --exclude='./dev/*' .
}

main() {
  local tag=$1 label=$2 tree mirror
  mirror=$(sources | awk -v suite="$SUITE" '$3 == suite { print $2; exit }')
  [ -n "$mirror" ] || die "this machine's apt settings name no Debian $SUITE source" "give one: NBCTL_BED_MIRROR=URL" 2
  tree=$(mktemp -d /var/tmp/nbctl-bed-base.XXXXXX)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf --one-file-system '$tree'" EXIT
  debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$tree" "$mirror"
  prepare "$tree"
  pack "$tree" | dk import --change 'CMD ["/bin/bash"]' --change "LABEL $label" \
    --change 'ENV DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$tag"
}

[ "$(id -u)" = 0 ] || exec sudo --preserve-env=NBCTL_BED_NAME,NBCTL_BED_DIR,NBCTL_BED_MIRROR,NBCTL_BED_SUITE,http_proxy,https_proxy -- "$0" "$@"
main "$@"
