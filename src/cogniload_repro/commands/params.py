"""Options that commands share; the parameters of a build, of params.yaml or of one call, and of each of its steps."""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce
from pathlib import Path
from typing import Any

import click
import yaml

from cogniload_repro.files import (
    for_terminal,
    is_address,
    locked,
    look_at,
    without_secrets,
    write_whole,
)

FILE, FOLDER = (
    click.Path(path_type=Path, dir_okay=False),
    click.Path(path_type=Path, file_okay=False),
)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FROM_0, FROM_1 = click.IntRange(min=0), click.IntRange(min=1)

BUILD = click.option(
    "--build", type=FOLDER, default=Path("data/build"), show_default=True, help="Build folder."
)
JOBS = click.option(
    "--jobs", type=FROM_1, default=os.cpu_count() or 1, show_default="all cores",
    help="Number of worker processes; does not affect results.",
)  # fmt: skip
GRID = click.option(
    "--grid",
    type=click.Choice(["paper", "mini"]),
    default="paper",
    show_default=True,
    help="The build's grid.",
)


def _resolve(_context: object, _option: object, edition: str | None) -> Any:
    from cogniload_repro.puzzles.draws import resolve_edition

    return resolve_edition(edition) if edition else None


#: How a source is read.
READ_AS = (
    click.option("--model", help="Name of the model, in place of that in the source."),
    click.option(
        "--edition",
        callback=_resolve,
        help="Generator edition for puzzles known only by name; default: detected.",
    ),
)
#: A regression.
REGRESSION = (
    click.option("--formula", help="Regression, such as 'correct ~ d * log10_N + rho'."),
    click.option("--family", help="Link: logit (default), probit, cloglog or quasi-binomial."),
)


def takes(*options: Callable) -> Callable[[Callable], Callable]:
    """Give a command several options, in their order."""
    return lambda command: reduce(
        lambda decorated, option: option(decorated), reversed(options), command
    )


def say(text: object, *, err: bool = False) -> None:
    """Print for a reader: whatever text of others is in it, the terminal obeys none of it."""
    click.echo(for_terminal(str(text)), err=err)


RECONSTRUCTED = "reconstructed"
_QUOTING = (
    "of several sources in ADD, a path with blanks or quotes stands in quotation marks, as in"
    """ ADD="'my answers.jsonl' other.jsonl\""""
)
#: The file at the top of a checkout that says what a build is to be.
PARAMS = Path("params.yaml")
#: Prefix of the environment variables in which make passes the parameters of one call: no shell
#: expands them.
_GIVEN = "COGNILOAD_"
#: Parameters by the step that they shape.
STEPS = {
    "outputs": ("grid", "source", "add", "max_rejected"),
    "scores": ("scorer",),
    "notebooks": ("formula", "family", "models"),
}


@dataclass(frozen=True)
class Parameters:
    """What a build is made of, by default as the paper's; paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    scorer: str = "pseudocode"
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self, *names: str) -> dict[str, Any]:
        """Return those of some parameters that are not the paper's."""
        return {
            name: value
            for name in names
            if (value := getattr(self, name)) != getattr(Parameters(), name)
        }


def read_parameters(**given: object) -> Parameters:
    """Return the parameters: those given here, else those of the environment, else those of params.yaml.

    An empty text stands for the paper's. A ValueError names an unknown parameter or a value of another kind.
    """
    values: dict[str, Any] = {}
    if PARAMS.is_file():
        try:
            values = yaml.safe_load(PARAMS.read_text(encoding="utf-8")) or {}
        except yaml.YAMLError as error:
            raise ValueError(f"{PARAMS} is not YAML: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{PARAMS} holds no parameters by name")
    names = [field.name for field in fields(Parameters)]
    if unknown := sorted(map(str, values.keys() - set(names))):
        raise ValueError(
            f"{PARAMS} has the unknown parameter {unknown[0]}; parameters are: {', '.join(names)}"
        )
    values |= {
        name: os.environ[variable]
        for name in names
        if (variable := _GIVEN + name.upper()) in os.environ
    }
    values |= {name: value for name, value in given.items() if value is not None}
    return Parameters(
        **{name: _convert(name, value) for name, value in values.items() if value not in ("", None)}
    )


def _convert(name: str, value: Any) -> Any:
    """Return a value as `Parameters` has it, of a text of the command line or of what YAML makes of it."""
    kind = type(getattr(Parameters(), name))
    if kind is tuple and isinstance(value, str):
        words = [word.strip() for word in value.split(",")]
        value = _split_sources(value) if name == "add" else words
    if kind is int and str(value).isdecimal():
        return int(value)
    if (
        kind is tuple
        and isinstance(value, (list, tuple))
        and all(isinstance(word, str) for word in value)
    ):
        from cogniload_repro.models import BY_LABEL

        return tuple(_locate(word) if name == "add" else BY_LABEL.get(word, word) for word in value)
    if kind is not str or not isinstance(value, str):
        what = {str: "a text", int: "a whole number from 0", tuple: "a list of texts"}[kind]
        raise ValueError(f"{name} must be {what}, not {value!r}")
    return _locate(value) if name == "source" else value


