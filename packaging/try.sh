#!/usr/bin/env bash
# Tries a wheel and an archive on a clean Debian without Rust: installs the one, unpacks the other, runs the examples of the documents and the demo.
#
#     debootstrap --variant=minbase --include=python3,python3-venv bookworm TREE
#     packaging/try.sh TREE dist/sqlgauge-….whl dist/sqlgauge-….tar.gz
#
# Needs root, for chroot. Writes into TREE/tmp alone.
set -euo pipefail

tree=$1 wheel=$2 archive=$3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp --directory --tmpdir="$tree/tmp")
trap 'rm -rf "$work"' EXIT
cp "$wheel" "$archive" "$source/packaging/examples.py" "$source/README.md" "$source"/docs/tutorials/{why-is-this-wrong,reward}.md "$work"
inside() { chroot "$tree" env -i HOME=/nowhere PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd '${work#"$tree"}'; $1"; }

# shellcheck disable=SC2016 # expanded inside
inside '! command -v cargo && ! command -v rustc
    python3 -m venv wheel && wheel/bin/pip install --quiet --no-index ./*.whl
    export PATH=$PWD/wheel/bin:$PATH
    python3 examples.py README.md why-is-this-wrong.md reward.md'
# shellcheck disable=SC2016
inside 'tar --extract --gzip --file ./*.tar.gz && cd sqlgauge-*/ && ls man/sqlgauge.1 THIRD-PARTY-LICENSES.txt && bash -n completions/sqlgauge.bash
    ./sqlgauge --version && ./sqlgauge demo | tail -n 2'
