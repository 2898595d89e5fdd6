"""The parameters of a build, as options of commands.

click takes each from the call, else from the environment, where make puts them, else from
params.yaml (`read_file`), else the paper's.
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
        sentence = "The parameters of this book differ from the paper's: "
        return f"{sentence}{'; '.join(words)}." if words else ""


class _Source(click.ParamType):
    """An address, or a path, which becomes absolute; several are separated as in a shell."""

    name = "source"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        if value == RECONSTRUCTED_SOURCE or is_address(value):
            return value
        if not os.path.exists(value):
            raise ValueError(
                f"no outputs at {value}; name a folder, a file or an address, and quote a path with"
                " spaces"
            )
        return os.path.abspath(value)

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv] if os.path.exists(rv) else shlex.split(rv)


class _Text(click.ParamType):
    """A text; several are separated by commas."""

    name = "text"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        return value.strip()

    def split_envvar_value(self, rv: str) -> list[str]:
        return rv.split(",")


_TYPES = {"source": _Source(), "add": _Source(), "max_rejected": click.IntRange(min=0)}
_HELP = {
    "grid": "Grid of the counts: paper, mini, or 'N=20,50 ratio=5 d=1,3'.",
    "source": "`reconstructed`: the paper's models as counts, and the committed answers of a real "
    "model. Or real outputs alone: a folder, a file, an archive, or an https:// address, followed "
    "by #sha256=... if the checksum is known.",
    "add": "Another source, whose models are added (may be repeated).",
    "max_rejected": "Maximum number of rejected rows per source.",
    "formula": "The regression of the chapters that have one, such as 'correct ~ d * log10_N'.",
    "family": "Link: logit, probit or cloglog.",
    "models": "Show this model in the chapters with regressions (may be repeated).",
}


def takes(*names: str) -> Callable:
    """Return a decorator that gives a command some parameters as options."""

    def decorate(command: Callable) -> Callable:
        for name in reversed(names):
            default = getattr(Parameters, name)
            option = click.option(
                f"--{name.replace('_', '-')}",
                default=default,
                multiple=isinstance(default, tuple),
                envvar=f"COGNILOAD_{name.upper()}",
                type=_TYPES.get(name, _Text()),
                help=_HELP[name],
            )
            command = option(command)
        return command

    return decorate


def read_file() -> dict[str, Any]:
    """Return the values in params.yaml, if there is one; ValueError says what is wrong with it."""
    if not PARAMS.is_file():
        return {}
    paper = vars(Parameters())
    values: dict[str, Any] = {}
    try:
        content = yaml.load(PARAMS.read_text("utf-8"), yaml.BaseLoader) or {}
        if not isinstance(content, dict):
            raise ValueError("it has no parameters")
        for name, value in content.items():
            if name not in paper:
                raise ValueError(f"unknown {name!r}; use {', '.join(paper)}")
            several = isinstance(paper[name], tuple)
            texts = value if isinstance(value, list) and several else [value]
            if not all(isinstance(text, str) for text in texts):
                raise ValueError(f"{name} is {value!r}")
            if value:
                values[name] = texts if several else value
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        cause = " ".join(str(error).split())
        raise ValueError(
            f"{PARAMS}: {cause}; write lines such as `family: logit`"
        ) from None
    return values


def label_of(text: str) -> str:
    """Return a value for messages: a path without its folders, an address without passwords."""
    return Path(text).name if os.path.isabs(text) else without_secrets(text)
