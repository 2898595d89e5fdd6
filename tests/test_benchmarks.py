"""The benchmarks call functions of the package as these are now."""

import importlib
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def test_scoring_a_table_is_measured(monkeypatch):
    """A few responses are enough to see that the measurement ends."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    bench_scoring = importlib.import_module("bench_scoring")
    monkeypatch.setattr(bench_scoring, "ROWS", 5)
    [(what, figure)] = bench_scoring.measure_table()
    assert what.startswith("scoring 5 responses")
    assert "per second" in figure
