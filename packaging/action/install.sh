#!/usr/bin/env bash
# Puts sqlgauge on PATH: the release VERSION, whose archive must have the digest SHA256; without VERSION the program that
# is there, or one built from the source of this action.
set -euo pipefail

fail() { echo "::error::$1"; exit 2; }

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${RUNNER_TEMP:-/tmp}/sqlgauge
mkdir -p "$bin"
if [ -n "${VERSION:-}" ]; then
    [ -n "${SHA256:-}" ] || fail 'version needs sha256: the digest stands beside the archive of the release'
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) target=x86_64-unknown-linux-musl ;;
        Linux-aarch64) target=aarch64-unknown-linux-musl ;;
        Darwin-arm64) target=aarch64-apple-darwin ;;
        Darwin-x86_64) target=x86_64-apple-darwin ;;
        *) fail "no archive is made for $(uname -s) on $(uname -m): leave version out, and the program is built" ;;
    esac
    repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' "$source/Cargo.toml")
    archive=$bin/archive.tar.gz
    curl --fail --silent --show-error --location --retry 3 --output "$archive" \
        "${SQLGAUGE_RELEASES:-$repository/releases/download}/v$VERSION/sqlgauge-$target-v$VERSION.tar.gz" ||
        fail "the archive of version $VERSION for $target cannot be downloaded"
    echo "$SHA256  $archive" | sha256sum --check --quiet || fail "the archive does not have the digest $SHA256"
    tar --extract --gzip --file "$archive" --directory "$bin" --strip-components 1
elif program=$(command -v sqlgauge); then
    echo "sqlgauge is $program"
    exit 0
else
    cargo install --locked --path "$source/crates/cli" --root "$bin/built"
    bin=$bin/built/bin
fi
echo "$bin" >> "$GITHUB_PATH"
