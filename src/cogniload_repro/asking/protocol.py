"""The prompts for perturbed puzzles, and perturbed answers compared with their baseline.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document
asks for answers in ``\\boxed{}``; a CogniLoad puzzle states the form of its answer, so the protocol
leaves the form to the puzzle. The wording of the prompts is ours. Texts are prepared before they
are perturbed (`prepare`); under the condition ``baseline`` the prepared text is asked without
perturbation, for comparison.
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

#: Version of what models are asked, raised when prompts, outcomes or the order of draws change.
COMPARABILITY = 1
#: The condition of a text that is prepared like the others and asked without perturbation.
BASELINE = "baseline"
_PROTOCOL = (
    "Work in two stages:\n"
    "1. The TRANSFORMATION RULE says how a problem statement was turned into the TRANSFORMED INPUT."
    " Undo it, and write the statement down as it was.\n"
    "2. Solve the problem of that statement, and give the answer in the form that it asks for."
)


class Query(NamedTuple):
    """The prompt for one puzzle: the puzzle's name, the condition and the text.

    The condition is "" for the original puzzle, ``baseline``, or a key of `PERTURBATIONS`.
    """

    name: str
    condition: str
    text: str


def protocol_prompt(name: str, text: str, other: str | None = None) -> str:
    """Return the prompt for a text under a perturbation: two stages, the rule, the result.

    Double negations need no decoding, so for ``not_not`` it is the result alone (Appendix A.1).
    """
    perturbed = perturb(name, text, other)
    rule = find_perturbation(name).rule
    if not rule:
        return perturbed
    return f"{_PROTOCOL}\n\nTRANSFORMATION RULE:\n{rule}\n\nTRANSFORMED INPUT:\n{perturbed}"


def write_queries(
    puzzles: Iterable[tuple[str, str]], perturbation: str | None = None
) -> Iterator[Query]:
    """Yield the prompts for puzzles, given as pairs of name and text, cell by cell.

    ``perturbation`` is a key of `PERTURBATIONS` or ``baseline``; both start from the prepared text.
    Without it, the puzzles are unchanged. An interleaving adds the previous puzzle of the same
    cell, and to the first puzzle the last.
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
                f"cell N, d, needles = {numbers} has 1 puzzle; {perturbation} needs 2 per cell"
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
    """Yield the prompts (`write_queries`) for a stored set of puzzles (`read_puzzles`)."""
    pairs = (
        pair
        for puzzles in read_puzzles(source, ["name", "text"])
        for pair in puzzles.itertuples(index=False)
    )
    return write_queries(pairs, perturbation)


def split_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells or scores with the perturbation as a column, a factor for regressions.

    Answers to perturbed prompts are imported as those of a model "MODEL (NAME)". Here NAME, the
    condition of the `Query`, moves from the column model to the column perturbation ("" for none).
    """
    names = "|".join([*PERTURBATIONS, BASELINE])
    pattern = rf"^(?P<model>.*?)(?: \((?P<perturbation>{names})\))?$"
    parts = cells["model"].astype(str).str.extract(pattern, re.DOTALL)
    return cells.assign(
        model=parts["model"], perturbation=parts["perturbation"].fillna("")
    )


def compare_perturbations(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare answers to perturbed prompts with the same model's answers to the same puzzles.

    The latter are the answers under the condition ``baseline`` or, if a model has none, the answers
    to the original puzzles.

    Parameters
    ----------
    scores : DataFrame
        The scores of a build.

    Returns
    -------
    DataFrame
        One row per model and perturbation: model, perturbation, total (puzzles answered under both
        conditions), accuracy and baseline (fractions of these), drop (baseline minus accuracy),
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
