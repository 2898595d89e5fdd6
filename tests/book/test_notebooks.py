"""Notebooks run alone, and as they are committed."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from cogniload_repro.book.notebooks import run_notebook

_SOURCES = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_KERNEL = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
}


def _write(path, *code, tags=("parameters",)):
    cells = [
        nbformat.v4.new_code_cell(source, id=f"cell-{number}")
        for number, source in enumerate(code)
    ]
    cells[0].metadata["tags"] = list(tags)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=_KERNEL), path)
    return path


def test_a_cell_that_ends_the_notebook_is_named(tmp_path):
    """The sentence says what happened, also without a message of the cell's own."""
    source = _write(tmp_path / "page.ipynb", "n = 1", "exit()")
    words = r"cell \[2\] failed: NotebookEnded; correct"
    with (
        pytest.warns(UserWarning, match="To exit"),
        pytest.raises(ValueError, match=words),
    ):
        run_notebook(source, tmp_path / "out" / "page.ipynb", {})


def test_parameters_reach_the_cells_and_the_page(tmp_path):
    """Values replace the defaults, and are shown below them.

    Paths arrive relative to the notebook's own folder.

    The executed copy tells neither where the files are, nor when a cell ran or how long
    it took.
    """
    defaults = 'n = 1\nbuild = ""\nwords = "ρ + d"  # ρ, or "N"\nrest = None'
    frame = "import pandas\npandas.DataFrame({'n': [n, 2]})"
    code = "print(n, build, words)"
    source = _write(tmp_path / "page.ipynb", defaults, code, frame)
    parameters = {"n": 7, "build": tmp_path.parent / "build", "words": 'ρ * "N"'}
    target = run_notebook(source, tmp_path / "out" / "page.ipynb", parameters)
    executed = nbformat.read(target, as_version=4)
    assert executed.cells[2].outputs[0].text == '7 ../build ρ * "N"\n'
    assert executed.cells[1].metadata["tags"] == ["injected-parameters", "hide-input"]
    assert "n = 7\n" in executed.cells[1].source
    assert executed.cells[0].source == defaults
    assert [cell.id for cell in executed.cells] == [
        "cell-0",
        "injected-parameters",
        "cell-1",
        "cell-2",
    ]
    assert not re.search(
        rf"{tmp_path}|papermill|iopub|start_time|duration",
        target.read_text(encoding="utf-8"),
    )
    again = run_notebook(source, tmp_path / "again" / "page.ipynb", parameters)
    assert again.read_bytes() == target.read_bytes()
    assert b"text/html" in target.read_bytes()
    assert "remove-cell" in run_notebook(
        source, tmp_path / "plain.ipynb", {"build": tmp_path}
    ).read_text("utf-8")


def test_several_names_arrive_as_a_list(tmp_path):
    """As MODELS= gives them; papermill would write them as one text."""
    source = _write(tmp_path / "page.ipynb", "models = None", "print(*models)")
    target = run_notebook(source, tmp_path / "out.ipynb", {"models": ("o3", "gpt-5")})
    executed = nbformat.read(target, as_version=4)
    assert executed.cells[2].outputs[0].text == "o3 gpt-5\n"


@pytest.mark.parametrize("code", ["n / 0", "print('before')\nn / 0", "n ="])
def test_a_failing_cell_is_named_and_nothing_replaced(tmp_path, code):
    """The refusal has notebook, cell number and error.

    The earlier result stays, and a copy with the traceback.
    """
    source = _write(tmp_path / "page.ipynb", "n = 1", "m = 2", code)
    target = tmp_path / "out" / "page.ipynb"
    target.parent.mkdir()
    target.write_text("earlier", encoding="utf-8")
    error = "SyntaxError" if code == "n =" else "ZeroDivisionError: division by zero"
    with pytest.raises(ValueError, match=rf"page\.ipynb, cell \[4\] failed: {error}"):
        run_notebook(source, target, {"n": 5})
    assert target.read_text(encoding="utf-8") == "earlier"
    copy = nbformat.read(target.with_suffix(".failed.ipynb"), as_version=4)
    *outputs, failure = copy.cells[-1].outputs
    assert failure.traceback[0].startswith("Traceback")
    assert [output.text for output in outputs] == ["before\n"] * code.count("before")
    run_notebook(_write(source, "n = 1"), target, {"n": 5})
    assert list(target.parent.iterdir()) == [target]


