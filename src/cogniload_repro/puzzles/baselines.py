"""What two answerers without reasoning score on each puzzle, found from its text."""

from functools import cache
from pathlib import Path

import pandas as pd

from cogniload_repro.puzzles.generate import domain_size
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.puzzle import clauses, read_question
from cogniload_repro.puzzles.readers import read_puzzles
from cogniload_repro.storage import write_table

_KEYS = ["name", "N", "d", "ratio_pct"]
_COLUMNS = [*_KEYS, "text", "gold"]


def baselines(puzzles: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Score two answerers that track nobody on every puzzle of a set.

    The guesser names one value of the attribute asked about, each with the same chance. The other answers with the
    last value that any statement sets this attribute to, whomever the statement is about.

    Parameters
    ----------
    puzzles : DataFrame or path
        Columns name, N, d, ratio_pct, text and gold (the answer), as `cogniload puzzles` writes them: a table, a
        Parquet or JSONL file, or a folder with one. Other columns are ignored.

    Returns
    -------
    DataFrame
        One row per puzzle, in the order given, with the columns name, N, d, ratio_pct (%), and

        - guess: expected score of the guesser, a probability: 1 / min(max(3, d + 1), values of the attribute in the
          ontology), the number of values that a puzzle of difficulty d draws from;
        - last_clause: 1 if the last value set is the answer, else 0; 0 also if no statement sets the attribute.

    Raises
    ------
    ValueError
        If a column is missing, or a text does not end with a question of the benchmark.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> text = cl.draw_puzzle(N=3, d=1, needles=1, puzzle_id=7).text
    >>> own = pd.DataFrame({"name": "3_1_1_7_white", "N": 3, "d": 1, "ratio_pct": 33, "text": [text], "gold": "white"})
    >>> cl.baselines(own).round(2).iloc[0].to_dict()
    {'name': '3_1_1_7_white', 'N': 3, 'd': 1, 'ratio_pct': 33, 'guess': 0.33, 'last_clause': 0}
    """
    if not isinstance(puzzles, pd.DataFrame):
        return pd.concat(
            [baselines(part) for part in read_puzzles(puzzles, _COLUMNS)], ignore_index=True
        )
    if missing := [column for column in _COLUMNS if column not in puzzles]:
        raise ValueError(
            f"the puzzles lack {', '.join(missing)}; give the table that `cogniload puzzles` writes"
        )
    categories = [read_question(text.rstrip().rpartition("\n")[2])[1] for text in puzzles["text"]]
    values = [find_last_value(*pair) for pair in zip(puzzles["text"], categories, strict=True)]
    guess = [1 / domain_size(*pair) for pair in zip(categories, puzzles["d"], strict=True)]
    right = [int(value == gold) for value, gold in zip(values, puzzles["gold"], strict=True)]
    return puzzles[_KEYS].reset_index(drop=True).assign(guess=guess, last_clause=right)


def write_baselines(puzzles: Path, target: Path) -> None:
    """Write the baselines of a puzzles table as a table of a build."""
    write_table(target, baselines(puzzles))


def find_last_value(text: str, category: str) -> str | None:
    """Return the value that the last update of a category sets, anybody's; None if no statement updates it."""
    verb = PHRASES[category].update.partition("{}")[0]
    at, value = len(text), None
    while value is None and (at := text.rfind(f" {verb}", 0, at)) >= 0:
        if not text.endswith(
            (" recently", " last"), 0, at
        ):  # conditions and initial lines share the verb "read a"
            clause, _, _ = text[at + 1 :].partition("\n")[0].partition(" and ")
            value = _values(category).get(clause.rstrip())
    return value


@cache
def _values(category: str) -> dict[str, str]:
    return {clause: value for value, clause in clauses("update")[category].items()}
