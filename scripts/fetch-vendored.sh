#!/bin/sh
# Fetch from the npm registry the libraries that the book carries along for its figures and the one that its tests use, and keep
# minified builds and licences in book/_vendor/vega and tests/book/_vendor. Versions and sums are those written here; a sum that
# is another stops. Needs npm, tar and sha256sum; neither the build nor a reader does.
set -eu

cd "$(dirname "$0")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p book/_vendor/vega tests/book/_vendor

take() { # package, version, SHA-256 of its archive, file of the build, folder
    (cd "$work" && npm pack --silent "$1@$2" >/dev/null)
    echo "$3  $work/$1-$2.tgz" | sha256sum --check --quiet
    mkdir "$work/$1"
    tar -xzf "$work/$1-$2.tgz" -C "$work/$1" --strip-components=1
    cp "$work/$1/$4" "$5/"
    cp "$work/$1/LICENSE" "$5/LICENSE-$1"
}

take vega 6.4.0 3521fb6ff68a94a40323954f0ba4484ba4014b157bfd37f89a3b063082320c42 build/vega.min.js book/_vendor/vega
take vega-lite 6.4.3 24260f85e6f5bfe1069505f7c5c2b9863181ac413ef1030746f0a80c93991ce5 build/vega-lite.min.js book/_vendor/vega
take axe-core 4.10.3 0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292 axe.min.js tests/book/_vendor
(cd book/_vendor/vega && sha256sum vega.min.js vega-lite.min.js LICENSE-vega LICENSE-vega-lite)
