"""Options that several commands share, and how a command ends when it is stopped by hand."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from cogniload_repro.escapes import for_terminal
from cogniload_repro.grid import renamed


class _OrEmpty(click.Choice):
    """A choice that may be left empty, as the Makefile does."""

    def convert(self, value, param, ctx):
        """Return one of the choices, or nothing."""
        return value if value == "" else super().convert(value, param, ctx)


class Renamed(click.Choice):
    """A choice of which some values had another name, still accepted for one release."""

    def __init__(self, choices: Sequence[str], former: dict[str, str]):
        super().__init__(choices)
        self.former = former

    def convert(self, value, param, ctx):
        """Return one of the choices."""
        return super().convert(renamed(param.opts[0] if param else "value", value, self.former), param, ctx)


BUILD = click.option(
    "--build", type=click.Path(path_type=Path, file_okay=False), default=Path("data/build"), show_default=True,
    help="Build folder that the step reads and writes.",
)  # fmt: skip
JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores",
    help="Number of worker processes; does not affect results.",
)  # fmt: skip
TOKENIZERS = click.option(
    "--tokenizers",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data/tokenizers"),
    show_default=True,
    help="Folder of the tokenizer files.",
)
FORMULA = click.option("--formula", default=None, help="Regression, such as 'correct ~ d * log10_N + rho'.")
FAMILY = click.option(
    "--family",
    type=_OrEmpty(["logit", "probit", "cloglog", "quasi-binomial"]),
    default=None,
    help="Link function; default logit.",
)
DATA = click.option(
    "--cells", "--data", "data", default=None, help="Another table of cells, CSV or Parquet, in place of the build's."
)
#: The grid of a build.
GRID = click.option(
    "--grid", type=click.Choice(["paper", "mini"]), default="paper", show_default=True, help="The build's grid."
)
#: Names that functions take, written out so that `--help` need not import them; a test holds them together.
READINGS = click.Choice(["pseudocode", "prose", "late_drop", "cut_windows", "last_mention", "answer_only"])
EDITIONS = Renamed(["python", "elixir-1.14", "elixir-1.16", "elixir-1.17", "elixir"], {"port": "python"})
PERTURBATION = click.Choice(
    ["baseline", "not_not", "opposites", "wrappers", "rail_fence", "rectangle_perimeter", "snake_horizontal",
     "snake_vertical", "interleave_line", "interleave_word", "interleave_symbol", "reverse_sentences", "reverse_words",
     "reverse_symbols"]
)  # fmt: skip
KEY_ORDER = click.option(
    "--key-order",
    type=Renamed(["alphabetical", "ontology"], {"term": "alphabetical", "file": "ontology"}),
    help="For Elixir: keys of maps in alphabetical order (Erlang's OTP up to 25; usual with 1.14) or in that of the "
    "ontology (from 26; usual with 1.16 and later).",
)
NAMED_EDITION = click.option(
    "--edition",
    type=EDITIONS,
    help="Generator edition for puzzles known only by name; default: detected.",
)


def takes_source(what: str, *, required: bool = True, type: Any = str) -> Callable[[Callable], Callable]:
    """Give a command the option ``--source``; the source may as well stand by itself."""

    def decorate(function: Callable) -> Callable:
        @click.argument("stated", metavar="[SOURCE]", type=type, required=False)
        @click.option("--source", type=type, default=None, help=what)
        @wraps(function)
        def command(*args, source: Any, stated: Any, **kwargs):
            if stated and source and stated != source:
                raise click.UsageError(f"two sources are given, {source} and {stated}; give one")
            if required and not (source or stated):
                raise click.UsageError("no source is given; name it with --source")
            return function(*args, source=source or stated, **kwargs)

        return command

    return decorate


def say(text: object, *, err: bool = False) -> None:
    """Print for a reader: whatever text of others is in it, the terminal obeys none of it."""
    click.echo(for_terminal(str(text)), err=err)


@contextmanager
def ended_by_hand(hint: str) -> Iterator[None]:
    """Turn Ctrl-C into one sentence on standard error and exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\nStopped; {hint}", err=True)
        raise click.exceptions.Exit(130) from None
