#!/bin/sh
# Fetch axe-core, which the tests of the book use, from the npm registry into tests/browser/_vendor.
# Version and sum are those written here; another sum stops. Needs npm, tar and sha256sum; neither
# the build nor a reader does.
set -eu

version=4.10.3
sum=0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292
target="$(cd "$(dirname "$0")/.." && pwd)/tests/browser/_vendor"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "axe-core@$version" >/dev/null
echo "$sum  axe-core-$version.tgz" | sha256sum --check --quiet
tar -xzf "axe-core-$version.tgz"
cp package/axe.min.js "$target/"
cp package/LICENSE "$target/LICENSE-axe-core"
