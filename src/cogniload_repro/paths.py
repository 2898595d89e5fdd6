"""Where the committed data are: in the checkout, or in an installed package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT_DATA = _PACKAGE.parents[1] / "data"

#: Folder that holds ``published/``, ``reconstructed/`` and ``outputs/``.
DATA = _CHECKOUT_DATA if (_CHECKOUT_DATA / "published").is_dir() else _PACKAGE / "_data"
PUBLISHED = DATA / "published"
ICLR2026 = PUBLISHED / "iclr2026"
RECONSTRUCTED = DATA / "reconstructed"
#: Real responses that come with the package.
ANSWERS = DATA / "outputs"
