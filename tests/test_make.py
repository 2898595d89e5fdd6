"""The chain as make runs it: what has changed is made again and nothing else.

What is given holds for one call.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from harness import write_lines

from cogniload_repro.commands.params import Parameters
from cogniload_repro.puzzles.generate import draw_puzzle

ROOT = Path(__file__).parents[1]
PUZZLES = [draw_puzzle(20, d, 10, number) for d in (1, 5) for number in (7, 8)]
STEPS = ["download-outputs", "score", "fit", "render"]
GIVEN = tuple(name.upper() for name in vars(Parameters()))
KERNEL = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
}
#: A chapter that takes a formula, and shows and writes it.
CHAPTER = {
    "title": "# The page",
    "parameters": 'build = "../data/build"\nformula = "none"',
    "show": "import pandas as pd\n\nimport cogniload_repro as cl\n\n"
    'cl.Page(cl.Build(build)).csv(pd.DataFrame({"formula": [formula]}), "formulas", formula)',
}


def write_answers(path, *models, right=True):
    """Write one answer of each model to each puzzle.

    A source with which every step takes as long as its imports.
    """
    rows = [
        {
            "model": model,
            "name": puzzle.name,
            "response": f"{puzzle.poi}: {puzzle.solution if right else 'nothing'}",
        }
        for model in models
        for puzzle in PUZZLES
    ]
    return write_lines(path, rows)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which make finds the package, and has nothing built; its name is not easy."""
    return make_checkout(tmp_path / "a b é'c")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A checkout in which all is made, with an added source, and a copy of it."""
    folder = make_checkout(tmp_path_factory.mktemp("made") / "a b é'c")
    (folder / "main.jsonl").rename(
        folder.parent / "main.jsonl"
    )  # a copy would be another source
    write_answers(folder.parent / "a.jsonl", "mine")
    (folder / "params.yaml").write_text("source: ../main.jsonl\nadd: [../a.jsonl]\n")
    assert steps(output_of(make(folder, "reproduce"))) == STEPS
    return folder, copy_folder(folder, folder.with_name("copy"))


@pytest.fixture
def made(whole):
    """The same for every test, at the same place, which its parameters name."""
    folder, copy = whole
    shutil.rmtree(folder)
    return copy_folder(copy, folder)


def copy_folder(folder, target):
    """Copy a folder with the times of its folders, which make looks at."""
    subprocess.run(["cp", "-a", folder, target], check=True)
    return target


def make_checkout(folder):
    """Make one, with a notebook and a book of its own."""
    (folder / "data").mkdir(parents=True)
    committed = [
        place.relative_to(ROOT)
        for place in (ROOT / "data").iterdir()
        if not place.name.startswith(("build", "local"))
    ]
    locks = ("requirements.lock", "requirements-uv.lock")
    for name in ("src", "docs", "scripts", "pyproject.toml", *locks, *committed):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "Makefile", folder)
    write_answers(folder / "main.jsonl", "theirs")
    (folder / "params.yaml").write_text("source: main.jsonl\n")
    shutil.copytree(
        ROOT / "book" / "_ext",
        folder / "book" / "_ext",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (folder / "book" / "_config.yml").write_text(
        "title: Small\nexecute: {execute_notebooks: 'off'}\nonly_build_toc_files: true\n"
        "sphinx: {local_extensions: {offline: _ext}}\n"
    )
    (folder / "book" / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nparts: [{chapters: [{file: notebooks/page}]}]\n"
    )
    (folder / "book" / "intro.md").write_text("# Small\n")
    (folder / "notebooks").mkdir()
    write_chapter(folder / "notebooks" / "page.ipynb", CHAPTER)
    return folder


def write_chapter(path, cells):
    """Write a notebook of these cells, by id."""
    written = []
    for name, source in cells.items():
        new = (
            nbformat.v4.new_markdown_cell
            if name == "title"
            else nbformat.v4.new_code_cell
        )
        tags = {"tags": ["parameters"]} if name == "parameters" else {}
        written.append(new(source, id=name, metadata=tags))
    nbformat.write(nbformat.v4.new_notebook(cells=written, metadata=KERNEL), path)


def command(*arguments, python=sys.executable):
    """The words of a call of make with this Python."""
    return ["make", "VENV=", f"PYTHON={python}", "GRID=mini", "JOBS=2", *arguments]


def environment(**variables):
    """The environment without what an outer make has handed on."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MODEL", *GIVEN}
    outer |= {f"COGNILOAD_{name}" for name in GIVEN}
    inner = {name: value for name, value in os.environ.items() if name not in outer}
    return inner | variables


