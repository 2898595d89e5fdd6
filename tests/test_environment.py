"""The environments: what make refuses, what an editor's kernel sees, and the bounds of versions."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import pytest
import yaml
from jupyter_client.manager import KernelManager
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
INSTALLED = ("dev", "cluster", "sampling")
#: The requirements of a build and of the tests.
REQUIREMENTS = [
    Requirement(text)
    for text in [*PROJECT["dependencies"], *chain(*map(EXTRAS.get, INSTALLED))]
    if not text.startswith(PROJECT["name"])
]

CODE = """
import cogniload_repro as cl
print(len(cl.fit(cl.load_cells(models=["QwQ-32B"]), "correct ~ d")))
"""


@pytest.fixture
def checkout(tmp_path):
    """What make reads before it makes an environment."""
    folder = tmp_path / "here"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "scripts" / "check_python.py", folder / "scripts")
    return folder


def make(folder, *words):
    """Run make there as if nobody had called it."""
    outer = ("MAKE", "MFLAGS", "COGNILOAD_")
    inner = {
        name: os.environ[name] for name in os.environ if not name.startswith(outer)
    }
    command = ["make", f"PYTHON={sys.executable}", *words]
    return subprocess.run(
        command, cwd=folder, env=inner, capture_output=True, text=True, check=False
    )


def write_environment(folder, checkout):
    """Write what make keeps of the environment of a checkout."""
    folder.mkdir(parents=True)
    (folder / ".ready").write_text(f"{checkout}\n", encoding="utf-8")


def test_the_environment_of_a_checkout_behind_a_link_is_its_own(checkout):
    """Home folders behind a link are usual."""
    write_environment(checkout / ".venv", checkout.resolve())
    link = checkout.with_name("link")
    link.symlink_to(checkout)
    for folder in (checkout, link):
        assert make(folder, "check-python").returncode == 0


def test_the_environment_of_a_moved_checkout_is_to_be_removed(checkout):
    """Its paths are in it. The list of targets and `make clean` still work."""
    write_environment(checkout / ".venv", checkout.with_name("before"))
    done = make(checkout, "check-python")
    assert done.returncode == 2
    assert "remove the environment (rm -rf .venv)" in done.stderr
    assert make(checkout, "help").returncode == 0
    assert make(checkout, "distclean").returncode == 0
    assert make(checkout, "check-python").returncode == 0


def test_the_environment_of_another_checkout_is_left_alone(checkout):
    """It has another checkout's code in it, and is still in use there."""
    other = checkout.with_name("other")
    write_environment(other / ".venv", other)
    done = make(checkout, "check-python", "VENV=../other/.venv")
    assert done.returncode == 2
    assert f"is the environment of {other}; choose another folder" in done.stderr


@pytest.mark.parametrize(
    "name", ["a b", "-a", *(f"a{sign}b" for sign in ":;#$%'`*(=~")]
)
def test_a_name_that_make_cannot_have_is_refused(checkout, name):
    """In a sentence, for make's own is not understood, and $b would be lost."""
    assert f"VENV is '{name}'; " in make(checkout, "env", f"VENV={name}").stderr


@pytest.mark.parametrize("variable", ["PYTHON", "MODEL"])
def test_a_path_of_which_make_would_lose_a_part_is_refused(checkout, variable):
    """It would read a variable $b of its own."""
    done = make(checkout, "check-python", f"{variable}=/x/a$b")
    assert f"{variable}=/x/a$b has a $; rename it" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize("name", [".venv", "../a_1.2/b", "", "é,b"])
def test_other_names_are_taken(checkout, name):
    """None stands for the Python that is active."""
    assert make(checkout, "check-python", f"VENV={name}").returncode == 0


def test_settings_of_pip_that_lead_elsewhere_stay_outside(checkout, monkeypatch):
    """Where packages come from is the reader's choice, where they go is not."""
    kept = ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CERT", "PROXY")
    gone = ("TARGET", "PREFIX", "ROOT", "REQUIRE_VIRTUALENV", "CONSTRAINT", "DRY_RUN")
    for name in (*kept, *gone):
        monkeypatch.setenv(f"PIP_{name}", "reader")
    (checkout / "probe.mk").write_text("probe:\n\t@env\n", encoding="utf-8")
    printed = make(checkout, "-f", "Makefile", "-f", "probe.mk", "probe").stdout
    names = re.findall("^PIP_(.*)=reader$", printed, re.M)
    assert set(names) == set(kept)


def test_a_kernel_of_an_editor_has_the_package(tmp_path):
    """An editor starts the kernel of .venv-lab without make's variables, in any folder."""
    environment = tmp_path / "lab"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment], check=True
    )
    python = environment / "bin" / "python"
    share = ROOT / "scripts" / "share_packages.py"
    subprocess.run([sys.executable, share, python], check=True)
    inner = {
        name: text for name, text in os.environ.items() if not name.startswith("PYTHON")
    }
    manager = KernelManager()
    manager.kernel_spec.argv = [
        str(python),
        "-m",
        "ipykernel_launcher",
        "-f",
        "{connection_file}",
    ]
    manager.start_kernel(cwd=str(tmp_path), env=inner)
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        printed = []
        reply = client.execute_interactive(
            CODE, output_hook=lambda message: printed.append(message["content"])
        )
        assert reply["content"]["status"] == "ok", printed
        assert {"name": "stdout", "text": "2\n"} in printed
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_the_lock_and_the_environment_of_conda_keep_the_bounds(requirement):
    """The three lists of packages agree; the local environment is that of the lock."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pinned = re.findall(rf"^{requirement.name}==([\w.]+)", lock, re.MULTILINE)
    assert pinned
    assert list(requirement.specifier.filter(pinned)) == pinned
    assert requirement.specifier.contains(version(requirement.name))
    conda = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    names = {Requirement(text).name: text for text in conda["dependencies"]}
    assert Requirement(names[requirement.name]).specifier == requirement.specifier
