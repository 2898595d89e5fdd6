"""Compare prompt lengths in the editions' default sets, and expected lengths, with Tables 7 to 10.

    .venv/bin/pip install -r scripts/requirements-tokens.txt
    .venv/bin/python scripts/count_edition_lengths.py

Writes data/companions/edition_lengths.csv. counted is a set's mean length in tokens of Llama 3, se
its standard error, overhead the length of the model's chat template, z the difference of printed
and counted mean in standard errors. The expected lengths are means over ten times as many puzzles;
all editions draw by the same rules. Takes ten minutes.
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
from cogniload_repro.reconstruction.reconstruct import write_csv

TOKENIZER = "llama3"
MODEL = "DeepSeek-R1-Distill-Llama-70B"
#: Puzzles whose texts are in memory at a time.
BATCH = 5_000
COLUMNS = [
    "set",
    "puzzles",
    "N",
    "d",
    "printed",
    "counted",
    "se",
    "overhead",
    "z",
]


def count_set(puzzles: PuzzleSet) -> pd.DataFrame:
    """Return the tokens of each puzzle of a set."""
    entries = json.loads(TOKENIZERS.read_text("utf-8"))
    rows = draw_rows(puzzles)
    counts = []
    while batch := list(islice(rows, BATCH)):
        frame = pd.DataFrame(batch)
        texts = frame["text"].tolist()
        frame[TOKENIZER] = count(TOKENIZER, entries[TOKENIZER], texts)
        counts.append(frame[[*KEYS, TOKENIZER]])
    return pd.concat(counts)


def compare_set(name: str, puzzles: PuzzleSet) -> pd.DataFrame:
    """Return printed and counted means by N and d."""
    counts = count_set(puzzles)
    lengths = describe_all(counts)
    prompts = compare_prompts(lengths).query("model == @MODEL")
    means = prompts.query("quantity == 'prompt_mean'").drop(columns="se")
    # standard errors of this set, not of one as large as the paper's
    errors = lengths.query("per_cell == per_cell.max()")
    errors = errors.rename(columns={"se_mean": "se"})
    errors["puzzles"] = counts.groupby(["N", "d"]).size().to_numpy()
    table = means.merge(errors, on=["N", "d"])
    table["set"] = name
    return table[COLUMNS].round(3)


if __name__ == "__main__":
    sets = {}
    for name in ("python", "elixir"):
        edition = resolve_edition(name)
        sets[str(edition)] = PuzzleSet(PAPER_GRID, edition=edition)
    sets["expected"] = PuzzleSet(PAPER_GRID, 1_000, 7, scheme="spawn")
    tables = [compare_set(name, puzzles) for name, puzzles in sets.items()]
    print("wrote", write_csv(DATA / "companions" / "edition_lengths.csv", tables))
