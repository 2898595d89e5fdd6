"""The 13 perturbations: worked out by hand, undone exactly, refused where they cannot be."""

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogniload_repro.companions.perturbations import PERTURBATIONS, perturb, prepare, restore
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.parse import solve_text

#: The statement of Figure 2 of the document (AIME 2024 I, problem 13).
FIGURE_2 = (
    "Let $p$ be the least prime number for which there exists a positive integer $n$ such that $n^{4}+1$ is divisible "
    "by $p^{2}$. Find the least positive integer $m$ such that $m^{4}+1$ is divisible by $p^{2}$."
)
DOTS_31, DOTS_33, DOTS_37 = "." * 31, "." * 33, "." * 37
C_60 = "c" * 60

#: Worked out on paper: name, text, second text, perturbed text.
BY_HAND = [
    ("not_not", "A red hat and 3 hats", None, "A not not red hat and not not 3 hats"),
    (
        "opposites", "Find the least one", None,
        'Lose the\ndefyn{let "Lose" mean "Find", let "most" mean "least"}.\n most one',
    ),
    ("wrappers", "a $b$ c d", None, '2(a) $b$\ndefyn{let "2(a)" mean "a", let "3(d)" mean "d"}.\n c 3(d)'),
    ("rail_fence", "a b.c", None, "GRID START\na...c\n. ...\n..b..\nGRID END"),
    ("rectangle_perimeter", "ab.c", None, f"GRID START\nab.c{DOTS_33}\n{DOTS_37}\nGRID END"),
    ("snake_horizontal", "a" * 33 + "bc", None, f"GRID START\n{'a' * 33}\n{DOTS_31}cb\nGRID END"),
    ("snake_vertical", "abcdefg", None, "GRID START\na.\nb.\nc.\ndg\nef\nGRID END"),
    ("interleave_line", "ab", f"{C_60}d", f"<Problem A> ab\n<Problem B> {C_60}\n<Problem A> ab\n<Problem B> d"),
    ("interleave_word", "a b c", "x y", "a x b y c x"),
    ("interleave_symbol", "a b", "xyz", "ax ybz"),
    ("reverse_sentences", "One a. Two b. Three.", None, "Three. Two b. One a."),
    ("reverse_words", "one two  three", None, "three  two one"),
    ("reverse_symbols", "one (two)", None, "eno )owt("),
]  # fmt: skip

PREPARED = {
    "a % gone\nb": "a ; b", r"5\% stay % gone": r"5\% stay ", r"x \\% gone": r"x \\", "a\r\nb\u2028c": "a; b; c",
    r"\frac \beta \to \sin": r"\ frac \ beta \ to \sin", r"\(b\)": r"\(b \)",
}  # fmt: skip

texts = st.text() | st.text("a1 .\n\\") | st.text("not 3x()") | st.lists(
    st.sampled_from(["least", "Most", "3", "not", "f(x)", "$p^{2}$.", "\\frac{1}{2}", "3(x)", "Ünïcode", "😀"])
).map(" ".join)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "other", "perturbed"), BY_HAND, ids=[case[0] for case in BY_HAND]
)
def test_each_one_worked_out_by_hand(name, text, other, perturbed):
    """A small text becomes what paper and pencil give, and comes back."""
    assert perturb(name, text, other) == perturbed
    assert restore(name, perturbed) == text
    assert [case[0] for case in BY_HAND] == list(PERTURBATIONS)


#: What perturbed texts are made of, put together as nobody should.
PIECES = [
    *("GRID START", "GRID END", "\n", " ", ".", "..", "a", "\x00", "😀", "9" * 5000),
    *("not not ", 'defyn{let "', '" mean "', '"}.', "2(a)"),
    *("<Problem A> ", "<Problem B> ", "<Problem A: first ", "<Problem A: first 2 words>"),
]
texts |= st.lists(st.sampled_from(PIECES)).map("".join)


@given(texts, texts)
@example("", "")
@example("", "a b")
@example("abab", "wxyz")
@example("ab", "wxyz")
@example("ends in dots...", "x")
@example("a" * 60, "b" * 180)
@example("a." * 5000, "b")
@example("knot not 3", "x")
@example("x" * 73, "y")
@example("GRID START\n\nGRID END", "")
@example("GRID START\n\n\nGRID END", "")
def test_what_is_not_refused_comes_back(text, other):
    """decode(encode(x)) is x for every text that a perturbation accepts; undone without it, nothing crashes."""
    for name in PERTURBATIONS:
        try:
            perturbed = perturb(name, text, other)
        except ValueError:
            pass
        else:
            assert restore(name, perturbed) == text
        with suppress(ValueError):
            assert isinstance(restore(name, text), str)


