"""Draw worlds, and count how often each verdict of the chapters is right in them.

Writes data/verdict_rates.csv (half an hour in one process) and data/simulations.csv (five minutes).
The worlds and the right words are those of the tests. The seeds are others than those with which
rules were tried (below 100).
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import click
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
from cogniload_repro.files import write_whole  # noqa: E402

#: Seeds start here, and later in a chapter whose rules changed after its first draws.
FIRST_SEED = 1000
FIRST_SEEDS = {"08_errors": 2000}
#: Worlds whose rates are stated with more draws.
MOST_DRAWN = ("paper", "null")
#: Where the power of the two sums is simulated.
TROUGHS = (0.4, 0.45, 0.5, 0.6, 0.7)


def count_words(world: str, draws: int, build: Path) -> pd.DataFrame:
    """Return one row per statement that a world decides, with the words of all draws."""
    rows = []
    for chapter, right in find_right(world).items():
        words: dict[str, Counter] = {statement: Counter() for statement in right}
        first = FIRST_SEEDS.get(chapter, FIRST_SEED)
        for seed in tqdm(range(first, first + draws), f"{world}, {chapter}"):
            judged = judge(draw_world(world, seed), build, [chapter])
            for statement in right:
                words[statement][judged[statement].word] += 1
        for statement, word in right.items():
            row = count_hits(words[statement], word, draws)
            meaning = (WORLDS[world].__doc__ or "").partition("\n")[0]
            names = {"statement": statement, "world": world, "meaning": meaning}
            rows.append(names | row)
    return pd.DataFrame(rows)


def count_hits(words: Counter, right: str, draws: int) -> dict[str, object]:
    """Return how often the right word was drawn, with 95% limits (Clopper and Pearson)."""
    limits = binomtest(words[right], draws).proportion_ci(0.95)
    texts = [f"{word} {count}" for word, count in words.most_common()]
    return {
        "right": right,
        "draws": draws,
        "hits": words[right],
        "low": round(limits.low, 3),
        "high": round(limits.high, 3),
        "words": "; ".join(texts),
    }


def count_troughs(trough: float, draws: int) -> pd.DataFrame:
    """Return the models with a U, by the two sums and by a parabola, with a trough at a ratio."""
    expected = expect_outcomes(spread(curvature=6.0, trough=trough))
    holm = cl.uncertainty.correct_holm
    counts = []
    for seed in range(FIRST_SEED, FIRST_SEED + draws):
        cells = draw_counts(expected, seed)
        cells["log10_N"] = np.log10(cells["N"])
        weaker = cl.contrasts.u_contrasts(cells).min(axis=1)
        p_parabola = cl.uncertainty.trough_table(cells)["p_u"]
        shown = {
            "contrasts": (holm(norm.sf(weaker)) < cl.published.ALPHA).sum(),
            "parabola": (holm(p_parabola) < cl.published.ALPHA).sum(),
        }
        counts.append(shown)
    return summarise(f"trough at {trough:.0%}", pd.DataFrame(counts))


def summarise(case: str, counts: pd.DataFrame) -> pd.DataFrame:
    """Return mean, least and most of each column over the draws."""
    summary = counts.agg(["mean", "min", "max"]).T.set_axis(
        ["mean", "least", "most"], axis=1
    )
    summary = summary.rename_axis("quantity").reset_index()
    return summary.assign(case=case, draws=len(counts))


@click.command()
@click.option("--many", default=60, help="Draws of the worlds paper and null.")
@click.option("--few", default=20, help="Draws of each other world, and simulation.")
@click.option("--rates/--no-rates", default=True, help="Write verdict_rates.csv too.")
def main(many: int, few: int, rates: bool) -> None:
    """Draw every world, and write the rates of right verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        build = write_build(Path(folder), puzzles=10)
        tables = []
        for world in WORLDS if rates else ():
            draws = many if world in MOST_DRAWN else few
            tables.append(count_words(world, draws, build))
            print(tables[-1][["statement", "right", "words"]].to_string(), flush=True)
            save(cl.verdicts.RATES, pd.concat(tables))
        simulations = [count_troughs(trough, few) for trough in TROUGHS]
        columns = ["case", "quantity", "mean", "least", "most", "draws"]
        save(cl.verdicts.SIMULATIONS, pd.concat(simulations)[columns])


def save(path: Path, table: pd.DataFrame) -> None:
    """Write a table to a committed file."""
    print("wrote", write_whole(path, table.to_csv(index=False, lineterminator="\n")))


if __name__ == "__main__":
    main()
