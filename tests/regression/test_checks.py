"""Tables of counts are checked once, before a regression: a fault is named with its row."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cogniload_repro as cl
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.formulas import QUADRATIC

QWQ = cl.load_cells(models="QwQ-32B").drop(columns="log10_N").assign(model="mine")
FITS = cl.fit(QWQ)
#: Every function that takes a table of counts and fits something to it.
DOORS = {
    "fit": cl.fit,
    "glm": cl.glm,
    "compare_fits": lambda cells: cl.compare_fits(cells, "correct ~ d"),
    "intervals": cl.intervals,
    "capacity_points": cl.capacity_points,
    "over_reconstructions": lambda cells: cl.over_reconstructions(cells, cl.fit),
}


def with_value(name, value, row=3):
    """The counts of a model with one value changed."""
    values = QWQ[name].astype(object)
    values.iloc[row] = value
    return QWQ.assign(**{name: values})


def with_row(**counts):
    """The counts of a model with some of one row changed, as numbers."""
    cells = QWQ.astype(dict.fromkeys(counts, float))
    for name, value in counts.items():
        cells.loc[3, name] = value
    return cells


#: Tables that nobody can mean, by the sentence about them.
FAULTS = {
    "row 0 of the cells has 0.95 correct of 100 answers: not a whole number": (
        QWQ.assign(correct=QWQ["correct"] / 100 + 0.05)
    ),
    "row 3 of the cells has 89.5 correct of 100 answers: not a whole number": with_row(
        correct=89.5
    ),
    "row 3 of the cells has nan correct of 100 answers: not a whole number": with_row(
        correct=np.nan
    ),
    "row 3 of the cells has None correct of 100 answers: not a whole": with_value(
        "correct", None
    ),
    "row 3 of the cells has 94 correct of <NA> answers: not a whole": with_value(
        "total", pd.NA
    ),
    "row 3 of the cells has 94 correct of inf answers: not a whole number": with_row(
        total=np.inf
    ),
    "row 3 of the cells has 101 correct of 100 answers: more correct answers": with_row(
        correct=101
    ),
    "row 3 of the cells has -1 correct of 100 answers: counts may not be": with_row(
        correct=-1
    ),
    "row 3 of the cells has 'many' correct of 100 answers: not a whole": with_value(
        "correct", "many"
    ),
    "row 0 of the cells has N Timestamp": QWQ.assign(N=pd.to_datetime(QWQ["N"])),
    "row 3 of the cells has ratio_pct 'low': not a number": with_value(
        "ratio_pct", "low"
    ),
    "row 3 of the cells does not name its model: it has nan": with_value(
        "model", np.nan
    ),
    "row 3 of the cells does not name its model: it has ''": with_value("model", ""),
    "row 0 of the cells does not name its model: it has 1, not a name": QWQ.assign(
        model=1
    ),
    "the cells have no column model; they have N": QWQ.drop(columns="model"),
    "the cells have no column model; they have N, d": QWQ.set_index("model"),
    "the cells have no column total, correct; they have model": QWQ.drop(
        columns=["correct", "total"]
    ),
    "the cells have no rows": QWQ[:0],
}


@pytest.mark.parametrize("sentence", FAULTS)
def test_impossible_tables_are_refused(sentence):
    """The sentence names the row and the value, or the column."""
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        check_cells(FAULTS[sentence])
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("door", DOORS)
def test_every_function_of_counts_checks_them(door):
    """Proportions in place of counts are refused by whichever function takes them."""
    with pytest.raises(ValueError, match=r"has 0\.95 correct of 100 answers"):
        DOORS[door](QWQ.assign(correct=QWQ["correct"] / 100 + 0.05))


#: The same counts in other clothes.
SAME = {
    "whole floats": QWQ.astype({"correct": float, "total": float, "N": float}),
    "nullable integers": QWQ.convert_dtypes(),
    "python numbers": QWQ.astype(object),
    "categories": QWQ.astype({"model": "category", "d": "category"}),
    "text": QWQ.astype({"correct": str, "d": str}),
    "arrow": QWQ.convert_dtypes(dtype_backend="pyarrow"),
    "model as index too": QWQ.set_index("model", drop=False),
    "any index": QWQ.set_index(pd.Index(range(1000, 1000 + len(QWQ)))),
    "rows without answers": pd.concat([QWQ, QWQ.assign(total=0, correct=0)]),
    "large counts": QWQ.assign(
        total=QWQ["total"] * 1000, correct=QWQ["correct"] * 1000
    ),
}


@pytest.mark.parametrize("clothes", SAME)
def test_the_type_of_a_column_does_not_matter(clothes):
    """Floats, nullable and categorical numbers, and any index give the same coefficients."""
    fits = cl.fit(SAME[clothes])
    assert fits["status"].unique().tolist() == ["ok"]
    assert fits["coef"].to_numpy() == pytest.approx(FITS["coef"].to_numpy(), abs=1e-9)
    points = cl.capacity_points(SAME[clothes])
    assert points["ecl50"].to_numpy() == pytest.approx(
        cl.capacity_points(QWQ)["ecl50"].to_numpy()
    )


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_covariate_is_refused(missing):
    """None and NaN are missing values."""
    with pytest.raises(ValueError, match=r"row 3 of the cells has needles .*: not a"):
        cl.fit(with_value("needles", missing), "correct ~ d + needles")


_VALUES = st.one_of(
    st.integers(-5, 200),
    st.integers(10**5, 10**9),
    st.floats(),
    st.booleans(),
    st.sampled_from(["", "x", "1/2"]),
    st.none(),
)


def is_count(correct, total):
    """Whether these are so many correct answers of so many."""
    for value in (correct, total):
        if not isinstance(value, int | float) or not math.isfinite(value) or value % 1:
            return False
    return 0 <= correct <= total


@given(st.lists(st.tuples(_VALUES, _VALUES), min_size=1, max_size=8))
def test_counts_are_accepted_exactly_if_they_are_counts(rows):
    """Whatever stands in a table, it is whole numbers, 0 <= correct <= total, or refused."""
    cells = QWQ[: len(rows)].reset_index(drop=True)
    cells["correct"] = pd.Series([correct for correct, _ in rows], dtype=object)
    cells["total"] = pd.Series([total for _, total in rows], dtype=object)
    if all(is_count(*row) for row in rows):
        checked = check_cells(cells, QUADRATIC)
        assert checked["correct"].tolist() == [float(correct) for correct, _ in rows]
        return
    with pytest.raises(
        ValueError, match=r"row \d of the cells has .* correct of .* answers: "
    ):
        check_cells(cells, QUADRATIC)


def test_columns_that_a_regression_needs_are_named_together():
    """Absent covariates are named with absent counts; log10_N follows from N."""
    check_cells(QWQ, "correct ~ d * log10_N")
    with pytest.raises(
        ValueError, match=r"no column correct, needles; they have model, N"
    ):
        check_cells(
            QWQ.drop(columns=["correct", "needles"]), "correct ~ d + np.log(needles)"
        )


def test_a_configuration_that_stands_twice_is_named():
    """Pooled reconstructions are no table; with their numbers each is one."""
    pooled = cl.load_reconstructions("QwQ-32B")
    twice = r"row 140 of the cells repeats a configuration \(model 'QwQ-32B', d 1, N 20.*groupby"
    with pytest.raises(ValueError, match=twice):
        cl.fit(pooled.drop(columns="reconstruction"))
    assert len(cl.fit(pooled)) == 24 * 5


def test_a_covariate_may_be_missing_where_no_formula_names_it():
    """A reader's own counts stand below the paper's, and have fewer columns."""
    own = QWQ[["model", "N", "d", "rho", "total", "correct"]]
    paper = cl.load_cells(models="Qwen3-32B")
    both = pd.concat([paper, own], ignore_index=True)
    alone = cl.fit(own).drop(columns="identified")
    fits = cl.fit(both)
    beside = fits[fits["model"] == "mine"].reset_index(drop=True)
    pd.testing.assert_frame_equal(beside[alone.columns], alone)
    row = len(paper)
    with pytest.raises(ValueError, match=f"row {row} of the cells has needles nan"):
        cl.fit(both, "correct ~ d + needles")
    with pytest.raises(ValueError, match="has N nan: not a number"):
        cl.fit(both.assign(N=both["N"].where(both.index < row)))
