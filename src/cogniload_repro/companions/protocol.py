"""What a model is asked with a perturbed puzzle, or with several puzzles at once, and how the answer is judged.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document asks for answers in
``\\boxed{}``; a CogniLoad puzzle names its own form of answer, so the protocol leaves the form to the statement.
Prompts are worded anew. Perturbed texts are prepared first (flattened lines, `prepare`); the condition ``baseline`` is
the prepared text without perturbation, with which perturbed answers are compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cogniload_repro.companions.perturbations import PERTURBATIONS, find_perturbation, perturb, prepare
from cogniload_repro.puzzles.puzzle import INSTRUCTION
from cogniload_repro.puzzles.readers import read_puzzles
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, Question, find_bucket

#: The condition of a text that is prepared like perturbed ones and asked as it is.
BASELINE = "baseline"
_PROTOCOL = (
    "Work in two stages:\n"
    "1. The TRANSFORMATION RULE says how a problem statement was turned into the TRANSFORMED INPUT. Undo it, and write "
    "the statement down as it was.\n"
    "2. Solve the problem of that statement, and give the answer in the form that it asks for."
)
_OVERLOAD = (
    "Solve all of these problems one after the other; they have nothing to do with one another. For each, put the "
    "single sentence that answers it within \\boxed{}."
)


def protocol_prompt(name: str, text: str, other: str | None = None) -> str:
    """Return the query for a perturbed text: the two stages, the rule, the perturbed text.

    A double negation needs no decoding, so ``not_not`` is asked as it stands (Appendix A.1).
    """
    perturbed, rule = perturb(name, text, other), find_perturbation(name).rule
    if not rule:
        return perturbed
    return f"{_PROTOCOL}\n\nTRANSFORMATION RULE:\n{rule}\n\nTRANSFORMED INPUT:\n{perturbed}"


def overload_prompt(statements: Sequence[str]) -> str:
    """Return one query with all statements, of which the last is the one to score (Section 4)."""
    bare = [statement.removeprefix(INSTRUCTION).strip() for statement in statements]
    numbered = [f"Problem {number}:\n{statement}" for number, statement in enumerate(bare, 1)]
    return "\n\n".join([_OVERLOAD, *numbered])


def is_last_solved(response: str, *, poi: str, gold: str, domain: Sequence[str], category: str) -> bool:
    """Return whether any boxed answer of a response is right for the last puzzle, whose question is given.

    The document counts every box, because models answer out of order. A box is judged like a response of its own
    (`verdict.find_bucket`) if it names the person of interest; a bare value may belong to any of the puzzles.
    """
    named = [answer for answer in boxed_answers(response) if re.search(rf"\b{re.escape(poi)}\b", answer)]
    question = Question(poi, gold, domain, category)
    return any(find_bucket(answer, question)[0] in CORRECT_BUCKETS for answer in named)


def boxed_answers(response: str) -> Iterator[str]:
    r"""Yield what stands in each ``\boxed{}``, in order, braces within it matched; a box left open is none."""
    for part in response.split("\\boxed{")[1:]:
        depth = 1
        for index, symbol in enumerate(part):
            depth += (symbol == "{") - (symbol == "}")
            if not depth:
                yield part[:index]
                break


class Query(NamedTuple):
    """What a model is asked about the puzzle of a name.

    The condition is empty for the puzzle as it is, ``baseline``, a key of `PERTURBATIONS`, or ``overload_k`` for k
    puzzles at once.
    """

    name: str
    condition: str
    text: str


def write_queries(
    puzzles: Iterable[tuple[str, str]], perturbation: str | None = None, overload: int = 1
) -> Iterator[Query]:
    """Yield what to ask a model about each puzzle, given as name and text, cell by cell.

    ``perturbation`` is a key of `PERTURBATIONS` or ``baseline``; ``overload`` the puzzles per query, the puzzle itself
    last. Without either the puzzles stay as they are. Other statements that a query needs are those before it in its
    cell, the last ones before the first. A perturbation and its baseline see the same prepared text.
    """
    if overload < 1 or (perturbation is not None and overload != 1):
        raise ValueError(f"perturbation {perturbation!r} with {overload} puzzles per query: choose one of both")
    pairs = perturbation not in (None, BASELINE) and find_perturbation(str(perturbation)).pairs
    condition = perturbation or (f"overload_{overload}" if overload > 1 else "")
    cells = defaultdict(list)
    for name, text in puzzles:
        cells[tuple(name.split("_")[:3])].append((name, text))
    for cell, own in cells.items():
        if len(own) < (needed := max(2 if pairs else 1, overload)):
            raise ValueError(f"cell N, d, needles = {', '.join(cell)} has {len(own)} puzzles of {needed} for a query")
        texts = [text for _, text in own]
        for at, (name, text) in enumerate(own):
            if perturbation == BASELINE:
                text = prepare(text)
            elif perturbation:
                text = protocol_prompt(perturbation, prepare(text), prepare(texts[at - 1]))
            elif overload > 1:
                text = overload_prompt([texts[one] for one in range(at + 1 - overload, at + 1)])
            yield Query(name, condition, text)


def list_queries(folder: str | Path, perturbation: str | None = None, overload: int = 1) -> Iterator[Query]:
    """Yield `write_queries` for the puzzles of a set (`read_puzzles`)."""
    parts = read_puzzles(folder, ["name", "text"])
    return write_queries((pair for part in parts for pair in part.itertuples(index=False)), perturbation, overload)


def split_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells or scores of a build with the perturbation as a column of its own, a factor for regressions.

    Answers to perturbed prompts are imported as those of a model "MODEL (NAME)"; the column model loses the addition,
    and perturbation is the condition of the `Query`, "" for none.
    """
    names = "|".join([*PERTURBATIONS, BASELINE, r"overload_\d+"])
    parts = cells["model"].astype(str).str.extract(rf"^(?P<model>.*?)(?: \((?P<perturbation>{names})\))?$", re.DOTALL)
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
    both = both[both["perturbation"].isin(PERTURBATIONS)].assign(refused=both["stopped"] == "refusal")
    for name, order in (("model", split["model"].unique()), ("perturbation", list(PERTURBATIONS))):
        both[name] = pd.Categorical(both[name], order)
    means = both.groupby(["model", "perturbation"], observed=True).agg(
        total=("correct", "size"), accuracy=("correct", "mean"), baseline=("correct_plain", "mean"),
        refusals=("refused", "mean"), tokens=("response_tokens", "mean"), plain=("response_tokens_plain", "mean"),
    )  # fmt: skip
    means.insert(3, "drop", means["baseline"] - means["accuracy"])
    means["tokens_ratio"] = means["tokens"] / means.pop("plain")
    return means.reset_index().astype({"model": str, "perturbation": str})
