"""Say why this Python cannot build the environment; any Python can read this file.

Usage: python check_python.py [FOLDER], the environment of this checkout, which need not exist yet.
"""

import os
import sys

REMEDY = "\nName a Python of 3.11.4 or later that has venv, such as PYTHON=python3.12"

if sys.version_info < (3, 11, 4):  # archives are unpacked by tarfile's filter
    version = ".".join(map(str, sys.version_info[:3]))
    sys.exit(sys.executable + " is Python " + version + ", which is too old." + REMEDY)
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    hint = " lacks venv (on Debian and Ubuntu: apt install python3-venv)."
    sys.exit(sys.executable + hint + REMEDY)

folder = "".join(sys.argv[1:])
ready = os.path.join(folder, ".ready")
if folder and os.path.exists(ready):
    with open(ready) as file:
        checkout = file.read().strip()
    if checkout not in ("", os.path.realpath(".")):
        remedy = (
            "this checkout has moved: remove the environment (rm -rf " + folder + ")"
        )
        if os.path.isdir(checkout):
            remedy = "choose another folder for this one, such as VENV=.venv"
        sys.exit(folder + " is the environment of " + checkout + "; " + remedy)
