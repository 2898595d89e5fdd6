"""``python -m cogniload_repro`` is the `cogniload` command."""

from .cli import main

main(prog_name="cogniload")
