"""Draw worlds, and count how often each verdict of the chapters is right in them.

Writes data/verdict_rates.csv (half an hour in one process) and data/simulations.csv (five minutes).
The worlds and the right words are those of the tests. The seeds are others than those with which
rules were tried (below 100).
"""

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm
from tqdm import tqdm

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from judging import judge, write_build  # noqa: E402
from right_words import find_right  # noqa: E402
from worlds import (  # noqa: E402
    WORLDS,
    draw_counts,
    draw_world,
    expect_outcomes,
    spread,
)

import cogniload_repro as cl  # noqa: E402
from cogniload_repro.reconstruction.reconstruct import write_csv  # noqa: E402

#: Seeds start here, and later in a chapter whose rules changed after its first draws.
FIRST_SEED = 1000
FIRST_SEEDS = {"08_errors": 2000}
#: Draws of the worlds whose rates are stated with more of them, and of all others.
DRAWS = {"paper": 60, "null": 60}
FEW = 20
#: Where the power of the two sums is simulated.
TROUGHS = (0.4, 0.45, 0.5, 0.6, 0.7)


def count_words(world: str, draws: int, build: Path) -> pd.DataFrame:
    """Return one row per statement that a world decides, with the words of all draws."""
    meaning, *_ = WORLDS[world].__doc__.splitlines()
    rows = []
    for chapter, right in find_right(world).items():
        words = defaultdict(list)
        first = FIRST_SEEDS.get(chapter, FIRST_SEED)
        for seed in tqdm(range(first, first + draws), f"{world}, {chapter}"):
            cells = draw_world(world, seed)
            judged = judge(cells, build, [chapter])
            for statement in right:
                words[statement].append(judged[statement].word)
        for statement, word in right.items():
            row = {"statement": statement, "world": world, "meaning": meaning}
            row |= count_hits(words[statement], word)
            rows.append(row)
    return pd.DataFrame(rows)


def count_hits(words: list[str], right: str) -> dict[str, object]:
    """Return how often the right word was drawn, with 95% limits (Clopper and Pearson)."""
    counts = Counter(words)
    hits = counts[right]
    limits = binomtest(hits, len(words)).proportion_ci(0.95)
    texts = [f"{word} {count}" for word, count in counts.most_common()]
    return {
        "right": right,
        "draws": len(words),
        "hits": hits,
        "low": round(limits.low, 3),
        "high": round(limits.high, 3),
        "words": "; ".join(texts),
    }


def count_troughs(trough: float, draws: int) -> pd.DataFrame:
    """Return the models with a U, by the two sums and by a parabola, with a trough at a ratio.

    Mean, least and most over the draws.
    """
    world = spread(curvature=6.0, trough=trough)
    expected = expect_outcomes(world)
    rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + draws):
        cells = draw_counts(expected, seed)
        cells["log10_N"] = np.log10(cells["N"])
        weaker = cl.contrasts.u_contrasts(cells).min(axis=1)
        parabolas = cl.uncertainty.trough_table(cells)
        contrasts = count_significant(norm.sf(weaker))
        parabola = count_significant(parabolas["p_u"])
        rows.append({"contrasts": contrasts, "parabola": parabola})
    summary = pd.DataFrame(rows).agg(["mean", "min", "max"]).T
    summary.columns = ["mean", "least", "most"]
    summary = summary.rename_axis("quantity").reset_index()
    summary.insert(0, "case", f"trough at {trough:.0%}")
    return summary.assign(draws=draws)


def count_significant(p: np.ndarray) -> int:
    """Return the number of small p-values after Holm's correction."""
    corrected = cl.uncertainty.correct_holm(p)
    return (corrected < cl.published.ALPHA).sum()


def main() -> None:
    """Draw every world, and write the rates of right verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        build = write_build(Path(folder), puzzles=10)
        tables = []
        for world in WORLDS:
            draws = DRAWS.get(world, FEW)
            tables.append(count_words(world, draws, build))
            write_csv(cl.verdicts.RATES, tables)
    simulations = [count_troughs(trough, FEW) for trough in TROUGHS]
    write_csv(cl.verdicts.SIMULATIONS, simulations)


if __name__ == "__main__":
    main()
