"""Two models compared in words."""

import cogniload_repro as cl
from cogniload_repro.book.pair import describe_pair
from cogniload_repro.storage import write_table


def test_a_model_may_be_called_like_a_column(tmp_path):
    """Its name heads its accuracy, beside the column of that name."""
    cells = cl.load_cells(models=["QwQ-32B", "Qwen3-8B"]).drop(columns="log10_N")
    write_table(
        tmp_path / "cells.parquet", cells.replace({"model": {"Qwen3-8B": "verdict"}})
    )
    _, table, *_ = describe_pair(tmp_path, "QwQ-32B", "verdict", [], 0.05)
    heading, numbers = table.splitlines()[:2]
    assert heading.split().count("verdict") == 2
    assert numbers.count("%") == 2
