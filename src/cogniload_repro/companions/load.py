"""Cognitive load as one number: state bits times predicates times steps.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08), sections "The Three
Components of Cognitive Load" and "Synthesis". The four planning puzzles stand here as the post gives them beside what
a search of their states gives; a CogniLoad cell, which the post does not treat, gets a definition of ours.
"""

from math import comb, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.companions.planning import search_blocks, search_checkers, search_hanoi, search_river

#: The post's threshold for Claude 3.7 Sonnet, section "Unified Performance Curve".
CRITICAL_LOAD = 254


class Load(NamedTuple):
    """A load and its factors.

    Attributes
    ----------
    state_bits : float
        S, the binary logarithm of the number of states.
    predicates : float
        C, the atomic predicates that decide whether one step is valid.
    steps : float
        D, the steps of the solution.
    """

    state_bits: float
    predicates: float
    steps: float

    @property
    def load(self) -> float:
        """L = S x C x D, in bits times predicates times steps."""
        return self.state_bits * self.predicates * self.steps


def hanoi_load(n: int) -> Load:
    """Return the post's load of Tower of Hanoi with n disks; its steps are the recursion's depth, not the moves."""
    return Load(n * log2(3), 3, n)


def checkers_load(n: int) -> Load:
    """Return the post's load of Checker Jumping with n checkers a colour; its state bits are an approximation."""
    return Load(2 * n, 8, n**2 + 2 * n)


def river_load(n: int) -> Load:
    """Return the post's load of River Crossing with n pairs; the moves m(n) are found by search.

    Raises
    ------
    ValueError
        If the post's boat cannot bring n pairs over.
    """
    moves = search_river(n).moves
    if moves is None:
        raise ValueError(f"{n} pairs cannot cross in the post's boat, so there is no load; take at most 5 pairs")
    return Load(2 * n + 1, 2 * n * (n - 1), moves)


#: For every puzzle: search, sizes searched, the post's load, its minimum of moves, all arrangements.
_PUZZLES: dict[str, tuple[Any, ...]] = {
    "Tower of Hanoi": (search_hanoi, range(1, 11), hanoi_load, lambda n: 2**n - 1, lambda n: 3**n),
    "Checker Jumping": (
        search_checkers, range(1, 7), checkers_load, lambda n: (n + 1) ** 2 - 1, lambda n: (2 * n + 1) * comb(2 * n, n),
    ),
    "River Crossing": (search_river, range(2, 6), river_load, {2: 5, 3: 11}.get, lambda n: 2 ** (2 * n + 1)),
}  # fmt: skip


def compare_puzzles() -> pd.DataFrame:
    """Search the post's three puzzles, and set what is found beside what the post states.

    Returns
    -------
    DataFrame
        One row a puzzle and n: puzzle, n; moves, the fewest found; moves_stated, NaN where the post has none;
        arrangements, all that its definition counts; reachable, those that play can reach; state_bits, the post's S;
        arrangement_bits and reachable_bits; predicates and steps, the post's C and D; load, the post's; load_reachable,
        with the reachable states; load_moves, with the fewest moves as steps as well.
    """
    rows = []
    for puzzle, (search, sizes, load, stated, arrangements) in _PUZZLES.items():
        for n in sizes:
            found, own = search(n), load(n)
            bits = log2(found.reachable)
            rows.append(
                {"puzzle": puzzle, "n": n, "moves": found.moves, "moves_stated": stated(n)}
                | {"arrangements": arrangements(n), "reachable": found.reachable, "state_bits": own.state_bits}
                | {"arrangement_bits": log2(arrangements(n)), "reachable_bits": bits}
                | {"predicates": own.predicates, "steps": own.steps, "load": own.load}
                | {"load_reachable": own._replace(state_bits=bits).load}
                | {"load_moves": Load(bits, own.predicates, found.moves).load}
            )
    return pd.DataFrame(rows).astype({"moves_stated": float})


def search_excluded() -> pd.DataFrame:
    """Return states and moves of Blocks World, which the post leaves out of its analysis and gives no load.

    Returns
    -------
    DataFrame
        One row a number of blocks, 1 to 6: n, reachable, reachable_bits, moves to turn one stack over.
    """
    found = {n: search_blocks(n) for n in range(1, 7)}
    return pd.DataFrame(
        [
            {"n": n, "reachable": s.reachable, "reachable_bits": log2(s.reachable), "moves": s.moves}
            for n, s in found.items()
        ]
    )


def cell_load(N: int, d: int) -> Load:
    """Return the load of a CogniLoad cell, by a definition of ours that follows the post's word for word.

    S: max(d, 2) people have d attributes of max(d + 1, 3) values each (paper, Table 1), so a state holds
    max(d, 2) d log2 max(d + 1, 3) bits. C: a statement has 1 to d conditions and as many updates, each number equally
    likely (section 2.1.3), so that a step takes d + 1 predicates on average. D: the N statements, one step each.

    The share of needles does not enter: needles and hays have the same form, and a reader who follows everybody
    takes all of them. `cell_loads` has a reading in which it does.
    """
    people, values = max(d, 2), max(d + 1, 3)
    return Load(people * d * log2(values), d + 1, N)


def cell_loads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithms of loads of cells under the readings of what a step and a state are.

    Parameters
    ----------
    cells : DataFrame
        Columns N, d and rho.

    Returns
    -------
    DataFrame
        Same index; natural logarithms: ``everybody``, as `cell_load`; ``poi_only``, with the state of the person of
        interest alone and its needles as the only steps.
    """
    everybody = [cell_load(N, d) for N, d in zip(cells["N"], cells["d"], strict=True)]
    alone = [
        load._replace(state_bits=load.state_bits / max(d, 2), steps=N * rho)
        for load, N, d, rho in zip(everybody, cells["N"], cells["d"], cells["rho"], strict=True)
    ]
    return pd.DataFrame(
        {
            name: np.log([load.load for load in loads])
            for name, loads in (("everybody", everybody), ("poi_only", alone))
        },
        index=cells.index,
    )
