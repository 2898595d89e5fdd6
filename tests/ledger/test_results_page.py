"""The authors' results page repeats the paper's tables, and prints one number that they do not."""

import pandas as pd
import pytest
from samples import committed_ledger, results_of

from cogniload_repro.ledger.columns import RESULTS_PAGE, ROOT
from cogniload_repro.ledger.entries import compare
from cogniload_repro.published import load_printed
from cogniload_repro.regression.cell_tables import load_cells

CELLS = load_cells()
#: The model whose reconstruction rests on the page in place of its row of Table 6.
RESTS_ON_PAGE = "DeepSeek-R1-Distill-Qwen-32B"


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """The page's rows of the ledger, of the committed reconstruction."""
    fidelity = committed_ledger()
    return fidelity[fidelity["table"] == RESULTS_PAGE]


def test_every_number_on_models_of_the_paper_is_recomputed_to_its_digit(rows):
    """13 models have seven numbers each, but for two where the stored copy ends."""
    assert len(rows) == 13 * 7 - 2
    assert set(rows["verdict"]) == {"exact"}
    page = load_printed("results_page").set_index("model")
    for row in rows.itertuples():
        assert row.published == (page.loc[row.model, row.quantity] or "--")


def test_only_roots_that_nothing_used_are_independent(rows):
    """Five roots could have failed.

    The sixth, dashes, and what the tables print are constraints.
    """
    roots = rows[(rows["quantity"] == ROOT) & (rows["published"] != "--")].set_index(
        "model"
    )
    assert len(roots) == 6
    kinds = dict.fromkeys(roots.index.drop(RESTS_ON_PAGE), "independent")
    assert roots["kind"].to_dict() == kinds | {RESTS_ON_PAGE: "constraint"}
    assert set(
        rows["kind"][~rows.index.isin(rows.index[rows["kind"] == "independent"])]
    ) == {"constraint"}


def test_one_answer_more_or_less_moves_a_root_off_the_page():
    """The five roots test counts.

    With 14 more right answers at high rho, a root prints otherwise.
    """
    qwq = CELLS[CELLS["model"] == "QwQ-32B"].reset_index(drop=True)
    easy = qwq.index[(qwq["ratio_pct"] >= 90) & (qwq["correct"] < qwq["total"])][:14]
    qwq.loc[easy, "correct"] += 1
    fidelity = compare(results_of(qwq.assign(provenance="scored")))
    row = fidelity[(fidelity["table"] == RESULTS_PAGE) & (fidelity["quantity"] == ROOT)]
    assert row.set_index("model").loc["QwQ-32B", "verdict"] != "exact"
