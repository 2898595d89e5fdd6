"""The parameters of a build: read from params.yaml and the call, checked, saved per step."""

import json
import os
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import yaml

from cogniload_repro.commands.options import BUILD
from cogniload_repro.files import (
    fingerprint,
    is_address,
    locked,
    without_secrets,
    write_if_changed,
)

RECONSTRUCTED_SOURCE = "reconstructed"
#: The file at the top of a checkout that sets the parameters of a build.
PARAMS = Path("params.yaml")
#: Prefix of the environment variables in which make passes the parameters of one call, so that no
#: shell expands them.
_GIVEN = "COGNILOAD_"
#: Parameters by the step that uses them.
STEPS = {
    "outputs": ("grid", "source", "add", "max_rejected"),
    "scores": ("scorer",),
    "notebooks": ("formula", "family", "models"),
}
_KINDS = {str: "text", int: "a whole number of at least 0", tuple: "a list of texts"}


@dataclass(frozen=True)
class Parameters:
    """The parameters of a build; the defaults are the paper's, and paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED_SOURCE
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    scorer: str = "pseudocode"
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self, *names: str) -> dict[str, Any]:
        """Return the named parameters that differ from the paper's, as JSON values."""
        paper = Parameters()
        values = {name: getattr(self, name) for name in names}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value != getattr(paper, name)
        }

    def sources(self) -> list[str]:
        """Return the sources of real outputs, in the order given."""
        if self.source == RECONSTRUCTED_SOURCE:
            return list(self.add)
        return [self.source, *self.add]


def read_parameters(**options: object) -> Parameters:
    """Return the parameters: from the options, else the environment, else params.yaml.

    An empty text means the paper's value. A ValueError names an unknown parameter or a value of the
    wrong type.
    """
    values = _read_file() if PARAMS.is_file() else {}
    for field in fields(Parameters):
        value = options.get(field.name)
        if value is None:
            value = os.environ.get(_GIVEN + field.name.upper())
        if value is not None:
            values[field.name] = _convert(field.name, value)
    return Parameters(**values)


def _read_file() -> dict[str, Any]:
    """Return the parameters of params.yaml; any error is a ValueError that names the file."""
    known = [field.name for field in fields(Parameters)]
    try:
        text = PARAMS.read_text(encoding="utf-8")
        tree = yaml.compose(text, yaml.SafeLoader)
        values = yaml.safe_load(text) or {}
        if not isinstance(values, dict):
            raise ValueError("it has no lines such as `grid: paper`")
        names = [key.value for key, _ in tree.value] if values else []
        for name in names:
            if name not in known or names.count(name) > 1:
                raise ValueError(
                    f"unknown or repeated parameter {name}; the parameters are: {', '.join(known)}"
                )
        return {name: _convert(name, value) for name, value in values.items()}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{PARAMS}: {error}") from None


def _convert(name: str, value: Any) -> Any:
    """Return a value as `Parameters` stores it, the paper's value for an empty one.

    It is text from the command line or the environment, or what YAML has read.
    """
    default = getattr(Parameters(), name)
    kind = type(default)
    if value in ("", None):
        return default
    if kind is tuple and isinstance(value, str):
        value = _split_sources(value) if name == "add" else value.split(",")
    if kind is int and str(value).isdecimal():
        return int(value)
    if kind is str and isinstance(value, str):
        return _locate(value) if name == "source" else value
    is_list = kind is tuple and isinstance(value, list | tuple)
    if is_list and all(isinstance(text, str) for text in value):
        return tuple(_locate(text) if name == "add" else text.strip() for text in value)
    raise ValueError(f"{name} must be {_KINDS[kind]}, not {value!r:.100}")


def _split_sources(text: str) -> list[str]:
    """Return the sources that a text names: one existing path, or several separated by spaces."""
    if os.path.exists(text):
        return [text]
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""  # backslashes separate folders on other systems
    try:
        return list(lexer)
    except ValueError:
        raise _no_outputs(without_secrets(text)) from None


