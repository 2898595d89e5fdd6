"""Rejected rows: why a row is no response, and the list that a reader gets."""

from typing import NamedTuple

#: The page that says what is read, and how to convert what is not.
IMPORT_PAGE = "the page Import says what is read, and how to convert the rest"

MALFORMED = "malformed row"
MISSING_FIELD = "missing field"
DAMAGED_CELL = "damaged cell"
BAD_VALUE = "bad value"
UNKNOWN_SHAPE = "unknown shape"
FAILED = "failed request"
UNKNOWN_PUZZLE = "unknown puzzle"
DUPLICATE = "duplicate"
UNREADABLE = "unreadable file"
#: Reasons of what is listed, but not counted as rejected: other files, and failed requests whose
#: puzzle the source answers elsewhere.
NOT_READ = "not read"
ANSWERED = "answered elsewhere"


class RowError(Exception):
    """Why a row cannot be used: one of the reasons above, details, and its puzzle and model."""

    def __init__(
        self,
        reason: str,
        detail: str,
        name: str | None = None,
        model: str | None = None,
    ):
        text = detail[:1000].encode("utf-8", "replace").decode()
        super().__init__(reason, text, name, model)


class Rejected(NamedTuple):
    """A row that cannot be used (0: the whole file); its puzzle and its model, where known."""

    file: str
    row: int
    reason: str
    detail: str
    name: str | None = None
    model: str | None = None
