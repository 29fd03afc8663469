#!/usr/bin/env bash
# Installs the OpenSandbox server for the tests into a cache folder, unless it is there. Needs python3 with venv, and PyPI.
set -euo pipefail

version=1.1.1
home=${ATELIER_OPENSANDBOX_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/atelier/opensandbox-server-$version}
if [ -x "$home/bin/opensandbox-server" ]; then exit 0; fi
rm -rf "$home.new"
mkdir -p "$(dirname "$home")"
python3 -m venv "$home.new"
"$home.new/bin/pip" install --quiet --disable-pip-version-check "opensandbox-server==$version"
# Its programs name the folder that they were installed into.
sed -i "1s|$home.new/|$home/|" "$home.new"/bin/*
rm -rf "$home"
mv "$home.new" "$home"
