"""Scores of two baselines that do no reasoning, computed from the texts of the puzzles."""

from pathlib import Path

import pandas as pd

from cogniload_repro.puzzles.generate import domain_size
from cogniload_repro.puzzles.parse import read_question
from cogniload_repro.puzzles.puzzle import clauses
from cogniload_repro.puzzles.rows import read_batches
from cogniload_repro.storage import write_table

_PUZZLE_KEYS = [
    "name",
    "N",
    "d",
    "ratio_pct",
]
_PUZZLE_COLUMNS = [*_PUZZLE_KEYS, "text", "gold"]


def baselines(puzzles: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of two baselines that do no reasoning, for each puzzle of a set.

    The first guesses: it names one of the puzzle's values of the attribute asked about, all with
    the same probability. The second answers with the last value that any statement gives this
    attribute, whoever the statement is about.

    Parameters
    ----------
    puzzles : DataFrame
        Columns name, N, d, ratio_pct, text and gold (the answer), as `cogniload puzzles` writes
        them. Other columns are ignored.

    Returns
    -------
    DataFrame
        One row per puzzle, in the order given, with the columns name, N, d, ratio_pct (%), and

        - guess: expected score of the guess, a probability: 1 / min(max(3, d + 1), values of the
          attribute in the ontology), the number of values that a puzzle of difficulty d draws from;
        - last_clause: 1 if the last value set is the answer, else 0; 0 also if no statement sets
          the attribute.

    Raises
    ------
    ValueError
        If a column is missing, or a text does not end with a question of the benchmark.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> text = cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7).text
    >>> row = {"name": "3_1_1_7_white", "N": 3, "d": 1, "ratio_pct": 33, "gold": "white"}
    >>> cl.baselines(pd.DataFrame([row | {"text": text}])).round(2).iloc[0].to_dict()
    {'name': '3_1_1_7_white', 'N': 3, 'd': 1, 'ratio_pct': 33, 'guess': 0.33, 'last_clause': 0}
    """
    missing = [column for column in _PUZZLE_COLUMNS if column not in puzzles]
    if missing:
        remedy = "give the table that `cogniload puzzles` writes"
        raise ValueError(f"the puzzles have no column {', '.join(missing)}; {remedy}")
    guess = []
    last_clause = []
    for row in puzzles.itertuples():
        _, category = read_question(row.text.rstrip().rpartition("\n")[2])
        value = find_last_value(row.text, category)
        guess.append(1 / domain_size(category, row.d))
        last_clause.append(int(value == row.gold))
    scores = puzzles[_PUZZLE_KEYS].reset_index(drop=True)
    return scores.assign(guess=guess, last_clause=last_clause)


def write_baselines(puzzles: Path, target: Path) -> None:
    """Write the baselines of a puzzles table to a Parquet file, in bounded memory."""
    batches = read_batches(puzzles, _PUZZLE_COLUMNS)
    parts = [baselines(batch.to_pandas()) for batch in batches]
    write_table(target, pd.concat(parts))


def find_last_value(text: str, category: str) -> str | None:
    """Return the value that the last update of a category sets for anybody, None without any."""
    updates = clauses("update")[category]
    for line in reversed(text.split("\n")):
        for clause in line.rstrip().split(" and "):
            for value, update in updates.items():
                before = clause.removesuffix(update)
                # a condition or an initial line may share the verb, such as "read a"
                if before != clause and not before.endswith(("recently ", "last ")):
                    return value
    return None
