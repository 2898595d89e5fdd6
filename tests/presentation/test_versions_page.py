"""The page on versions and run times."""

import platform
import re
from importlib.metadata import version

import cogniload_repro as cl
from cogniload_repro.presentation.versions_page import versions_page


def test_the_page_names_what_made_the_book():
    """The package, Python and every library have the versions that run here; the figures are those that are kept."""
    page = versions_page()
    assert f"| cogniload-repro | {cl.__version__} |" in page
    assert f"| Python | {platform.python_version()} |" in page
    shown = dict(re.findall(r"^\| (\S+) \| (\S+) \|$", page.replace("\\", ""), re.M))
    assert all(shown[name] == version(name) for name in ("numpy", "statsmodels", "jupyter-book"))
    assert "| `make reproduce`, nothing built |" in page


def test_what_is_not_installed_is_left_out(tmp_path):
    """A library that is not here has no version to show."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "benchmarks.md").write_text(
        "# Measured\n\n| a | b |\n|:--|--:|\n| c | 1 |\n", encoding="utf-8"
    )
    text = '[project]\ndependencies = ["numpy>=2", "no-such-library-at-all"]\n'
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    page = versions_page(tmp_path)
    assert "numpy" in page
    assert "no-such" not in page
    assert page.endswith("| c | 1 |\n")
