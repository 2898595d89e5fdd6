"""The 13 perturbations: worked out by hand, undone exactly, refused where they cannot be."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogniload_repro.asking.perturbations import (
    PERTURBATIONS,
    perturb,
    prepare,
    restore,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.parse import solve_text

#: The statement of Figure 2 of the document (AIME 2024 I, problem 13).
FIGURE_2 = (
    "Let $p$ be the least prime number for which there exists a positive integer $n$ such that "
    "$n^{4}+1$ is divisible by $p^{2}$. Find the least positive integer $m$ such that $m^{4}+1$ is "
    "divisible by $p^{2}$."
)
DOTS_31 = "." * 31
DOTS_33 = "." * 33
DOTS_37 = "." * 37
C_60 = "c" * 60

#: Worked out on paper: name, text, second text, perturbed text.
BY_HAND = [
    ("not_not", "A red hat and 3 hats", None, "A not not red hat and not not 3 hats"),
    (
        "opposites",
        "Find the least one",
        None,
        'Lose the\ndefyn{let "Lose" mean "Find", let "most" mean "least"}.\n most one',
    ),
    (
        "wrappers",
        "a $b$ c d",
        None,
        '2(a) $b$\ndefyn{let "2(a)" mean "a", let "3(d)" mean "d"}.\n c 3(d)',
    ),
    ("rail_fence", "a b.c", None, "GRID START\na...c\n. ...\n..b..\nGRID END"),
    (
        "rectangle_perimeter",
        "ab.c",
        None,
        f"GRID START\nab.c{DOTS_33}\n{DOTS_37}\nGRID END",
    ),
    (
        "snake_horizontal",
        "a" * 33 + "bc",
        None,
        f"GRID START\n{'a' * 33}\n{DOTS_31}cb\nGRID END",
    ),
    ("snake_vertical", "abcdefg", None, "GRID START\na.\nb.\nc.\ndg\nef\nGRID END"),
    (
        "interleave_line",
        "ab",
        f"{C_60}d",
        f"<Problem A> ab\n<Problem B> {C_60}\n<Problem A> ab\n<Problem B> d",
    ),
    ("interleave_word", "a b c", "x y", "a x b y c x"),
    ("interleave_symbol", "a b", "xyz", "ax ybz"),
    ("reverse_sentences", "One a. Two b. Three.", None, "Three. Two b. One a."),
    ("reverse_words", "one two  three", None, "three  two one"),
    ("reverse_symbols", "one (two)", None, "eno )owt("),
]
GRIDS = [name for name, how in PERTURBATIONS.items() if how.group == "spatial encoding"]

#: What perturbed texts are made of, to be put together as nobody should.
PIECES = [
    *("GRID START", "GRID END", "\n", " ", ".", "..", "a", "\x00", "😀", "9" * 5000),
    *("not not ", 'defyn{let "', '" mean "', '"}.', "2(a)"),
    *(
        "<Problem A> ",
        "<Problem B> ",
        "<Problem A: first ",
        "<Problem A: first 2 words>",
    ),
]
WORDS = [
    "least",
    "Most",
    "3",
    "not",
    "f(x)",
    "$p^{2}$.",
    "\\frac{1}{2}",
    "3(x)",
    "Ünïcode",
    "😀",
]
TEXTS = st.one_of(
    st.text(),
    st.text("a1 .\n\\"),
    st.text("not 3x()"),
    st.lists(st.sampled_from(WORDS)).map(" ".join),
    st.lists(st.sampled_from(PIECES)).map("".join),
)


@pytest.mark.parametrize(("name", "text", "other", "perturbed"), BY_HAND)
def test_a_small_text_becomes_what_paper_and_pencil_give(name, text, other, perturbed):
    """And it comes back."""
    assert perturb(name, text, other) == perturbed
    assert restore(name, perturbed) == text


@given(TEXTS, TEXTS)
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
    """Any text that a perturbation accepts is restored, and restoring another one never crashes."""
    for name in PERTURBATIONS:
        with suppress(ValueError):
            restore(name, text)
        try:
            perturbed = perturb(name, text, other)
        except ValueError:
            continue
        assert restore(name, perturbed) == text


END = "\n<Problem A: first 10 symbols>"


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        *((name, "one ⏎ two", None) for name in GRIDS),
        ("interleave_line", "one ⏎ two", "other"),
        ("opposites", "\ndefyn{}.\n", None),
        ("wrappers", "a b c d 3(d)", None),
        ("not_not", "it is not not so", None),
        # woven together they spell the closing line
        ("interleave_symbol", "x" + END[0::2], "y" + END[1::2]),
        ("interleave_word", "no partner", None),
        ("rot13", "no such perturbation", None),
    ],
)
def test_what_is_out_of_scope_is_refused(name, text, other):
    """A text that could not be restored is refused, never changed silently."""
    with pytest.raises(
        ValueError, match=r"take |first argument is one of|give it as `other`"
    ):
        perturb(name, text, other)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "GRID START\nGRID END",
        "GRID START\nab\nc\nGRID END",
        "GRID START\nab",
    ],
)
def test_a_grid_that_is_not_whole_is_not_read(name, text):
    """It has both markers, and rows of one length."""
    with pytest.raises(ValueError, match="the text is not a grid of this kind"):
        restore(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("interleave_word", "a x\n<Problem A: first 1 words>"),
        ("interleave_symbol", "abc"),
        ("interleave_line", "<Problem A> a\nb"),
    ],
)
def test_two_problems_that_are_not_whole_are_not_read(name, text):
    """All lines have tags, and there are as many parts as the last line says."""
    with pytest.raises(ValueError, match="give all"):
        restore(name, text)


def read_rows(name):
    """The rows of Figure 2's grid, without its markers."""
    first, *rows, last = perturb(name, FIGURE_2).split("\n")
    assert [first, last] == ["GRID START", "GRID END"]
    return rows


