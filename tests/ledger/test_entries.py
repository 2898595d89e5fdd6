"""The comparison with the paper: verdicts, kinds, and what it says when data are missing."""

import pandas as pd
import pytest
from samples import committed_ledger, results_of

from cogniload_repro.ledger.columns import RESULTS_PAGE
from cogniload_repro.ledger.entries import compare, scoreboard
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.printed import uses_table2
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.storage import FIDELITY, KINDS, VERDICTS

CELLS = load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


@pytest.fixture(scope="module")
def fidelity() -> pd.DataFrame:
    """The comparison of the committed reconstruction."""
    return committed_ledger()


def test_every_printed_number_has_a_row(fidelity):
    """As many rows as there are printed numbers, stars and claims."""
    expected = {
        "table2": 22 * (8 + 5),
        "table3": 22 * (8 + 4),
        "table4": 110 * 7,
        "table5": 88 * 7,
        "table6": 66,
        "prose": 175,
    }
    counts = fidelity["table"].value_counts()
    assert (
        counts["results page"] == 13 * 7 - 2
    )  # two stand behind the end of the stored copy
    assert {table: counts[table] for table in expected} == expected
    printed = load_printed("tokens")[
        ["prompt_mean", "prompt_p90", "output_mean", "output_p90"]
    ]
    assert (
        sum(counts[f"table{number}"] for number in range(7, 11))
        == (printed != "").to_numpy().sum()
    )
    assert tuple(fidelity.columns) == FIDELITY
    assert set(fidelity["kind"]) == set(KINDS)
    imputed = fidelity["kind"] == "imputed"
    assert set(fidelity.loc[imputed, "verdict"]) == {""}
    assert set(fidelity.loc[~imputed, "verdict"]) <= set(VERDICTS)


def test_the_reconstruction_prints_the_tables(fidelity):
    """Tables 2 to 6 follow in every digit, but for two AICs that contradict Table 2."""
    tables = fidelity[
        fidelity["table"].isin(["table2", "table3", "table4", "table5", "table6"])
    ]
    missed = tables[tables["verdict"] != "exact"]
    assert set(missed["table"]) == {"table6"}
    assert set(missed["model"]) == {"DeepSeek-R1-Distill-Qwen-32B"}
    assert missed["quantity"].tolist() == ["aic_linear", "aic_quadratic"]


def test_kinds_are_kept_apart(fidelity):
    """What was put in is never called derived; four rows of Table 2 were used."""
    kinds = fidelity.groupby("table")["kind"].agg(set)
    assert kinds["table4"] == kinds["table5"] == {"input"}
    assert kinds["table3"] == {"constraint"}
    assert kinds["table6"] == {"input", "imputed"}
    assert set(fidelity.loc[fidelity["table"] != "prose", "evidence"]) == {"identified"}
    table2 = fidelity[fidelity["table"] == "table2"]
    chosen = table2["model"].map(uses_table2)
    assert table2.loc[chosen, "model"].nunique() == 4
    assert set(table2.loc[chosen, "kind"]) == {"constraint"}
    assert set(table2.loc[~chosen, "kind"]) == {"derived"}
    tokens = fidelity[fidelity["table"].str.fullmatch("table([789]|10)")]
    assert set(tokens["kind"]) == {"input"}


def test_what_a_draw_decides_is_counted_over_all_reconstructions(fidelity):
    """What the published tables do not identify has no verdict, but a count out of 24."""
    is_open = fidelity["evidence"] == "not identified"
    assert is_open.any()
    assert set(fidelity.loc[is_open, "verdict"]) == {"not_computable"}
    counts = fidelity.loc[is_open, "reason"].str.extract(r"holds in (\d+) of 24 recon")
    assert counts[0].astype(int).between(0, 24).all()


def test_the_scoreboard_ends_with_what_could_have_failed(fidelity):
    """Only derived and independent numbers are counted there, and imputed ones nowhere."""
    board = scoreboard(fidelity)
    assert "imputed" not in set(board["kind"])
    assert board["numbers"].iloc[:-1].sum() == (fidelity["kind"] != "imputed").sum()
    tested = fidelity[fidelity["kind"].isin(["derived", "independent"])]
    tested = tested[tested["verdict"] != "not_computable"]
    last = board.iloc[-1]
    assert last["kind"] == "could have failed"
    assert last["numbers"] == len(tested)
    assert last["exact"] == (tested["verdict"] == "exact").sum()


