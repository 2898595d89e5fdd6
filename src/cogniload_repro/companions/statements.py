"""What the load post and the "Robust Reasoning Benchmark" state in numbers, each with what can be recomputed here.

A row of ``data/published/companions/claims.csv`` names the check that recomputes its value. One without a check is a
definition, which is followed here and cannot be wrong, or rests on answers of models that were not published.
"""

from collections import Counter
from math import comb, log2

import numpy as np
import pandas as pd

from cogniload_repro.companions.load import (
    CRITICAL_LOAD,
    checkers_load,
    river_load,
    search_checkers,
    search_hanoi,
    search_river,
)
from cogniload_repro.companions.perturbations import GROUPS, PERTURBATIONS
from cogniload_repro.companions.scap import BITS
from cogniload_repro.files import PUBLISHED

VERDICTS = ("holds", "differs", "definition", "cannot be told")


def load_statements() -> pd.DataFrame:
    """Return the list, all columns as text: id, document, where, statement, value, kind, check."""
    return pd.read_csv(PUBLISHED / "companions" / "claims.csv", dtype=str, keep_default_na=False)


def check_statements() -> pd.DataFrame:
    """Return `load_statements` with found, the recomputed value as printed, and verdict, one of `VERDICTS`."""
    rows = load_statements()
    recomputed = _recompute(rows) | {"": ""}
    # a number at the decimals that are printed, a word as it is
    found = [
        one
        if isinstance(one := recomputed[check], str)
        else f"{one:.{len(value.partition('.')[2])}f}"
        for check, value in zip(rows["check"], rows["value"], strict=True)
    ]
    unchecked = np.where(rows["kind"] == "definition", "definition", "cannot be told")
    verdicts = np.where(
        rows["check"] == "", unchecked, np.where(found == rows["value"], "holds", "differs")
    )
    return rows.assign(found=found, verdict=verdicts)


def _recompute(rows: pd.DataFrame) -> dict[str, float | str]:
    """Return the values of all checks by their names in the column `check`."""
    hanoi = {n: search_hanoi(n) for n in range(1, 11)}
    checkers = {n: search_checkers(n) for n in range(1, 7)}
    river = {n: search_river(n)[0] for n in range(2, 6)}
    loads, six = {n: river_load(n).load for n in river}, checkers_load(6).state_bits
    groups = Counter(one.group for one in PERTURBATIONS.values())
    stated = rows.set_index("statement")["value"]

    def value(start: str) -> float:
        return float(stated[stated.index.str.startswith(start)].iloc[0])

    return {
        "hanoi_moves": _where({n: moves == 2**n - 1 for n, (moves, _) in hanoi.items()}),
        "checkers_moves": _where(
            {n: moves == (n + 1) ** 2 - 1 for n, (moves, _) in checkers.items()}
        ),
        "hanoi_states": _where({n: states == 3**n for n, (_, states) in hanoi.items()}),
        "hanoi_bits": log2(3),
        "hanoi_coefficient": 3 * round(log2(3), 2),
        "hanoi_steps": hanoi[10][0],
        # the post's bits if they lie between those of reachable states and of all arrangements
        "checkers_bits": sorted([log2(checkers[6][1]), six, log2(13 * comb(12, 6))])[1],
        "checkers_steps": _where(
            {n: checkers_load(n).steps == moves for n, (moves, _) in checkers.items()}
        ),
        "river_bits": log2(2 ** (2 * 3 + 1)),
        "river_predicates": sum(2 for actor in range(3) for agent in range(3) if actor != agent),
        **{f"river_moves_{n}": river[n] for n in (2, 3)},
        **{f"river_load_{n}": loads[n] for n in (2, 3)},
        "river_ratio": loads[3] / CRITICAL_LOAD,
        "checkers_closed": _where(
            {n: checkers_load(n).load == 16 * n**3 + 32 * n**2 for n in checkers}
        ),
        "river_closed": _where(
            {n: loads[n] == (2 * n + 1) * (2 * n**2 - 2 * n) * river[n] for n in river}
        ),
        "three_digits": len(range(100, 1000)),
        **{f"{kind}_bits": bits for kind, bits in BITS.items()},
        # repeats hide where an interleaved text ends, dots as the only filler whether one ends in one dot or two
        "invertible": sum(
            not name.startswith(("interleave", "snake", "rectangle")) for name in PERTURBATIONS
        ),
        "by_category": "+".join(str(groups[group]) for group in GROUPS),
        "interleavings": sum(name.startswith("interleave") for name in PERTURBATIONS),
        "models": value("open-weights models") + value("closed-source models"),
        "qwen_vertical": value("Snake Vertical, AIME 2024, Qwen3 (%), near"),
        "within_limit": min(
            value("output tokens, Nemotron"), value("max_tokens with perturbations")
        ),
    }


def _where(agrees: dict[int, bool]) -> str:
    """Return the sizes at which something agrees, as the post writes them."""
    found = [size for size in agrees if agrees[size]]
    return (
        f"n = {found[0]}..{found[-1]}"
        if all(agrees.values())
        else f"n = {', '.join(map(str, found)) or 'none'}"
    )