def test_grids_are_those_of_figure_2():
    """Rails, widths and heights are the ones that the document's figure shows."""
    assert [rail[:37] for rail in read_rows("rail_fence")] == [
        "L...$...b...h...e... ...m...u...r...r",
        ".e. .p. .e.t.e.l.a.t.p.i.e.n.m.e. .o.",
        "..t...$... ... ...s...r... ...b...f..",
    ]
    rectangle = read_rows("rectangle_perimeter")
    assert rectangle[0] == "Let $p$ be the least prime number for"
    assert rectangle[2:4] == ["." * 36 + "w", "$" + "." * 35 + "h"]
    snake = read_rows("snake_horizontal")
    assert snake[0].strip() == "Let $p$ be the least prime number"
    assert snake[1].strip() == "vitisop a stsixe ereht hcihw rof"
    columns = [row[:7] for row in read_rows("snake_vertical")]
    assert columns == ["Le t mb", "ebtspue", "t harnr", " $eei  ", "$p lmef"]


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_perturbed_puzzle_has_the_same_answer(name):
    """Prepared, perturbed and restored it is solved to its own solution."""
    puzzles = list(draw_grid(grid_cells("N=20 ratio=50 d=1,5,10"), 1, 7))
    partner = puzzles[-1]
    for puzzle in puzzles:
        assert restore(name, perturb(name, puzzle.text, partner.text)) == puzzle.text
        prepared = prepare(puzzle.text)
        perturbed = perturb(name, prepared, prepare(partner.text))
        assert perturbed != prepared
        restored = restore(name, perturbed).replace("; ", "\n")
        assert solve_text(restored) == puzzle.solution
        partner = puzzle


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("a % gone\nb", "a ; b"),
        (r"5\% stay % gone", r"5\% stay "),
        (r"x \\% gone", r"x \\"),
        ("a\r\nb\u2028c", "a; b; c"),
        (r"\frac \beta \to \sin", r"\ frac \ beta \ to \sin"),
        (r"\(b\)", r"\(b \)"),
    ],
)
def test_texts_are_prepared_as_the_document_says(text, prepared):
    """Comments go, line breaks become "; ", backslashes part from letters of control characters."""
    assert prepare(text) == prepared


@given(st.text("ab\\ntr%\n. "))
def test_prepared_texts_hold_no_escape_either_way_round(text):
    """Neither do their reversals; a prepared text stays as it is."""
    prepared = prepare(text)
    for letter in "ntbraf":
        assert f"\\{letter}" not in prepared
        assert f"\\{letter}" not in prepared[::-1]
    assert prepare(prepared) == prepared


def test_swapped_arguments_are_refused_in_a_short_sentence():
    """The text is not printed whole."""
    with pytest.raises(
        ValueError, match="the first argument is one of not_not"
    ) as caught:
        perturb("Where is Ada? " * 1000, "rail_fence")
    assert len(str(caught.value)) < 400
