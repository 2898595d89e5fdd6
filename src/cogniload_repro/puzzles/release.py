"""Puzzles as the authors' release has them: a text ``exp/**/NAME.txt``, metadata ``meta/**/NAME_state.json``."""

import json
from collections.abc import Mapping
from pathlib import PurePath

from cogniload_repro.puzzles.catalog import check_row, nominal_ratio, parse_name
from cogniload_repro.puzzles.text import read_question

#: How the names of metadata files end.
STATE = "_state.json"

_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")


def name_state(path: PurePath) -> str:
    """Return the name of the puzzle that a metadata file is about."""
    return path.name.removesuffix(STATE)


def parse_state(metadata: str) -> dict:
    """Return the metadata of a puzzle.

    Raises
    ------
    ValueError
        If the text is no JSON object or lacks what describes the puzzle.
    """
    try:
        state = json.loads(metadata)
    except RecursionError as error:
        raise ValueError(f"the metadata are nested too deeply ({error})") from None
    if not isinstance(state, dict):
        raise ValueError("the metadata are not a JSON object")
    if missing := [key for key in _KEYS if key not in state]:
        raise ValueError(f"the metadata lack {', '.join(missing)}")
    return state


def spent_counters(state: Mapping) -> set[str]:
    """Return which of needles and hays say nothing: the released program writes what is left of them at the end, 0."""
    return {key for key in ("needles", "hays") if state.get(key) == 0}


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the release as a row of the puzzles table.

    Raises
    ------
    ValueError
        If the metadata are not JSON, lack a key, or contradict the name or the text.
    """
    parts = parse_name(name)
    if parts is None:
        raise ValueError("the name is not of the form N_d_needles_puzzleId_gold")
    state = parse_state(metadata)
    said = state["num_statements"], state["difficulty"], state["needles"]
    named = parts.N, parts.d, 0 if "needles" in spent_counters(state) else parts.needles
    if said != named:
        raise ValueError(f"the metadata say N, d, needles = {said}, the name {tuple(parts[:3])}")
    _, category = read_question(text.rstrip().rpartition("\n")[2])
    domains = state["category_defaults"]
    domain = domains.get(category) if isinstance(domains, dict) else None
    if not isinstance(domain, list):
        raise ValueError(f"the metadata lack a list of values of {category}")
    row = {
        **parts._asdict(),
        "name": name,
        "ratio_pct": nominal_ratio(parts.N, parts.needles),
        "rho": parts.needles / parts.N,
        "text": text,
        "poi": state["poi"],
        "category": category,
        "domain": domain,
    }
    return check_row(row)
