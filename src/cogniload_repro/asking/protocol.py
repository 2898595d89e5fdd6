"""The prompts for puzzles, perturbed or not.

Source: "Robust Reasoning Benchmark" (arXiv:2604.08571), Section 4 and Appendix A.2. The document
asks for answers in ``\\boxed{}``; a CogniLoad puzzle states the form of its answer, so the protocol
leaves the form to the puzzle. The wording of the prompts is ours. Texts are prepared before they
are perturbed (`prepare`); under the condition ``baseline`` the prepared text is asked without
perturbation, for comparison.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.asking.perturbations import (
    find_perturbation,
    perturb,
    prepare,
)
from cogniload_repro.files import replacing
from cogniload_repro.puzzles.rows import read_batches

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
    """The prompt for one puzzle, by the puzzle's name.

    The perturbation is "" for the original puzzle, ``baseline``, or a key of `PERTURBATIONS`.
    """

    name: str
    perturbation: str
    prompt: str


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


def list_queries(path: Path, perturbation: str | None) -> Iterator[Query]:
    """Yield the prompts (`write_queries`) for a table of puzzles."""
    pairs = (
        (row["name"], row["text"])
        for batch in read_batches(path, ["name", "text"])
        for row in batch.to_pylist()
    )
    return write_queries(pairs, perturbation)


def write_prompts(folder: Path, queries: Iterable[Query]) -> Path:
    """Write ``prompts.jsonl`` (per line: name, perturbation, prompt) and return its path."""
    path = folder / "prompts.jsonl"
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        for query in queries:
            file.write(json.dumps(query._asdict(), ensure_ascii=False) + "\n")
    return path
