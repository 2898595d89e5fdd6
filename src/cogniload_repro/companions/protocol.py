"""What a model is asked with a perturbed puzzle, and perturbed answers against their baseline.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document asks for answers in
``\\boxed{}``; a CogniLoad puzzle names its own form of answer, so the protocol leaves the form to the statement.
Prompts are worded anew. Perturbed texts are prepared first (flattened lines, `prepare`); the condition ``baseline`` is
the prepared text without perturbation, with which perturbed answers are compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cogniload_repro.companions.perturbations import (
    PERTURBATIONS,
    find_perturbation,
    perturb,
    prepare,
)
from cogniload_repro.puzzles.sets import read_puzzles

#: Version of what models are asked, raised when prompts, verdicts or the order of draws change.
COMPARABILITY = 1
#: The condition of a text that is prepared like perturbed ones and asked as it is.
BASELINE = "baseline"
_PROTOCOL = (
    "Work in two stages:\n"
    "1. The TRANSFORMATION RULE says how a problem statement was turned into the TRANSFORMED INPUT. Undo it, and write "
    "the statement down as it was.\n"
    "2. Solve the problem of that statement, and give the answer in the form that it asks for."
)


def protocol_prompt(name: str, text: str, other: str | None = None) -> str:
    """Return the query for a perturbed text: the two stages, the rule, the perturbed text.

    A double negation needs no decoding, so ``not_not`` is asked as it stands (Appendix A.1).
    """
    perturbed, rule = perturb(name, text, other), find_perturbation(name).rule
    if not rule:
        return perturbed
    return f"{_PROTOCOL}\n\nTRANSFORMATION RULE:\n{rule}\n\nTRANSFORMED INPUT:\n{perturbed}"


class Query(NamedTuple):
    """What a model is asked about the puzzle of a name.

    The condition is empty for the puzzle as it is, ``baseline``, or a key of `PERTURBATIONS`.
    """

    name: str
    condition: str
    text: str


def write_queries(
    puzzles: Iterable[tuple[str, str]], perturbation: str | None = None
) -> Iterator[Query]:
    """Yield what to ask a model about each puzzle, given as name and text, cell by cell.

    ``perturbation`` is a key of `PERTURBATIONS` or ``baseline``, and both see the same prepared text; without it the
    puzzles stay as they are. The statement that an interleaving needs beside is the one before in its cell.
    """
    pairs = perturbation not in (None, BASELINE) and find_perturbation(str(perturbation)).pairs
    cells = defaultdict(list)
    for name, text in puzzles:
        cells[tuple(name.split("_")[:3])].append((name, text))
    for cell, own in cells.items():
        if len(own) < 2 and pairs:
            raise ValueError(
                f"cell N, d, needles = {', '.join(cell)} has 1 puzzle of 2 for a query"
            )
        for at, (name, text) in enumerate(own):
            if perturbation == BASELINE:
                text = prepare(text)
            elif perturbation:
                text = protocol_prompt(perturbation, prepare(text), prepare(own[at - 1][1]))
            yield Query(name, perturbation or "", text)


def list_queries(source: str | Path, perturbation: str | None = None) -> Iterator[Query]:
    """Yield `write_queries` for the puzzles of a set (`read_puzzles`)."""
    parts = read_puzzles(source, ["name", "text"])
    return write_queries(
        (pair for part in parts for pair in part.itertuples(index=False)), perturbation
    )


def split_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells or scores of a build with the perturbation as a column of its own, a factor for regressions.

    Answers to perturbed prompts are imported as those of a model "MODEL (NAME)"; the column model loses the addition,
    and perturbation is the condition of the `Query`, "" for none.
    """
    names = "|".join([*PERTURBATIONS, BASELINE])
    parts = (
        cells["model"]
        .astype(str)
        .str.extract(rf"^(?P<model>.*?)(?: \((?P<perturbation>{names})\))?$", re.DOTALL)
    )
    return cells.assign(model=parts["model"], perturbation=parts["perturbation"].fillna(""))


def compare_perturbations(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare answers to perturbed prompts (a build's scores) with the same model's answers to the same puzzles.

    These are the answers to the condition ``baseline`` or, for a model without any, to the puzzles as they are.

    One row per model and perturbation: model, perturbation, total (puzzles answered under both conditions),
    accuracy and baseline (fractions of these), drop (baseline less accuracy), refusals (share of answers that the
    source marks as refused), tokens (mean response tokens; NaN where not counted), tokens_ratio (to the baseline).
    The mean of drop over the perturbations of a model is the average drop of the document's Figure 4.
    """
    split = split_perturbations(scores).astype({"response_tokens": float})
    prepared = split["perturbation"] == BASELINE
    as_they_are = (split["perturbation"] == "") & ~split["model"].isin(split.loc[prepared, "model"])
    both = split.merge(split[prepared | as_they_are], on=["model", "name"], suffixes=("", "_plain"))
    both = both[both["perturbation"].isin(PERTURBATIONS)].assign(
        refused=both["stopped"] == "refusal"
    )
    for name, order in (("model", split["model"].unique()), ("perturbation", list(PERTURBATIONS))):
        both[name] = pd.Categorical(both[name], order)
    means = both.groupby(["model", "perturbation"], observed=True).agg(
        total=("correct", "size"), accuracy=("correct", "mean"), baseline=("correct_plain", "mean"),
        refusals=("refused", "mean"), tokens=("response_tokens", "mean"), plain=("response_tokens_plain", "mean"),
    )  # fmt: skip
    means.insert(3, "drop", means["baseline"] - means["accuracy"])
    means["tokens_ratio"] = means["tokens"] / means.pop("plain")
    return means.reset_index().astype({"model": str, "perturbation": str})
