#!/usr/bin/env bash
# setup.sh GROUP...: installs the missing Debian packages of the named groups; touches nothing when all are there.
#   build   a C compiler and linker, which cargo needs
#   bed     Docker engine and what makes and drives the test hosts
#   check   what looks at the scripts
#   tests   what only the tests use: an SSH server of their own, rpm tools, Python, node and what compiles its addons, a
#           browser, a terminal
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# packages_of GROUP: sets `packages`
packages_of() {
  case $1 in
    build) packages=(gcc libc6-dev) ;;
    bed) packages=(docker.io containerd debootstrap ca-certificates iptables iproute2 openssh-client procps util-linux) ;;
    check) packages=(shellcheck) ;;
    tests) packages=(openssh-server openssl busybox rpm cpio binutils python3-venv nodejs npm g++ make chromium tmux curl) ;;
    *) die "unknown package group '$1'" "one of: build bed check tests" 2 ;;
  esac
}

# A package counts as there as well when another one gives its program (Docker's own packages, for one).
present() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return
  case $1 in
    docker.io) command -v dockerd && command -v docker ;;
    containerd) command -v containerd ;;
    gcc) command -v cc ;;
    nodejs) command -v node ;;
    npm) command -v npm ;;
    openssh-server) [ -x /usr/sbin/sshd ] ;;
    shellcheck) command -v shellcheck ;;
    *) false ;;
  esac >/dev/null
}

# Where systemd runs, installing the package starts the engine. engine.sh starts it when it is needed.
engine_rests() {
  [ ! -d /run/systemd/system ] || as_root systemctl stop docker.service docker.socket
}

# Tests start an sshd of their own; a machine that let nobody in does not begin to, now or with its next start.
sshd_rests() {
  [ ! -d /run/systemd/system ] || as_root systemctl disable --now ssh.service
}

main() {
  local group package packages missing=() engine_was_there=1 sshd_was_there=1
  command -v dpkg-query >/dev/null || die "this machine has no dpkg" "the test bed is made from Debian packages; use Debian 12" 2
  for group in "$@"; do
    packages_of "$group"
    for package in "${packages[@]}"; do
      present "$package" || missing+=("$package")
    done
  done
  [ ${#missing[@]} -gt 0 ] || { say "packages for $*: all installed"; return; }
  command -v dockerd >/dev/null || engine_was_there=0
  [ -x /usr/sbin/sshd ] || sshd_was_there=0
  say "packages to install: ${missing[*]}"
  timed "install packages for $*" "$BED_HERE/apt-install.sh" "${missing[@]}"
  [ "$engine_was_there" = 1 ] || ! command -v dockerd >/dev/null || engine_rests
  [ "$sshd_was_there" = 1 ] || [ ! -x /usr/sbin/sshd ] || sshd_rests
}

[ $# -gt 0 ] || set -- bed
main "$@"
