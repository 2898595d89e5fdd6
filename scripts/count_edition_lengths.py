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
from describe_prompt_lengths import KEYS, describe_all

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.ledger.prompts import TOKENIZERS, compare_prompts
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
        tokens = count(NAME, entry, list(frame["text"]))
        counts.append(frame[KEYS].assign(**{NAME: tokens}))
    counted = pd.concat(counts)
    lengths = describe_all(counted)
    means = (
        compare_prompts(lengths)
        .query("model == @MODEL and quantity == 'prompt_mean'")
        .drop(columns="se")
    )
    own = lengths.query("per_cell == per_cell.max()").rename(columns={"se_mean": "se"})
    sizes = counted.groupby(["N", "d"]).size().rename("puzzles").reset_index()
    errors = own[["N", "d", "se"]].merge(sizes)
    parts.append(means.merge(errors, on=["N", "d"]).assign(set=name))
table = pd.concat(parts)[
    ["set", "puzzles", "N", "d", "printed", "counted", "se", "overhead", "z"]
]
table.round(3).to_csv(
    DATA / "companions" / "edition_lengths.csv", index=False, lineterminator="\n"
)
