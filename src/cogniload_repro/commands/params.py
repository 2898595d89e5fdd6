"""The parameters of a build, as options of commands.

click takes each from the call, else from the environment, where make puts them, else from
params.yaml (`cli.main`), else the paper's.
"""

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from cogniload_repro.importing.addresses import is_address, without_secrets

RECONSTRUCTED_SOURCE = "reconstructed"
#: The file at the top of a checkout that sets the parameters of a build.
PARAMS = Path("params.yaml")
#: Parameters that the notice at the top of a book names.
_SHOWN = ("source", "add", "formula", "family", "models")


@dataclass(frozen=True)
class Parameters:
    """The parameters of a build; the defaults are the paper's, and paths are absolute."""

    grid: str = "paper"
    source: str = RECONSTRUCTED_SOURCE
    add: tuple[str, ...] = ()
    max_rejected: int = 0
    formula: str = "correct ~ d + log10_N + rho + I(rho**2)"
    family: str = "logit"
    models: tuple[str, ...] = ()

    def changes(self) -> dict[str, Any]:
        """Return the parameters that differ from the paper's."""
        paper = vars(Parameters())
        return {
            name: value for name, value in vars(self).items() if value != paper[name]
        }

    def sources(self) -> tuple[str, ...]:
        """Return the sources of real outputs, in the order given."""
        first = () if self.source == RECONSTRUCTED_SOURCE else (self.source,)
        return first + self.add

    def notice(self) -> str:
        """Return a sentence that lists the parameters that differ from the paper's, or ""."""
        words = []
        for name, value in self.changes().items():
            if name in _SHOWN:
                texts = value if isinstance(value, tuple) else (value,)
                words.append(f"{name}: {', '.join(map(label_of, texts))}")
        if not words:
            return ""
        return (
            f"The parameters of this book differ from the paper's: {'; '.join(words)}."
        )


class _Source(click.ParamType):
    """An address, or a path, which becomes absolute; several are separated as in a shell."""

    name = "source"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        if value == RECONSTRUCTED_SOURCE or is_address(value):
            return value
        if not os.path.exists(value):
            remedy = "name a folder, a file or an address, and quote a path with spaces"
            self.fail(f"no outputs at {value}; {remedy}", param, ctx)
        return os.path.abspath(value)

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv] if os.path.exists(rv) else shlex.split(rv)


class _Name(click.ParamType):
    """A text; several are separated by commas."""

    name = "name"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        return value.strip()

    def split_envvar_value(self, rv: str) -> list[str]:
        return rv.split(",")


_KINDS: dict[str, dict[str, Any]] = {
    "grid": {
        "type": _Name(),
        "help": "Grid of the counts: paper, mini, or 'N=20,50 ratio=5 d=1,3'.",
    },
    "source": {
        "type": _Source(),
        "help": "`reconstructed`: the paper's models as counts, and the committed answers of a "
        "real model. Or real outputs alone: a folder, a file, an archive, or an https:// address, "
        "followed by #sha256=... if the checksum is known.",
    },
    "add": {
        "type": _Source(),
        "multiple": True,
        "help": "Another source, whose models are added (may be repeated).",
    },
    "max_rejected": {
        "type": click.IntRange(min=0),
        "help": "Maximum number of rejected rows per source.",
    },
    "formula": {
        "type": _Name(),
        "help": "The regression of the chapters that have one, such as 'correct ~ d * log10_N'.",
    },
    "family": {
        "type": _Name(),
        "help": "Link: logit, probit, cloglog or quasi-binomial.",
    },
    "models": {
        "type": _Name(),
        "multiple": True,
        "help": "Show this model in the chapters with regressions (may be repeated).",
    },
}


def takes(*names: str) -> Callable:
    """Return a decorator that gives a command some parameters as options."""

    def decorate(command: Callable) -> Callable:
        for name in reversed(names):
            option = click.option(
                f"--{name.replace('_', '-')}",
                default=getattr(Parameters, name),
                envvar=f"COGNILOAD_{name.upper()}",
                **_KINDS[name],
            )
            command = option(command)
        return command

    return decorate


def read_file() -> dict[str, Any]:
    """Return the values in params.yaml, if there is one; ValueError names an unknown parameter."""
    if not PARAMS.is_file():
        return {}
    try:
        values = yaml.safe_load(PARAMS.read_text(encoding="utf-8")) or {}
        unknown = ", ".join(values.keys() - vars(Parameters()).keys())
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{PARAMS}: {error}; write lines such as `family: logit`"
        ) from None
    if unknown:
        known = ", ".join(vars(Parameters()))
        raise ValueError(f"{PARAMS}: unknown {unknown}; the parameters are: {known}")
    return values


def label_of(text: str) -> str:
    """Return a value for messages: a path without its folders, an address without passwords."""
    if is_address(text):
        return without_secrets(text)
    return Path(text).name if os.path.isabs(text) else text


def check_parameters(parameters: Parameters) -> None:
    """Reject impossible parameters now, before the earlier steps have been run for nothing."""
    changed = parameters.changes()
    if parameters.models and not parameters.sources():
        from cogniload_repro.models import find_model

        for model in parameters.models:
            find_model(model)
    if changed.keys() & {"formula", "family"}:
        from cogniload_repro.regression import design, formulas, glm

        glm.check_family(parameters.family)
        cells = design.GRID.assign(prompt_mean=design.GRID["N"], perturbation="")
        formulas.build_design(cells, parameters.formula)