def _split_sources(text: str) -> list[str]:
    """Return the sources of a text: one existing path as it stands, or several between blanks."""
    if not is_address(text) and os.path.exists(text.partition("#sha256=")[0]):
        return [text]
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""  # backslashes divide paths elsewhere
    try:
        return list(lexer)
    except ValueError:
        raise ValueError(f"no outputs at {without_secrets(text)}; {_QUOTING}") from None


def _locate(address: str) -> str:
    """Return an address that means the same from every folder."""
    if address == RECONSTRUCTED or is_address(address):
        return address
    path, mark, digits = address.partition("#sha256=")
    return os.path.abspath(path) + mark + digits


def local_path(address: str) -> Path | None:
    """Return the local file or folder of a source; None for an address and the reconstruction."""
    path = address.partition("#sha256=")[0]
    return None if address == RECONSTRUCTED or is_address(path) else Path(path)


def label_of(address: str) -> str:
    """Return what a source is called in sentences, without secrets."""
    path = local_path(address)
    return path.name if path else without_secrets(address)


def check_source(address: str) -> None:
    """Refuse a source that cannot be: a path to nothing, an address of no known form."""
    path = local_path(address)
    if path is not None and not path.exists():
        raise ValueError(
            f"no outputs at {path}; give a folder, a file or an address, or '{RECONSTRUCTED}'"
            f" ({_QUOTING})"
        )
    if path is None and address != RECONSTRUCTED:
        from cogniload_repro.outputs.sources import resolve_address

        resolve_address(address.partition("#sha256=")[0])


def _describe(step: str, parameters: Parameters) -> str:
    """Return the parameters of a step as text, with the sizes and times of local sources."""
    values: dict[str, Any] = {name: getattr(parameters, name) for name in STEPS[step]}
    sources = (parameters.source, *parameters.add) if step == "outputs" else ()
    if not any(address != RECONSTRUCTED for address in sources):
        values.pop("max_rejected", None)  # it has no effect without outputs of the reader's own
    if seen := [
        look_at(path) for address in sources if (path := local_path(address)) and path.exists()
    ]:
        values["seen"] = seen
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _kept(build: Path, step: str) -> str:
    place = build / "params" / f"{step}.json"
    return place.read_text(encoding="utf-8") if place.is_file() else "{}"


def is_made_with(build: Path, step: str, parameters: Parameters) -> bool:
    """Return whether a step was made with these parameters, and with the same local sources."""
    return _describe(step, parameters) == _kept(build, step)


def write_parameters(build: Path, step: str, parameters: Parameters) -> None:
    """Keep what a step is made with, before it changes anything in a build; an equal file is left as it is.

    Addresses may hold passwords: the file is its owner's alone.
    """
    if not is_made_with(build, step, parameters):
        write_whole(build / "params" / f"{step}.json", _describe(step, parameters), mode=0o600)


def made_with(build: Path) -> Parameters:
    """Return the parameters that the steps of a build were made with; the paper's where a step has not been done."""
    kept: dict[str, Any] = {}
    for step, names in STEPS.items():
        kept |= {
            name: value for name, value in json.loads(_kept(build, step)).items() if name in names
        }
    tuples: dict[str, Any] = {
        name: tuple(value) for name, value in kept.items() if isinstance(value, list)
    }
    return Parameters(**(kept | tuples))


def describe_changes(parameters: Parameters) -> str:
    """Return what is not the paper's in a book, for the top of its pages; empty for nothing."""
    changes = parameters.changes("source", "add", "scorer", "formula", "family", "models")
    shown = {
        "source": label_of,
        "add": lambda all_: ", ".join(map(label_of, all_)),
        "models": ", ".join,
    }
    said = "; ".join(f"{name}: {shown.get(name, str)(value)}" for name, value in changes.items())
    return f"This book was made with other parameters than the paper's: {said}." if said else ""


def _check(step: str, parameters: Parameters) -> None:
    """Refuse parameters of a step that cannot be, before the steps before it have taken their time."""
    for source in (parameters.source, *parameters.add) if step == "outputs" else ():
        check_source(source)
    if step == "scores":
        from cogniload_repro.scoring.verdict import find_scorer

        find_scorer(parameters.scorer)
    if step == "notebooks" and not parameters.changes("source", "add"):
        from cogniload_repro.models import find_model

        for model in parameters.models:
            find_model(model)
    if step == "notebooks" and parameters.changes("formula", "family"):
        from cogniload_repro.statistics import design, formulas, regression

        regression.check_family(parameters.family)
        formulas.build_design(
            design.GRID.assign(prompt_mean=design.GRID["N"], perturbation=""), parameters.formula
        )


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("step", type=click.Choice(list(STEPS)))
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@takes(GRID, BUILD)
def prepare(step: str, command: tuple[str, ...], grid: str, build: Path) -> None:
    """Check the parameters of all steps, and run COMMAND, a make, with those up to STEP that differ as new files.

    The Makefile calls this before its rules. The build folder is locked until COMMAND has ended.
    """
    wanted, steps = read_parameters(grid=grid), list(STEPS)
    with locked(build) as lock:
        changed = [one for one in steps if not is_made_with(build, one, wanted)]
        for one in changed:
            _check(one, wanted)
        if lock is not None:
            os.set_inheritable(
                lock.fileno(), True
            )  # the folder stays locked while any process of COMMAND lives
        new = [
            f"--what-if={build / 'params' / one}.json"
            for one in steps[: steps.index(step) + 1]
            if one in changed
        ]
        os.execvp(command[0], [*command, *new])
