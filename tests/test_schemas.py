"""Tables held against their schemas."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.schemas import CELLS, Column, Schema, check_frame, read_frame

OWN = Schema(
    {
        "model": Column("text"),
        "k": Column("whole", low=0),
        "rho": Column(low=0, high=1, missing=True),
    },
    ("model",),
)
RATIO = Schema({"rho": Column(low=0, high=1)})


def frame(**columns):
    """Three good rows, with some columns replaced."""
    return pd.DataFrame(
        {"model": ["a", "b", "c"], "k": [1, 2, 3], "rho": [0.5, None, 1.0], **columns}
    )


def test_what_is_wrong_is_said():
    """The first fault has its row, model, value and rule, others are counted; the sentence ends with the remedy."""
    with pytest.raises(ValueError, match="mine") as refusal:
        check_frame(
            frame(model=["a", "b", "a"], k=["x", 2, -1], rho=[0.5, 40, 1]), OWN, "mine", "mend it"
        )
    assert str(refusal.value) == (
        "mine: row 1 (a) has k 'x', not a whole number from 0 on, and 3 faults more; mend it"
    )
    with pytest.raises(ValueError, match=r"row 3 \(a\) is there before; mend it"):
        check_frame(frame(model=["a", "b", "a"]), OWN, "mine", "mend it")


@given(
    st.lists(
        st.one_of(
            st.none(), st.integers(-2, 2), st.floats(), st.sampled_from(["", "x", "0.5", "2"])
        ),
        min_size=1,
    )
)
def test_a_column_is_taken_or_its_bad_rows_are_named(values):
    """A column of anything is taken where every value is a number of the range, else the first other is named."""
    good = [
        value in ("0.5", 0, 1) or (isinstance(value, float) and 0 <= value <= 1) for value in values
    ]
    own = pd.DataFrame({"rho": pd.Series(values, dtype=object)})
    if all(good):
        assert check_frame(own, RATIO, "mine", "mend it")["rho"].astype(float).tolist() == [
            float(v) for v in values
        ]
        return
    with pytest.raises(ValueError, match="mine: ") as refusal:
        check_frame(own, RATIO, "mine", "mend it")
    assert f"row {good.index(False) + 1} " in str(refusal.value)
    assert (f"{good.count(False) - 1:,} faults more" in str(refusal.value)) == (
        good.count(False) > 1
    )


def test_a_good_table_is_given_its_types_and_has_the_columns_that_it_must():
    """Absent columns are named together; others stay as they are."""
    own = frame(
        k=["1", "2", "3"], rho=["0.5", "", "1"], x=1
    )  # numbers that came as text are numbers
    pd.testing.assert_frame_equal(check_frame(own, OWN, "mine", "mend it"), frame(x=1))
    assert own["k"].tolist() == ["1", "2", "3"]
    with pytest.raises(ValueError, match=r"mine has no column model, rho; mend it"):
        check_frame(own.drop(columns=["model", "rho"]), OWN, "mine", "mend it")


def test_files_are_read_by_their_ending(tmp_path):
    """CSV and Parquet give the same table; a model may have any name."""
    own = frame(model=["nan", "my  model", "007"])
    own.to_csv(tmp_path / "own.csv", index=False)
    pd.testing.assert_frame_equal(read_frame(tmp_path / "own.csv", OWN, "mend it"), own)
    frame().to_csv(tmp_path / "a.csv", index=False)
    frame().to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        pd.testing.assert_frame_equal(read_frame(tmp_path / name, OWN, "mend it"), frame())
    (tmp_path / "b.csv").touch()
    (tmp_path / "b.parquet").touch()
    for name in ("b.csv", "b.parquet", "c.csv"):
        with pytest.raises(ValueError, match=rf"{name} .*(cannot be|miss).*; mend it"):
            read_frame(tmp_path / name, OWN, "mend it")


@pytest.mark.parametrize(
    "missing", ["NaN", "nan", "NA", "N/A", " null ", "None", "", None, float("nan"), pd.NA]
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_however_a_missing_value_is_written_it_is_missing(missing, ending, tmp_path):
    """Token lengths and perturbations may be missing in a table of counts; counts and models may not."""
    row = {"model": "NA", "N": 20, "d": 1, "ratio_pct": 5, "rho": 0.05, "total": 9, "correct": 4}
    cells = pd.DataFrame([row | {"prompt_mean": missing, "perturbation": missing}] * 2).assign(
        d=[1, 3]
    )
    path = tmp_path / f"cells.{ending}"
    cells.to_csv(path, index=False) if ending == "csv" else cells.to_parquet(path)
    read = read_frame(path, CELLS, "mend it")
    assert read["prompt_mean"].isna().all()
    assert read["perturbation"].tolist() == ["", ""]
    assert read["model"].tolist() == ["NA", "NA"]
    cells["correct"] = cells["correct"].astype(object).where(cells["d"] == 1, missing)
    with pytest.raises(
        ValueError, match=r"row 2 \(NA\) has correct .*, not a whole number from 0 on"
    ):
        check_frame(cells, CELLS, "mine", "mend it")


def test_a_needle_ratio_fits_its_nominal_one():
    """What rounding allows passes, rho in percent or of another cell does not."""
    row = {"model": "a", "N": 20, "d": 1, "ratio_pct": 5, "total": 9, "correct": 4}
    for rho in (0.05, 0.1, 0.0):
        check_frame(pd.DataFrame([row | {"rho": rho}]), CELLS, "mine", "mend it")
    with pytest.raises(ValueError, match="has rho and ratio_pct that contradict each other"):
        check_frame(pd.DataFrame([row | {"rho": 0.5}]), CELLS, "mine", "mend it")
