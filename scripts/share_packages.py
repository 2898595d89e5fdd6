"""Let another environment see the packages of this one, and this checkout's code.

Usage: python share_packages.py PYTHON, the interpreter of the other environment. JupyterLab has an
environment of its own, and its kernel runs the chapters, also where an editor starts it.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

CODE = "import sysconfig; print(sysconfig.get_path('purelib'))"

packages = sysconfig.get_path("purelib")
# a path file that is found by way of another one is not read, so the code needs a line of its own
sources = Path(__file__).resolve().parents[1] / "src"
target = subprocess.check_output([sys.argv[1], "-c", CODE], text=True).strip()
Path(target, "cogniload.pth").write_text(f"{packages}\n{sources}\n", encoding="utf-8")