def make(folder, *arguments, words=None, **variables):
    """Run make there."""
    return subprocess.run(
        words or command(*arguments),
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def output_of(done):
    """What make has printed, which has gone well."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def steps(text):
    """The commands that make has run."""
    return [
        line.split("cogniload_repro ")[1].split()[0]
        for line in text.splitlines()
        if "-m cogniload_repro" in line
    ]


def runs(text):
    """The chapters that render has run."""
    return re.findall(r"^  (\w+)$", text, re.MULTILINE)


def read_counts(checkout):
    """Right answers by model."""
    cells = pd.read_parquet(checkout / "data/build-mini/cells.parquet")
    return cells.groupby("model")["correct"].sum().to_dict()


def contents(build):
    """What a build holds, but for what programs keep for themselves."""
    private = {".lock", "doctrees", "__pycache__"}
    files = [
        path
        for path in build.rglob("*")
        if path.is_file() and not private & set(path.parts)
    ]
    return {path.relative_to(build).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("grid", ["GRID=small", "GRID="])
def test_an_unknown_grid_is_refused(checkout, grid):
    """A build in the folder of another grid would be something else than what is meant."""
    done = make(checkout, "help", grid)
    assert done.returncode == 2
    assert "choose GRID=paper or GRID=mini" in done.stderr


def test_a_variable_of_the_shell_is_no_parameter_and_an_unknown_one_is_refused(
    checkout,
):
    """MODELS or SOURCE may mean something else in a shell; SORCE= would be lost in silence."""
    shell = {"SOURCE": "/nowhere", "MODELS": "nobody"}
    output_of(make(checkout, "download-outputs", **shell))
    for variable in ("SORCE=main.jsonl", "source=main.jsonl"):
        done = make(checkout, "score", variable)
        name = variable.partition("=")[0]
        assert f"unknown variable {name}; a call may set GRID JOBS" in done.stderr
        assert done.returncode == 2


#: A Python that says of itself what is written in place of the braces.
OTHER_PYTHON = """#!/bin/sh
exec {python} -c 'import sys; {claim}; exec(open(sys.argv[1]).read())' "$@"
"""


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("sys.version_info = (3, 9, 2)", "3.9.2, which is too old"),
        ('sys.modules["ensurepip"] = None', "lacks venv"),
    ],
)
def test_a_python_that_cannot_do_is_refused_before_anything_is_installed(
    checkout, claim, reason
):
    """The sentence says what is wrong, and how to name another one."""
    python = checkout.parent / "python"
    python.write_text(OTHER_PYTHON.format(python=sys.executable, claim=claim))
    python.chmod(0o755)
    for venv in ("VENV=", "VENV=new"):
        done = make(checkout, words=["make", venv, f"PYTHON={python}", "score"])
        assert done.returncode == 2
        assert reason in done.stderr
        assert "PYTHON=python3.12" in done.stderr
    assert not (checkout / "new").exists()
    assert not (checkout / "data/build").exists()


def test_answers_are_added_for_one_call(made):
    """A plain call goes back to params.yaml; a name with blanks and signs is no difficulty."""
    build = made / "data/build-mini"
    run = partial(make, made)
    before = contents(build)
    source = write_answers(made / "an swers #$é'.jsonl", "My Model 7B", "$$", "#1")
    variable = f'ADD="{source.name}"'
    output = output_of(run("score", variable))
    assert re.search(re.escape(source.name) + r": responses: \d+, models: 3", output)
    assert read_counts(made)["My Model 7B"] == 4
    assert steps(output_of(run("score", variable))) == []

    write_answers(source, "My Model 7B", "$$", "#1", right=False)
    output_of(run("score", variable))
    assert read_counts(made)["My Model 7B"] == 0
    output_of(run("score"))
    assert contents(build) == before


def test_a_refused_source_changes_nothing(made):
    """Not the outputs, and not what is made of them; its rejected rows can be read."""
    build = made / "data/build-mini"
    run = partial(make, made)
    before = contents(build)
    bad = write_lines(made / "bad.jsonl", ["{"])
    for call in (f"ADD={bad.name}", f"SOURCE={bad.name}", "ADD=reconstructed"):
        done = run("score", call)
        is_named = "rejected rows: 1" in done.stderr or "reconstructed" in call
        assert (done.returncode, is_named) == (2, True), done.stderr
        kept = {name for name in before if not name.startswith(("inputs/", "rejected"))}
        after = contents(build)
        assert {name: after[name] for name in kept} == {
            name: before[name] for name in kept
        }


def test_the_book_follows_its_notebooks_and_what_is_given(made):
    """A changed chapter is run, and nothing else; a failing cell is named.

    A formula holds for one call.
    """
    source = made / "notebooks/page.ipynb"
    copy = made / "data/build-mini/notebooks/page.ipynb"
    page = made / "data/build-mini/book/_build/html/notebooks/page.html"
    run = partial(make, made)
    (made / "book/intro.md").write_text("# Small\n\nAnother page.\n")
    write_chapter(source, CHAPTER | {"title": "# Another title"})
    assert runs(output_of(run("render"))) == []  # which needs no text
    assert "Another page." in page.parents[1].joinpath("intro.html").read_text("utf-8")
    assert b"Another title" in page.read_bytes()

    output = output_of(run("render", "FORMULA=correct ~ d + rho", "MODELS=theirs"))
    assert steps(output) == ["render"]
    for file in (copy, page):
        assert b"Another title" in file.read_bytes()
        assert b"correct ~ d + rho" in file.read_bytes()
    notice = "formula: correct ~ d + rho"  # at the top
    assert notice in page.read_text("utf-8")

    write_chapter(source, CHAPTER | {"show": "raise ValueError('x' * 9000)"})
    failed = run("render")
    assert "page.ipynb, cell [3] failed: ValueError: xxx" in failed.stderr
    assert failed.returncode == 2
    assert len(failed.stderr) < 1500


def test_a_removed_notebook_is_missed(made):
    """Make says which page has no source."""
    source = made / "notebooks/page.ipynb"
    source.unlink()
    assert "'notebooks/page'" in make(made, "render").stderr
    write_chapter(source, CHAPTER)


def test_a_lost_book_is_built_again(made):
    """From the chapters that are there."""
    before = contents(made / "data/build-mini")
    (made / "data/build-mini/book/_build/html/index.html").unlink()
    output = output_of(make(made, "reproduce"))
    assert (steps(output), runs(output)) == (["render"], [])
    assert contents(made / "data/build-mini") == before


@pytest.mark.parametrize(
    ("damaged", "step", "products"),
    [
        ("outputs/mine.parquet", "score", ["scores/mine.parquet", "cells.parquet"]),
        pytest.param("cells.parquet", "fit", ["aic.parquet"], marks=pytest.mark.slow),
        pytest.param(
            "sources.json", "score", ["cells.parquet"], marks=pytest.mark.slow
        ),
    ],
)
def test_a_damaged_file_of_a_build_is_named_with_the_remedy(
    made, damaged, step, products
):
    """Where the step is done again that reads it.

    Once it is removed, make ends as if nothing had been.
    """
    build = made / "data/build-mini"
    before = contents(build)
    (build / damaged).write_bytes((build / damaged).read_bytes()[:-9])
    for product in products:
        (build / product).unlink()
    done = make(made, step)
    assert done.returncode == 2
    is_named = re.search(rf"{damaged} .*delete it|remove .*{damaged}", done.stderr)
    assert is_named, done.stderr
    (build / damaged).unlink()
    if damaged.startswith("outputs/"):
        (build / "sources.json").unlink()
    output_of(make(made, step))
    assert contents(build) == before


#: Python as make calls it, which kills make and all that it has started before a write of one step.
KILLED = """
import os, runpy, signal, sys

replace, writes = os.replace, []

def count(*paths):
    writes.append(paths)
    if len(writes) == int(os.environ["KILL_AT"]):
        os.killpg(os.getpgid(0), signal.SIGKILL)
    replace(*paths)

if os.environ["KILL_STEP"] in sys.argv:
    os.replace = os.rename = count
sys.argv = sys.argv[1:]
if sys.argv[0] == "-m":
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
#: Writes before which a step is killed: all steps have more than the first and fewer than the last.
KILLS = (1, 3, 21, 1000)


@pytest.mark.parametrize(
    ("step", "result"),
    [
        ("render", "book/_build/html/index.html"),
        pytest.param("download-outputs", "sources.json", marks=pytest.mark.slow),
        pytest.param("score", "cells.parquet", marks=pytest.mark.slow),
        pytest.param("fit", "fidelity.csv", marks=pytest.mark.slow),
    ],
)
def test_a_kill_at_any_write_changes_nothing(step, result, made):
    """Make is killed with all that it started: the next call ends as an undisturbed one does."""
    build = made / "data/build-mini"
    before = contents(build)
    script = made.parent / "killed.py"
    script.write_text(KILLED)
    python = made.parent / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
    python.chmod(0o755)
    for write in KILLS:
        (build / result).unlink(missing_ok=True)
        if step == "render":
            for note in build.glob("inputs/chapters/*.json"):
                note.unlink()  # so that the chapters run again
        process = subprocess.Popen(
            command(step, python=python),
            cwd=made,
            env=environment(KILL_STEP=step, KILL_AT=str(write)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if process.wait() != -signal.SIGKILL:
            break  # it has ended before so many writes
    assert write > KILLS[0]
    assert process.returncode == 0
    assert contents(build) == before


def test_clean_leaves_downloads_and_environments(tmp_path):
    """What is a download stays, with its folder; everything else of both builds goes."""
    for name in ("Makefile", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    remaining = {
        tmp_path / "data/build/downloads/outputs.zip",
        tmp_path / ".venv/bin/python",
        tmp_path / "data/models.csv",
    }
    gone = {
        tmp_path / "data/build/cells.csv",
        tmp_path / "data/build/params/a.yaml",
        tmp_path / "data/build-mini/a/b",
    }
    for path in remaining | gone:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    committed = {tmp_path / "Makefile", tmp_path / "params.yaml"}
    assert {
        path for path in tmp_path.rglob("*") if path.is_file()
    } == remaining | committed
    assert not (tmp_path / "data/build-mini").exists()


#: A time long ago, and one to come.
OLD = 1_000_000_000
FUTURE = 4_000_000_000


def change(path, old, new, time=OLD):
    """Replace words of a file; it keeps an old modification time, as after a copy."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    os.utime(path, (time, time))


def own_copy(link):
    """Replace a link to the repository by a copy that a test may change."""
    target = link.resolve()
    link.unlink()
    shutil.copytree(target, link, ignore=shutil.ignore_patterns("__pycache__"))


def html_of(checkout, page):
    """The HTML of a page of the book."""
    return (checkout / f"data/build-mini/book/_build/html/{page}.html").read_text(
        "utf-8"
    )


def test_changes_are_seen_whatever_the_times_say(made):
    """A notebook and a page with old times, in a build that was newer than now."""
    build = made / "data/build-mini"
    for path in [build, *build.rglob("*")]:
        os.utime(path, (FUTURE, FUTURE))
    output = output_of(make(made, "reproduce"))
    assert (steps(output), runs(output)) == (STEPS, [])  # all but the chapters
    assert steps(output_of(make(made, "reproduce"))) == []
    change(made / "book/intro.md", "# Small", "# Small\n\nAnother sentence.")
    output = output_of(make(made, "reproduce"))
    assert (steps(output), runs(output)) == (["render"], [])
    assert "Another sentence." in html_of(made, "intro")
    change(made / "notebooks/page.ipynb", "# The page", "# A title")
    output = output_of(make(made, "reproduce"))
    assert (steps(output), runs(output)) == (["render"], [])
    assert "A title" in html_of(made, "notebooks/page")
    assert "A title" in html_of(made, "intro")
    change(made / "notebooks/page.ipynb", '\\"formulas\\"', '\\"other\\"')
    output = output_of(make(made, "reproduce"))
    assert (steps(output), runs(output)) == (["render"], ["page"])
    assert steps(output_of(make(made, "reproduce"))) == []


def test_chapters_that_ran_before_a_failure_are_not_run_again(made):
    """Only the one that failed, once it is corrected."""
    toc = made / "book/_toc.yml"
    change(
        toc, "{file: notebooks/page}", "{file: notebooks/page}, {file: notebooks/more}"
    )
    write_chapter(made / "notebooks/more.ipynb", CHAPTER | {"show": "1 / 0"})
    change(made / "notebooks/page.ipynb", "# The page", "# A title")
    change(made / "notebooks/page.ipynb", '\\"formulas\\"', '\\"other\\"')
    failed = make(made, words=[*command("render"), "JOBS=1"])
    assert "more.ipynb, cell [3] failed" in failed.stderr
    assert runs(failed.stdout) == ["page"]
    write_chapter(made / "notebooks/more.ipynb", CHAPTER | {"show": "1 + 1"})
    assert runs(output_of(make(made, "render"))) == ["more"]
    assert "A title" in html_of(made, "notebooks/page")


@pytest.mark.slow
def test_changed_code_and_data_are_seen_whatever_their_times_say(made):
    """Code of the book runs the chapters again; other code, and data, all steps."""
    own_copy(made / "src")
    own_copy(made / "data/companions")
    for name in ("published", "reconstructed", "outputs"):
        own_copy(made / "data" / name)
    assert steps(output_of(make(made, "reproduce"))) == []
    package = made / "src/cogniload_repro"
    for file, again in (
        (package / "book/style.py", ["render"]),
        (package / "scoring/cells.py", STEPS),
        (made / "data/published/README.md", STEPS),
    ):
        change(file, "a", "a", OLD)
        assert steps(output_of(make(made, "reproduce"))) == []
        change(file, file.read_text("utf-8"), file.read_text("utf-8") + "\n")
        output = output_of(make(made, "reproduce"))
        assert (steps(output), "page" in runs(output)) == (again, True)


def test_a_restored_backup_is_seen(made):
    """An older build, with the times that it had."""
    build = made / "data/build-mini"
    backup = copy_folder(build, made.parent / "backup")
    change(made / "notebooks/page.ipynb", "# The page", "# A title")
    output_of(make(made, "reproduce"))
    after = contents(build)
    shutil.rmtree(build)
    copy_folder(backup, build)
    shutil.rmtree(backup)
    assert steps(output_of(make(made, "reproduce"))) == ["render"]
    assert contents(build) == after


def test_chapters_and_pages_come_and_go_without_python(made):
    """A notebook and a page in the table of contents are in the book, and go with their files."""
    toc = made / "book/_toc.yml"
    before = toc.read_text("utf-8")
    state = contents(made / "data/build-mini")
    write_chapter(made / "notebooks/more.ipynb", CHAPTER | {"show": "1 + 1"})
    (made / "book/extra.md").write_text("# Extra\n")
    change(
        toc,
        "{file: notebooks/page}",
        "{file: notebooks/page}, {file: notebooks/more}, {file: extra}",
    )
    output = output_of(make(made, "reproduce"))
    assert runs(output) == ["more"]
    assert "Extra" in html_of(made, "extra")
    (made / "notebooks/more.ipynb").unlink()
    (made / "book/extra.md").unlink()
    toc.write_text(before, "utf-8")
    assert runs(output_of(make(made, "reproduce"))) == []
    after = contents(made / "data/build-mini")
    assert after.keys() - state.keys() == {"inputs/chapters/more.json"}
    assert state.keys() <= after.keys()


def test_one_process_and_two_write_the_same_bytes(made):
    """The whole chain, from nothing."""
    build = made / "data/build-mini"
    before = contents(build)
    shutil.rmtree(build)
    output_of(make(made, words=[*command("reproduce"), "JOBS=1"]))
    assert contents(build) == before
