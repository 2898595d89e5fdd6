"""Say why this Python cannot build the environment; any Python can read this file."""

import sys

REMEDY = "\nName a Python of 3.11 or later that has venv, such as PYTHON=python3.12"

if sys.version_info < (3, 11):  # noqa: UP036
    version = ".".join(map(str, sys.version_info[:3]))
    sys.exit(sys.executable + " is Python " + version + ", which is too old." + REMEDY)
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    hint = " lacks venv (on Debian and Ubuntu: apt install python3-venv)."
    sys.exit(sys.executable + hint + REMEDY)
