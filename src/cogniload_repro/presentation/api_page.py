"""The book's page on the public functions, made of their docstrings."""

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType

import cogniload_repro as cl
from cogniload_repro.presentation import markdown

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_CODE = re.compile(r"``([^`]+)``|`([^`]+)`")
#: Sections whose entries are a name or a type with a description below.
_LISTS = ("Parameters", "Returns", "Yields", "Raises", "Attributes")


def api_page() -> str:
    """Return the page as MyST Markdown: every public name with signature, docstring and examples."""
    package = inspect.getdoc(cl) or ""
    parts = ["# Functions", *_write_section("", package)]
    for name in (name for name in cl.__all__ if not name.startswith("__")):
        thing = getattr(cl, name)
        if isinstance(thing, ModuleType):
            parts += _write_module(name, thing)
        elif callable(thing):
            parts += _write_function(name, thing)
        else:  # a table of names
            parts += [f"## `{name}`", f"By name: {', '.join(map(markdown.code, thing))}."]
    return "\n\n".join(parts) + "\n"


def _write_function(name: str, function: Callable) -> Iterator[str]:
    yield f"## `{name}`"
    given = inspect.signature(function).parameters.values()
    signature = inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in given])
    yield f"```python\ncl.{name}{signature}\n```"
    head, *sections = _SECTION.split(inspect.getdoc(function) or "")
    yield from _write_section("", head)
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        yield f"**{title}**"
        yield from _write_section(title, body)


def _write_module(name: str, module: ModuleType) -> Iterator[str]:
    """List the functions that a module makes, with the first line of what each says."""
    yield f"## `{name}`"
    yield from _write_section("", inspect.getdoc(module) or "")
    own = [one for one in vars(module).values() if inspect.isfunction(one) and one.__module__ == module.__name__]
    lines = [(one.__name__, (inspect.getdoc(one) or "").partition("\n")[0]) for one in own]
    yield "\n".join(f"- `cl.{name}.{one}`: {_text(line)}" for one, line in lines if not one.startswith("_"))


def _write_section(title: str, body: str) -> Iterator[str]:
    """Yield the blocks of a section: paragraphs, entries with descriptions, or examples."""
    blocks = re.split(r"\n(?=\S)", body.strip("\n")) if title in _LISTS else re.split(r"\n\n", body.strip("\n"))
    for block in filter(None, map(str.strip, blocks)):
        if block.startswith(">>>"):
            yield f"```pycon\n{block}\n```"
        elif title in _LISTS:
            entry, _, description = block.partition("\n")
            name, colon, kind = entry.partition(" : ")
            lines = " ".join(inspect.cleandoc(description).split())
            yield f"{f'`{name}`: {_text(kind)}' if colon else _text(name)}\n: {_text(lines) or '–'}"
        else:
            yield _text(" ".join(block.split()))


def _text(line: str) -> str:
    """Return text of a docstring, escaped but for what stands in back quotes, which is code."""
    codes = (markdown.code(found[1] or found[2]) for found in _CODE.finditer(line))
    return re.sub("\0", lambda _: next(codes), markdown.escape(_CODE.sub("\0", line)))
