#!/bin/sh
# Install what some tests need and pip cannot give, from Debian: Chromium and its driver (the book read in a browser)
# and R (its `glm` as a second opinion on the regressions). Does nothing where all are there already; where apt is
# absent it says so and succeeds, since those tests are then skipped with the same message. Used by people and by CI.
set -eu

if command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1 && command -v Rscript >/dev/null 2>&1; then
    echo "chromium, chromedriver and R are installed"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "no apt-get here: install Chromium, chromedriver and R by hand to run every test" >&2
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "neither root nor sudo: install the packages chromium, chromium-driver and r-base-core by hand" >&2
        exit 0
    fi
    as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium chromium-driver fonts-dejavu-core r-base-core
