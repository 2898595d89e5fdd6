#!/bin/sh
# Install what the browser tests need and pip cannot give: Chromium and its driver, from Debian.
# Does nothing where both are there already; where apt is absent it says so and succeeds, since
# the browser tests are then skipped with the same message. Used by people and by CI alike.
set -eu

if command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; then
    echo "chromium and chromedriver are installed"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "no apt-get here: install Chromium and chromedriver by hand to run the browser tests" >&2
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "neither root nor sudo: install the packages chromium and chromium-driver by hand" >&2
        exit 0
    fi
    as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium chromium-driver fonts-dejavu-core