def _no_outputs(place: object) -> ValueError:
    return ValueError(
        f"no outputs at {place}; name a folder, a file or an address. If ADD names several"
        """ sources, quote a path with spaces or quotes: ADD="'my answers.jsonl' b.csv\""""
    )


def _locate(address: str) -> str:
    """Return an address that is valid in every folder: a path becomes absolute."""
    is_path = address != RECONSTRUCTED_SOURCE and not is_address(address)
    return os.path.abspath(address) if is_path else address


def label_of(address: str) -> str:
    """Return the name of a source for messages, without passwords."""
    return without_secrets(address) if is_address(address) else Path(address).name


def _describe_step(step: str, parameters: Parameters) -> str:
    """Return the parameters of a step as text, with a fingerprint of each local source."""
    values: dict[str, Any] = {name: getattr(parameters, name) for name in STEPS[step]}
    if step == "outputs":
        if not parameters.sources():  # the limit has no effect on the committed answers
            del values["max_rejected"]
        paths = [Path(source) for source in parameters.sources()]
        values["files"] = [fingerprint(path) for path in paths if path.exists()]
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def parameters_file(build: Path, step: str) -> Path:
    """Return the file with the parameters of a step, its prerequisite in the Makefile."""
    return build / "params" / f"{step}.json"


def write_parameters(build: Path, step: str, parameters: Parameters) -> None:
    """Save a step's parameters; leave the file untouched if they have not changed.

    Addresses may hold passwords, so only its owner can read the file.
    """
    text = _describe_step(step, parameters)
    write_if_changed(parameters_file(build, step), text, mode=0o600)


def read_saved_parameters(build: Path) -> Parameters:
    """Return the parameters with which a build was made, the paper's for steps not yet done."""
    values: dict[str, Any] = {}
    for step, names in STEPS.items():
        file = parameters_file(build, step)
        if file.is_file():
            written = json.loads(file.read_text(encoding="utf-8"))
            for name in written.keys() & set(names):
                values[name] = _convert(name, written[name])
    return Parameters(**values)


def describe_changes(parameters: Parameters) -> str:
    """Return a notice that lists the parameters that differ from the paper's, "" if none do."""
    words = []
    names = ("source", "add", "scorer", "formula", "family", "models")
    for name, value in parameters.changes(*names).items():
        texts = value if isinstance(value, list) else [value]
        if name in ("source", "add"):
            texts = [label_of(address) for address in texts]
        words.append(f"{name}: {', '.join(texts)}")
    if not words:
        return ""
    return f"The parameters of this book differ from the paper's: {'; '.join(words)}."


def _check_parameters(parameters: Parameters) -> None:
    """Reject invalid parameters now, before the earlier steps have been run for nothing."""
    for source in parameters.sources():
        if not is_address(source) and not Path(source).exists():
            raise _no_outputs(source)
    changes = parameters.changes("scorer", "formula", "family")
    if "scorer" in changes:
        from cogniload_repro.scoring.verdict import find_scorer

        find_scorer(parameters.scorer)
    if parameters.models and not parameters.sources():
        from cogniload_repro.models import find_model

        for model in parameters.models:
            find_model(model)
    if "formula" in changes or "family" in changes:
        from cogniload_repro.regression import design, formulas, glm

        glm.check_family(parameters.family)
        cells = design.GRID.assign(prompt_mean=design.GRID["N"], perturbation="")
        formulas.build_design(cells, parameters.formula)


@click.command("parameters")
@click.option(
    "--grid",
    type=click.Choice(["paper", "mini"]),
    required=True,
    help="The grid that make was given, or has read from params.yaml.",
)
@BUILD
def save_parameters(grid: str, build: Path) -> None:
    """Check and save parameters (called by make).

    Make runs this first. The parameters of each step are saved in BUILD/params; a file is
    written only if its content changes, so that make repeats no step whose parameters are
    unchanged.
    """
    parameters = read_parameters()
    if parameters.grid != grid:
        raise ValueError(
            f"{PARAMS}: the grid is {parameters.grid!r:.100}; write `grid: paper` or `grid: mini`"
            " on a line of its own"
        )
    _check_parameters(parameters)
    with locked(build):
        for step in STEPS:
            write_parameters(build, step, parameters)
