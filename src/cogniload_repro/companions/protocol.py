"""What a model is asked with a perturbed puzzle, or with several puzzles at once, and how the answer is judged.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document asks for answers in
``\\boxed{}``; a CogniLoad puzzle names its own form of answer, so the protocol leaves the form to the statement.
Prompts are worded anew.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cogniload_repro.companions.perturbations import PERTURBATIONS, find_perturbation, perturb, prepare
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.puzzle import INSTRUCTION
from cogniload_repro.puzzles.readers import Item, Unreadable, find_sets, read_row, read_set
from cogniload_repro.puzzles.sets import write_jsonl
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, score_response

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

    Raises
    ------
    ValueError
        As `perturb`.
    """
    perturbed, rule = perturb(name, text, other), find_perturbation(name).rule
    if not rule:
        return perturbed
    return f"{_PROTOCOL}\n\nTRANSFORMATION RULE:\n{rule}\n\nTRANSFORMED INPUT:\n{perturbed}"


def overload_prompt(statements: Sequence[str]) -> str:
    """Return one query with all statements, of which the last is the one to score (Section 4).

    Raises
    ------
    ValueError
        If there are no statements.
    """
    if not statements:
        raise ValueError("a query needs at least one statement, and there are none; give the one to score last")
    bare = [statement.removeprefix(INSTRUCTION).strip() for statement in statements]
    numbered = [f"Problem {number}:\n{statement}" for number, statement in enumerate(bare, 1)]
    return "\n\n".join([_OVERLOAD, *numbered])


def is_last_solved(response: str, *, poi: str, gold: str, domain: Sequence[str], category: str) -> bool:
    """Return whether any boxed answer of a response is right for the last puzzle, whose question is given.

    The document counts every box, because models answer out of order. A box is judged like a response of its own
    (`score_response`) if it names the person of interest; a bare value may belong to any of the puzzles.
    """
    name = re.compile(rf"\b{re.escape(poi)}\b")
    return any(
        score_response(answer, poi=poi, gold=gold, domain=domain, category=category) in CORRECT_BUCKETS
        for answer in boxed_answers(response)
        if name.search(answer)
    )


def boxed_answers(response: str) -> Iterator[str]:
    r"""Yield what stands in each ``\boxed{}``, in order, braces within it matched; a box left open is none.

    Examples
    --------
    >>> list(boxed_answers("first \\boxed{1}, then \\boxed{\\frac{1}{2}}, then \\boxed{3"))
    ['1', '\\frac{1}{2}']
    """
    for part in response.split("\\boxed{")[1:]:
        depth = 1
        for place, symbol in enumerate(part):
            depth += (symbol == "{") - (symbol == "}")
            if not depth:
                yield part[:place]
                break


class Query(NamedTuple):
    """What a model is asked about one puzzle: the puzzle's name, the condition it is asked under, and the text.

    The condition is empty for the puzzle as it is, a key of `PERTURBATIONS`, or ``overload_k`` for k puzzles at once.
    """

    name: str
    condition: str
    text: str


def name_condition(perturbation: str | None, overload: int) -> str:
    """Return the condition of a `Query`; perturbing and overloading at once are refused: they are two experiments.

    Raises
    ------
    ValueError
        If both are asked for, fewer puzzles a query than one, or a perturbation that there is not.
    """
    if overload < 1 or (perturbation is not None and overload != 1):
        raise ValueError(f"perturbation {perturbation!r} with {overload} puzzles a query: choose one of both")
    if perturbation is not None:
        find_perturbation(perturbation)
    return perturbation or (f"overload_{overload}" if overload > 1 else "")


def count_per_query(perturbation: str | None, overload: int) -> int:
    """Return how many puzzles of a cell a query needs: one that weaves two together, or holds several, needs others."""
    return max(2 if perturbation and find_perturbation(perturbation).pairs else 1, overload)