GRIDS = [name for name in PERTURBATIONS if PERTURBATIONS[name].group == "spatial encoding"]
END = "\n<Problem A: first 10 symbols>"


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        *[(name, text, None) for name in GRIDS for text in ("one ⏎ two", "ends\r")],
        ("interleave_line", "two\u2028lines", "other"),
        ("not_not", "it is not not so", None),
        ("opposites", "the least defyn{}.\n", None),
        ("wrappers", "let 3(x) be", None),
        (
            "interleave_symbol",
            "x" + END[0::2],
            "y" + END[1::2],
        ),  # woven together they spell the closing line
        ("interleave_word", "no partner", None),
        ("rot13", "no such perturbation", None),
    ],
)
def test_what_is_out_of_scope_is_refused(name, text, other):
    """A text that could not be told apart afterwards is refused, never changed silently."""
    with pytest.raises(ValueError, match=r"take |choose one of|give it as `other`"):
        perturb(name, text, other)


def test_what_is_not_whole_is_not_read():
    """Grids need both markers and equal rows; two problems all lines with tags, as many parts as the last line says."""
    for grid in (
        "",
        "abc",
        "GRID START\nGRID END",
        "GRID START\nab\nc\nGRID END",
        "GRID START\nab",
    ):
        for name in GRIDS:
            with pytest.raises(ValueError, match=r"grid"):
                restore(name, grid)
    for name, text in (
        ("word", "a x\n<Problem A: first 1 words>"),
        ("symbol", "abc"),
        ("line", "<Problem A> a\nb"),
    ):
        with pytest.raises(ValueError, match="give all"):
            restore(f"interleave_{name}", text)


def test_texts_are_those_of_figure_2():
    """Rails, widths, heights, reversals and the cut of lines are the ones that the document's figure shows."""
    rails = perturb("rail_fence", FIGURE_2).split("\n")[1:-1]
    assert [rail[:37] for rail in rails] == [
        "L...$...b...h...e... ...m...u...r...r",
        ".e. .p. .e.t.e.l.a.t.p.i.e.n.m.e. .o.",
        "..t...$... ... ...s...r... ...b...f..",
    ]
    rectangle = perturb("rectangle_perimeter", FIGURE_2).split("\n")[1:-1]
    assert rectangle[0] == "Let $p$ be the least prime number for"
    assert rectangle[2:4] == ["." * 36 + "w", "$" + "." * 35 + "h"]
    snake = perturb("snake_horizontal", FIGURE_2).split("\n")[1:-1]
    assert [row.strip() for row in snake[:2]] == [
        "Let $p$ be the least prime number",
        "vitisop a stsixe ereht hcihw rof",
    ]
    down = perturb("snake_vertical", FIGURE_2).split("\n")[1:-1]
    assert [row[:7] for row in down] == ["Le t mb", "ebtspue", "t harnr", " $eei  ", "$p lmef"]
    assert perturb("reverse_words", FIGURE_2).startswith(
        "$p^{2}$. by divisible is $m^{4}+1$ that such $m$ integer positive least the Find"
    )
    assert perturb("reverse_symbols", FIGURE_2).startswith(
        "teL $p$ eb eht tsael emirp rebmun rof hcihw ereht stsixe a evitisop regetni $n$"
    )
    assert perturb("reverse_sentences", FIGURE_2).startswith(
        "Find the least positive integer $m$ such that"
    )
    assert (
        restore("interleave_line", perturb("interleave_line", C_60, FIGURE_2)) == C_60
    )  # an empty segment ends it
    assert "\n<Problem A> ositive integer $n$" in perturb("interleave_line", FIGURE_2, FIGURE_2)


def test_a_perturbed_puzzle_has_the_same_answer():
    """A puzzle comes back with its lines; prepared, perturbed and decoded it is solved to its own solution."""
    puzzles = list(draw_grid(grid_cells("N=20 ratio=50 d=1,5,10"), 1, 7))
    for name, (puzzle, partner) in product(
        PERTURBATIONS, zip(puzzles, puzzles[1:] + puzzles[:1], strict=True)
    ):
        assert restore(name, perturb(name, puzzle.text, partner.text)) == puzzle.text
        perturbed = perturb(name, prepare(puzzle.text), prepare(partner.text))
        assert perturbed != prepare(puzzle.text)
        assert solve_text(restore(name, perturbed).replace("; ", "\n")) == puzzle.solution


def test_texts_are_prepared_as_the_document_says():
    """Comments go, line breaks become "; ", backslashes part from letters that would make them control characters."""
    assert {text: prepare(text) for text in PREPARED} == PREPARED


@given(st.text("ab\\ntr%\n. "))
def test_prepared_texts_hold_no_escape_either_way_round(text):
    """Neither a prepared text nor its reversal has a backslash before n, t, b, r, a or f, and stays as it is."""
    prepared = prepare(text)
    assert not any(
        f"\\{letter}" in way for letter in "ntbraf" for way in (prepared, prepared[::-1])
    )
    assert prepare(prepared) == prepared
