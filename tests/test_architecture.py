"""The folders of the package lie in layers, every import goes down, and the code gets no denser."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "cogniload_repro"
#: Modules by their place below the package: "grid", "outputs/sources".
SOURCES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix(): path
    for path in PACKAGE.rglob("*.py")
    if not path.stem.startswith("__")
}
#: Folders, lowest layer first; those of one layer do not import one another. Modules
#: beside them are the foundation.
LAYERS = (
    ("foundation",),
    ("puzzles",),
    ("scoring", "regression"),
    ("importing", "analysis"),
    ("reconstruction",),
    ("ledger",),
    ("asking",),
    ("book",),
    ("commands",),
    ("cli",),
)
#: Most tokens of each folder, and of a line of code. Before you add, remove: these numbers may only
#: fall.
SIZES = {
    "foundation": 5_500,
    "puzzles": 7_800,
    "scoring": 4_000,
    "importing": 6_200,
    "regression": 11_000,
    "analysis": 11_500,
    "reconstruction": 10_600,
    "ledger": 6_470,
    "asking": 4_500,
    "book": 16_500,
    "commands": 4_900,
}
DENSITY = 9.0
#: Tokens that are no code.
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}


def find_folder(module: str) -> str:
    """The folder of a module; for one beside the folders, the foundation or the command itself."""
    folder, _, name = module.rpartition("/")
    return folder or ("cli" if name == "cli" else "foundation")


def find_imports(path: Path) -> set[str]:
    """The package's modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "cogniload_repro"
        ):
            parts = node.module.split(".")[1:]
            names |= {"/".join(parts)} | {
                "/".join([*parts, alias.name]) for alias in node.names
            }
    return names & set(SOURCES)


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Imports of every module."""
    return {name: find_imports(path) for name, path in SOURCES.items()}


def test_every_import_goes_down(imports):
    """A folder imports from lower layers and from itself only."""
    against = [
        (importer, imported)
        for importer, modules in imports.items()
        for imported in modules
        if find_folder(imported) != find_folder(importer)
        and LAYER_OF[find_folder(imported)] >= LAYER_OF[find_folder(importer)]
    ]
    assert against == []


def test_no_import_goes_round(imports):
    """The imports have no cycle, within a folder either."""
    assert set(TopologicalSorter(imports).static_order()) == set(SOURCES)


def test_the_map_has_the_layers_in_order():
    """docs/architecture.md has a line for each layer, lowest first."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = [
        tuple(re.findall(r"`(\w+)`", line.split("|")[1])) or ("foundation",)
        for line in re.findall(r"^\| .+ \|$", page, re.M)[1:]
    ]
    assert named == list(LAYERS[:-1])


def find_dense_places(path: Path) -> Iterator[str]:
    """Yield the rule of style that is broken, for each place in a module."""
    text = path.read_text(encoding="utf-8")
    for line in text.splitlines():
        if len(line) > 100:
            yield "lines over 100 columns"
        if line.endswith("# fmt: skip"):
            yield "`fmt: skip`"
    tree = ast.parse(text)
    parents = {
        child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
    }
    for node in ast.walk(tree):
        inner = [
            inside for child in ast.iter_child_nodes(node) for inside in ast.walk(child)
        ]
        if isinstance(node, COMPREHENSIONS) and any(
            isinstance(inside, COMPREHENSIONS) for inside in inner
        ):
            yield "comprehensions in a comprehension"
        if isinstance(node, ast.IfExp) and any(
            isinstance(inside, ast.IfExp) for inside in inner
        ):
            yield "conditionals in a conditional"
        if isinstance(node, ast.NamedExpr) and not is_plain_test(node, parents):
            yield "walruses other than `if name := ...`"
        if isinstance(node, ast.Assign) and joins_values(node):
            yield "independent values in one assignment"
        if (
            isinstance(node, ast.FunctionDef)
            and sum(isinstance(inside, ast.stmt) for inside in inner) > 25
        ):
            yield "functions over 25 statements"


def is_plain_test(walrus: ast.NamedExpr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether it stands in the test of an if or a while, alone or compared."""
    node = parents[walrus]
    while isinstance(node, (ast.Compare, ast.UnaryOp, ast.BoolOp)):
        node = parents[node]
    return isinstance(node, (ast.If, ast.While))


def joins_values(assign: ast.Assign) -> bool:
    """Whether it gives several names independent values, such as a, b = 1, f(c)."""
    if not isinstance(assign.value, ast.Tuple) or not isinstance(
        assign.targets[0], ast.Tuple
    ):
        return False
    named = {
        name.id for name in ast.walk(assign.targets[0]) if isinstance(name, ast.Name)
    }
    used = {name.id for name in ast.walk(assign.value) if isinstance(name, ast.Name)}
    return not named & used  # a, b = b, a is one thought


def test_the_package_is_written_by_the_rules_of_style():
    """One thought a line."""
    places = {
        (name, rule)
        for name, path in SOURCES.items()
        for rule in find_dense_places(path)
    }
    assert places == set()


@pytest.mark.parametrize("folder", ["tests", "scripts"])
def test_tests_and_scripts_are_written_by_the_same_rules(folder):
    """Only the paper's algorithms, written out as printed, are a longer function."""
    as_printed = ("reference_scorer.py", "functions over 25 statements")
    places = {
        (path.name, rule)
        for path in (ROOT / folder).rglob("*.py")
        for rule in find_dense_places(path)
    }
    assert places - {as_printed} == set()


def list_docstring_lines(tree: ast.Module) -> set[int]:
    """The lines of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0] if node.body else None
            is_text = isinstance(first, ast.Expr) and isinstance(
                first.value, ast.Constant
            )
            if is_text and isinstance(first.value.value, str):
                lines.update(range(first.lineno, first.end_lineno + 1))
    return lines


def measure(path: Path) -> tuple[int, int]:
    """The tokens and the lines of code of a module, without comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    documented = list_docstring_lines(ast.parse(text))
    tokens = 0
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT and token.start[0] not in documented:
            tokens += 1
            lines.update(range(token.start[0], token.end[0] + 1))
    return tokens, len(lines)


@pytest.mark.parametrize("folder", SIZES)
def test_a_folder_gets_no_larger_and_no_denser(folder):
    """The command's entry and the package's face belong to the foundation."""
    place = PACKAGE if folder == "foundation" else PACKAGE / folder
    measured = [measure(path) for path in place.glob("*.py")]
    tokens = sum(count for count, _ in measured)
    lines = sum(count for _, count in measured)
    assert tokens <= SIZES[folder]
    assert tokens / lines <= DENSITY


def test_scripts_get_no_more_and_no_denser():
    """None is denser than a folder of the package."""
    measured = [measure(path) for path in (ROOT / "scripts").glob("*.py")]
    assert sum(tokens for tokens, _ in measured) <= 8_000
    assert max(tokens / lines for tokens, lines in measured) <= DENSITY


def test_every_folder_has_a_size():
    """A new folder needs a number."""
    folders = {find_folder(name) for name in SOURCES} - {"cli"}
    assert folders == set(SIZES)


def find_names(path: Path) -> Iterator[str]:
    """Yield the names that a module defines at its top level."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        yield name.id


def test_a_name_means_one_thing():
    """No two modules define the same name, except the two programs' entry points."""
    counts = Counter(
        name for path in SOURCES.values() for name in set(find_names(path))
    )
    repeated = {name for name, count in counts.items() if count > 1}
    assert repeated - {"main", "__all__"} == set()