def _change(source, kind):
    """Change a notebook as editors and papermill do."""
    notebook = json.loads(source.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    if kind == "no kernelspec":
        del notebook["metadata"]["kernelspec"]
    if kind == "no language":
        del notebook["metadata"]["kernelspec"]["language"]
    if kind == "another kernel":
        notebook["metadata"]["kernelspec"]["name"] = "conda-env-mine-py"
    if kind == "injected":
        injected = cells[0] | {
            "id": "injected",
            "metadata": {"tags": ["injected-parameters"]},
        }
        cells.insert(1, injected | {"source": "n = 99"})
    source.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.parametrize(
    "kind",
    [
        *("no kernelspec", "no language", "another kernel", "injected"),
    ],
)
def test_notebooks_of_other_programs_are_run_with_the_same_bytes(tmp_path, kind):
    """As they come from other editors, and from papermill."""
    source = _write(tmp_path / "page.ipynb", "n = 1", "n + 1")
    _change(source, kind)
    first, second = (
        run_notebook(source, tmp_path / name / "page.ipynb", {"n": 5}) for name in "ab"
    )
    assert first.read_bytes() == second.read_bytes()
    executed = nbformat.read(first, as_version=4)
    assert [cell.source.partition("\n")[0] for cell in executed.cells] == [
        "n = 1",
        "# Parameters",
        "n + 1",
    ]
    assert executed.cells[-1].outputs[0].data["text/plain"] == "6"


#: A cell that writes a table by its page.
_TABLE = (
    "import pandas as pd\nimport cogniload_repro as cl\n"
    "cl.Page(cl.Build(build)).csv(pd.DataFrame({'n': [n]}), 't', 'it')"
)


def test_files_of_a_chapter_come_from_a_run_that_ended_well(tmp_path):
    """The copy names them; without a folder there are none."""
    source = _write(tmp_path / "page.ipynb", "n = 1\nbuild = ''", _TABLE)
    build = tmp_path / "build"
    build.mkdir()
    copy = run_notebook(source, build / "page.ipynb", {"build": build}, build)
    table = build / "tables" / "t.csv"
    assert table.read_text() == "n\n1\n"
    assert nbformat.read(copy, as_version=4).metadata["cogniload_run"]["files"] == [
        "tables/t.csv"
    ]
    assert sorted(path.name for path in build.iterdir()) == ["page.ipynb", "tables"]
    assert str(build) not in copy.read_text(encoding="utf-8")

    failing = _write(tmp_path / "page.ipynb", "n = 2\nbuild = ''", _TABLE, "n / 0")
    with pytest.raises(ValueError, match=r"cell \[4\]"):
        run_notebook(failing, build / "page.ipynb", {"build": build}, build)
    assert table.read_text() == "n\n1\n"


# ---- as they are committed ----
#: Decimals and counts in prose that are no results: names, sections, levels of
#: significance, settings.
_NO_RESULTS = re.compile(
    r"""\{\w+(?::\w+)?\}`[^`]*` | `[^`]*` | \$[^$]*\$ | [Ss]ections?\ \d(\.\d+)*
    | (Gemini|Claude)\ [23]\.\d | p\ (of|below)\ 0\.0\d(\ or\ more)?
    | falls\ below\ 0\.05 | p(_LR)?\ [<>≥]\ 0\.\d+ | N\ =\ (20|50|100|250)
    | 100?\ puzzles\ per\ cell | [\w.]+-[\w.-]+ | Algorithms\ 1\ to\ 3 | (ECL|ID|NT)50
    | (Elixir|versions?)\ 1\.1\d(\ and\ 1\.1\d)?
    | \(00[34]\)
    | (Tables?|Figure|columns)(\ \d+(\ to|\ and)?)+\ of | arXiv:\S+
    | multiple\ of\ 1/500 | 140\ whole\ numbers
    | [Pp]er\ 100\ statements | [Oo]f\ every\ 100 | little\ larger\ \(36,864\)
    | 32,768\ tokens | 2,500\ statements
    | \]\([^)]*\) | ICLR\ 20\d\d | CC\ BY\ 4\.0""",
    re.VERBOSE,
)


@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.stem)
def test_committed_notebook_is_clean(source):
    """A committed notebook has no outputs, one cell of parameters, and stable ids."""
    notebook = nbformat.read(source, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    (defaults,) = (
        cell for cell in code if "parameters" in cell.metadata.get("tags", ())
    )
    assert re.search(r'^build = "\.\./data/build"$', defaults.source, re.M)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", cell.id) for cell in notebook.cells)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.stem)
def test_no_result_is_typed_in_a_sentence(source):
    """Sentences take decimals, counts and large numbers from the computation.

    None has a placeholder for them.
    """
    notebook = nbformat.read(source, as_version=4)
    sentences = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    text = "\n".join(sentences)
    assert "{glue" not in text
    prose = _NO_RESULTS.sub("", text)
    assert not re.search(r"(?<![\w.])\d+\.\d|\d+ of\b|\d{3,}", prose)
