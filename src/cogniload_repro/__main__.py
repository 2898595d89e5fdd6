"""``python -m cogniload_repro`` is the `cogniload` command."""

from cogniload_repro.cli import main

main(prog_name="cogniload")
