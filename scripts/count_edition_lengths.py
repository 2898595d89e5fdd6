"""Compare prompt lengths in the editions' default sets, and expected lengths, with Tables 7 to 10.

    .venv/bin/pip install -r scripts/requirements-tokens.txt
    .venv/bin/python scripts/count_edition_lengths.py

Writes data/companions/edition_lengths.csv. counted is a set's mean length in tokens of Llama 3, se its standard error,
overhead the length of the model's chat template, z the difference of printed and counted mean in standard errors. The
expected lengths are means over ten times as many puzzles; all editions draw by the same rules. Takes ten minutes.
"""

import json
from itertools import islice

import pandas as pd
from count_prompt_tokens import count

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.prompts import (
    TOKENIZERS,
    compare_prompts,
    prompt_statistics,
)
from cogniload_repro.paths import DATA
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.sets import PuzzleSet, draw_rows

MODEL, NAME = "DeepSeek-R1-Distill-Llama-70B", "llama3"
entry = json.loads(TOKENIZERS.read_text("utf-8"))[NAME]
editions = [resolve_edition(name) for name in ("python", "elixir")]
sets = {str(edition): PuzzleSet(PAPER_GRID, edition=edition) for edition in editions}
sets["expected"] = PuzzleSet(PAPER_GRID, 1_000, 7, scheme="spawn")
parts = []
for name, puzzles in sets.items():
    rows, counts = draw_rows(puzzles), []
    while batch := list(
        islice(rows, 5_000)
    ):  # avoids holding all texts of a set in memory
        frame = pd.DataFrame(batch)
        counts.append(
            frame[["name", "N", "d", "ratio_pct"]].assign(
                **{NAME: count(NAME, entry, list(frame["text"]))}
            )
        )
    means = (
        compare_prompts(pd.concat(counts))
        .query("model == @MODEL and quantity == 'prompt_mean'")
        .drop(columns="se")
    )
    errors = prompt_statistics(pd.concat(counts), NAME)[["N", "d", "total", "se_mean"]]
    parts.append(
        means.merge(errors, on=["N", "d"])
        .assign(set=name)
        .rename(columns={"total": "puzzles", "se_mean": "se"})
    )
table = pd.concat(parts)[
    ["set", "puzzles", "N", "d", "printed", "counted", "se", "overhead", "z"]
]
table.round(3).to_csv(
    DATA / "companions" / "edition_lengths.csv", index=False, lineterminator="\n"
)
