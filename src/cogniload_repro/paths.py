"""Where the project's committed data lie, in a checkout and in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]

#: Folder that holds ``published/`` and ``reconstructed/``.
DATA = _CHECKOUT / "data" if (_CHECKOUT / "data" / "published").is_dir() else _PACKAGE / "_data"
PUBLISHED = DATA / "published"
ICLR2026 = PUBLISHED / "iclr2026"
RECONSTRUCTED = DATA / "reconstructed"