def write_query(texts: Sequence[str], place: int, perturbation: str | None = None, overload: int = 1) -> str:
    """Return what a model is asked about one puzzle of a cell.

    Parameters
    ----------
    texts : sequence of str
        Statements of the cell's puzzles, as many as `count_per_query` says or more.
    place : int
        Which of them is asked about. Those that the query brings besides are the ones before it, the last ones before
        the first.
    perturbation, overload
        As in `list_queries`.
    """
    if perturbation:
        return protocol_prompt(perturbation, prepare(texts[place]), prepare(texts[place - 1]))
    if overload > 1:
        return overload_prompt([texts[at] for at in range(place + 1 - overload, place + 1)])
    return texts[place]


def list_queries(folder: str | Path, perturbation: str | None = None, overload: int = 1) -> Iterator[Query]:
    """Yield what to ask a model for each puzzle of a set, cell by cell.

    The statements that a query brings besides, woven in or solved first, are those before it in its own cell (N, d,
    needles), the last ones before the first. Perturbed texts are prepared as the document prepares them.

    Parameters
    ----------
    folder : path
        A set in any form that `read_set` takes.
    perturbation : str, optional
        A key of `PERTURBATIONS`; the puzzles as they are without.
    overload : int
        Puzzles a query, the puzzle itself last.

    Raises
    ------
    ValueError
        If both are asked for, a cell has too few puzzles, or one cannot be read or perturbed.
    """
    condition, needed = name_condition(perturbation, overload), count_per_query(perturbation, overload)
    read = (_read_puzzle(where, item) for place in find_sets(folder) for where, item in read_set(place))
    if not condition:
        yield from (Query(name, "", text) for name, text in read)
        return
    cells: dict[tuple, list[tuple[str, str]]] = {}
    for name, text in read:
        cells.setdefault(tuple(map(int, name.split("_")[:3])), []).append((name, text))
    for cell, puzzles in cells.items():
        if len(puzzles) < needed:
            raise ValueError(
                f"the cell N, d, needles = {cell} has {len(puzzles)} puzzles of {needed} that a query needs"
            )
        texts = [text for _, text in puzzles]
        for place, (name, _) in enumerate(puzzles):
            yield Query(name, condition, write_query(texts, place, perturbation, overload))


def write_queries(folder: str | Path, queries: Iterable[Query]) -> Path:
    """Write ``queries.jsonl`` beside a set of puzzles, and return it; in each line: name, perturbation, query.

    The puzzles stay as they are, so that answers are scored and counted by cell as ever.
    """
    fields = ({"name": name, "perturbation": condition, "query": text} for name, condition, text in queries)
    path = Path(folder) / "queries.jsonl"
    write_jsonl(path, fields)
    return path


def split_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells of a build with the perturbation of prompts as a column of its own, a factor for regressions.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it. Answers to perturbed prompts are imported as those of a model "MODEL (NAME)".

    Returns
    -------
    DataFrame
        The same rows, model without the addition, and perturbation: the condition of the `Query`, "" for none.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": ["mine", "mine (rail_fence)", "mine (v2)"]})
    >>> split_perturbations(cells).to_dict("list")
    {'model': ['mine', 'mine', 'mine (v2)'], 'perturbation': ['', 'rail_fence', '']}
    """
    names = "|".join([*PERTURBATIONS, r"overload_\d+"])
    parts = cells["model"].astype(str).str.extract(rf"^(?P<model>.*?)(?: \((?P<perturbation>{names})\))?$", re.DOTALL)
    split = cells.assign(model=parts["model"], perturbation=parts["perturbation"].fillna(""))
    split.attrs = dict(cells.attrs)
    return split


def _read_puzzle(where: str, item: Item) -> tuple[str, str]:
    """Return the name and the text of one puzzle of a set."""
    row = read_row(item)
    if isinstance(row, Unreadable):
        raise ValueError(f"{where}: {row.reason}; mend or remove it")
    if not parse_name(row["name"]) or "text" not in row:
        raise ValueError(f"{where}: no text with a name such as 20_3_10_123456_red; a query needs both")
    return row["name"], row["text"]
