"""Say why this Python cannot build the environment; any Python can read this file."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    version = ".".join(map(str, sys.version_info[:3]))
    sys.exit(sys.executable + " is Python " + version + ", which is too old.")
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit(
        sys.executable + " lacks venv (on Debian and Ubuntu: apt install python3-venv)."
    )
