#!/bin/sh
# Install what some tests need and pip cannot give, from Debian: Chromium and its driver (the book
# read in a browser), R (its `glm` as a second opinion on the regressions) and Elixir (its draws
# beside those of our Elixir editions). Does nothing where all are there already; where apt is absent
# it says so and succeeds, since those tests are then skipped. Used by people and by CI.
set -eu

missing=""
for program in chromium chromedriver Rscript elixir; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -z "$missing" ]; then
    echo "chromium, chromedriver, R and Elixir are installed"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "no apt-get here: install Chromium, chromedriver, R and Elixir by hand" >&2
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "neither root nor sudo: install Chromium, chromedriver, R and Elixir by hand" >&2
        exit 0
    fi
    as_root="sudo"
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    chromium chromium-driver fonts-dejavu-core r-base-core elixir
