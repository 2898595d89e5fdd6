"""What a model is asked with a perturbed puzzle, and perturbed answers against their baseline.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document
asks for answers in ``\\boxed{}``; a CogniLoad puzzle names its own form of answer, so the protocol
leaves the form to the statement. Prompts are worded anew. Texts are prepared before they are
perturbed (`prepare`); the condition ``baseline`` is the prepared text without perturbation, with
which perturbed answers are compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cogniload_repro.asking.perturbations import (
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
    "1. The TRANSFORMATION RULE says how a problem statement was turned into the TRANSFORMED INPUT."
    " Undo it, and write the statement down as it was.\n"
    "2. Solve the problem of that statement, and give the answer in the form that it asks for."
)


class Query(NamedTuple):
    """What a model is asked about the puzzle of a name.

    The condition is empty for the puzzle as it is, ``baseline``, or a key of `PERTURBATIONS`.
    """

    name: str
    condition: str
    text: str


def protocol_prompt(name: str, text: str, other: str | None = None) -> str:
    """Return the query for a perturbed text: the two stages, the rule, the perturbed text.

    A double negation needs no decoding, so ``not_not`` is asked as it stands (Appendix A.1).
    """
    perturbed = perturb(name, text, other)
    rule = find_perturbation(name).rule
    if not rule:
        return perturbed
    return f"{_PROTOCOL}\n\nTRANSFORMATION RULE:\n{rule}\n\nTRANSFORMED INPUT:\n{perturbed}"


def write_queries(
    puzzles: Iterable[tuple[str, str]], perturbation: str | None = None
) -> Iterator[Query]:
    """Yield what to ask a model about each puzzle, given as name and text, cell by cell.

    ``perturbation`` is a key of `PERTURBATIONS` or ``baseline``, and both see the same prepared
    text; without it the puzzles stay as they are. An interleaving weaves in the puzzle before in
    the same cell.
    """
    is_perturbed = perturbation not in (None, BASELINE)
    needs_pairs = is_perturbed and find_perturbation(str(perturbation)).pairs
    cells = defaultdict(list)
    for name, text in puzzles:
        cell = tuple(name.split("_")[:3])
        cells[cell].append((name, text))
    for cell, pairs in cells.items():
        if needs_pairs and len(pairs) < 2:
            numbers = ", ".join(cell)
            raise ValueError(
                f"cell N, d, needles = {numbers} has 1 puzzle of 2 for a query"
            )
        _, other = pairs[-1]
        for name, text in pairs:
            query = text
            if perturbation == BASELINE:
                query = prepare(text)
            elif perturbation:
                query = protocol_prompt(perturbation, prepare(text), prepare(other))
            yield Query(name, perturbation or "", query)
            other = text


def list_queries(
    source: str | Path, perturbation: str | None = None
) -> Iterator[Query]:
    """Yield `write_queries` for the puzzles of a set (`read_puzzles`)."""
    puzzles = read_puzzles(source, ["name", "text"])
    return write_queries(puzzles.itertuples(index=False), perturbation)


def split_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells or scores with the perturbation as a column, a factor for regressions.

    Answers to perturbed prompts are imported as those of a model "MODEL (NAME)"; the column model
    loses the addition, and perturbation is the condition of the `Query`, "" for none.
    """
    names = "|".join([*PERTURBATIONS, BASELINE])
    pattern = rf"^(?P<model>.*?)(?: \((?P<perturbation>{names})\))?$"
    parts = cells["model"].astype(str).str.extract(pattern, re.DOTALL)
    return cells.assign(
        model=parts["model"], perturbation=parts["perturbation"].fillna("")
    )


def compare_perturbations(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare answers to perturbed prompts with the same model's answers to the same puzzles.

    The latter are those to the condition ``baseline`` or, for a model without any, to the puzzles
    as they are.

    Parameters
    ----------
    scores : DataFrame
        The scores of a build.

    Returns
    -------
    DataFrame
        One row per model and perturbation: model, perturbation, total (puzzles answered under both
        conditions), accuracy and baseline (fractions of these), drop (baseline less accuracy),
        refusals (share of answers that the source marks as refused), tokens (mean response tokens;
        NaN where not counted), tokens_ratio (to the baseline). The mean of drop over the
        perturbations of a model is the average drop of the document's Figure 4.
    """
    answers = split_perturbations(scores).astype({"response_tokens": float})
    is_baseline = answers["perturbation"] == BASELINE
    has_baseline = answers["model"].isin(answers.loc[is_baseline, "model"])
    is_plain = (answers["perturbation"] == "") & ~has_baseline
    plain = answers[is_baseline | is_plain]
    pairs = answers.merge(plain, on=["model", "name"], suffixes=("", "_plain"))
    pairs = pairs[pairs["perturbation"].isin(PERTURBATIONS)]
    pairs["refused"] = pairs["stopped"] == "refusal"
    means = pairs.groupby(["model", "perturbation"], sort=False).agg(
        total=("name", "size"),
        accuracy=("correct", "mean"),
        baseline=("correct_plain", "mean"),
        refusals=("refused", "mean"),
        tokens=("response_tokens", "mean"),
        plain_tokens=("response_tokens_plain", "mean"),
    )
    means["drop"] = means["baseline"] - means["accuracy"]
    means["tokens_ratio"] = means["tokens"] / means.pop("plain_tokens")
    return means.reset_index()
