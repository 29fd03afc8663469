#!/usr/bin/env bash
# Makes a Docker image with bash, git, ripgrep, python3 and this machine's Node out of Debian's packages, where no registry of
# images is in reach. `scripts/base-image.sh [NAME]`; does nothing when the image is there. Needs root, debootstrap, an engine.
set -euo pipefail

name=${1:-atelier-base:latest}
if docker image inspect "$name" >/dev/null 2>&1; then exit 0; fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=bash,ca-certificates,git,procps,python3-minimal,ripgrep bookworm "$root" >"$root.log" 2>&1 || {
  tail -n 5 "$root.log" >&2
  rm -f "$root.log"
  exit 1
}
rm -f "$root.log"
install -m 755 "$(readlink -f "$(command -v node)")" "$root/usr/local/bin/node"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}
tar -C "$root" -c . | docker import -c 'CMD ["/bin/bash"]' - "$name" >/dev/null