def test_real_outputs_are_independent():
    """Nothing of scored outputs was put in."""
    ledger = compare(results_of(QWQ.assign(provenance="scored")))
    tables = ledger[ledger["table"] != "prose"]
    assert set(tables["kind"]) == {"independent"}
    assert set(ledger["kind"]) <= {
        "independent",
        "input",
    }  # the scorer's and the grid's constants stay input
    assert set(tables.loc[tables["model"] == "QwQ-32B", "verdict"]) <= {
        "exact",
        "unit",
        "differs",
    }
    others = tables[
        (tables["model"] != "QwQ-32B")
        & ~tables["table"].str.fullmatch("table([789]|10)")
    ]
    assert set(others["verdict"]) == {"not_computable"}


def test_other_numbers_of_puzzles_are_not_compared():
    """A cell with another number of puzzles takes its rows of every table with it.

    It takes no others.
    """
    changes = {"QwQ-32B": -1, "Qwen3-8B": 1, "Phi-4-reasoning": -99}
    cells = CELLS[CELLS["model"].isin(changes)].reset_index(drop=True)
    for place in cells.query("N == 50 and d == 5 and ratio_pct == 50").index:
        total = 100 + changes[cells.loc[place, "model"]]
        cells.loc[place, ["total", "correct"]] = [
            total,
            min(cells.loc[place, "correct"], total),
        ]
    all_checks = compare(results_of(cells)).query("table != 'prose'")
    for model in changes:
        checks = all_checks[all_checks["model"] == model]
        touched = checks["table"].isin(["table2", "table3", "table6"])
        touched |= checks["condition"].isin(["d=5", "N=50", "N=50 d=5"])
        touched |= (checks["table"] == "results page") & (checks["condition"] == "")
        assert set(checks.loc[touched, "verdict"]) == {"not_computable"}
        assert (checks.loc[touched, "reason"] != "").all()
        assert "not_computable" not in set(checks.loc[~touched, "verdict"])
        assert (checks.loc[~touched, "reason"] == "").all()


def test_every_number_that_is_not_computable_has_a_reason():
    """Models that are not there say so, also in the prose; failed fits give their status."""
    wrong = QWQ.assign(model="gpt-5-2025-08-07", total=10, correct=0, other=10)
    checks = compare(results_of(pd.concat([QWQ, wrong])))
    unknown = checks[checks["verdict"] == "not_computable"]
    assert (unknown["reason"] != "").all()
    assert set(unknown.query("model == 'o3-2025-04-16'")["reason"]) == {
        "no outputs of this model"
    }
    assert set(
        unknown.query("model == 'gpt-5-2025-08-07' and table == 'table2'")["reason"]
    ) == {"no fit: separation"}
    assert (checks.loc[checks["verdict"] != "not_computable", "reason"] == "").all()


def test_overflows_of_answers_without_token_counts_are_not_computable():
    """The context limit was not tested there, so that a printed 0 is no agreement."""
    short = 'model == "gemini-2.5-pro"'
    cells = CELLS.query(short).assign(provenance="scored")
    cells["ctx"] = cells["ctx"].mask(cells["d"] == 5)
    checks = compare(results_of(cells)).query(short)
    overflows = checks.query("quantity == 'ctx' and table == 'table4'")
    verdicts = overflows.set_index("condition")["verdict"]
    assert list(verdicts.index[verdicts == "not_computable"]) == ["d=5"]
    whole = checks[checks["quantity"].isin(["ctx", "overflow_pct"])]
    whole = whole[whole["table"].isin(["table5", RESULTS_PAGE])]
    assert set(whole["verdict"]) == {"not_computable"}
    assert set(whole["reason"]) == {
        "answers without token counts: their overflows are not known"
    }
    assert "not_computable" not in set(checks.query("quantity == 'samples'")["verdict"])
