"""Rejected rows: why a row is no response, and the list that a reader gets."""

from typing import Literal, NamedTuple

#: The page that says what is read, and how to convert what is not.
IMPORT_PAGE = "the page Import says what is read, and how to convert the rest"

#: Why a row or a file is not used. The last two are listed, but do not count as rejected: other
#: files, and failed requests whose puzzle the source answers elsewhere.
Reason = Literal[
    "malformed row",
    "missing field",
    "damaged cell",
    "bad value",
    "unknown shape",
    "failed request",
    "unknown puzzle",
    "duplicate",
    "unreadable file",
    "not read",
    "answered elsewhere",
]
LISTED = ("not read", "answered elsewhere")


class RowError(Exception):
    """Why a row cannot be used: a reason, details, and its puzzle and model where known."""


class Rejected(NamedTuple):
    """A row that cannot be used (0: the whole file); its puzzle and its model, where known."""

    file: str
    row: int
    reason: Reason
    detail: str
    name: str | None = None
    model: str | None = None
