"""What the three documents state in numbers, each with what can be recomputed here.

``data/published/companions/claims.csv`` lists the numbers that "Why Some Puzzles Are Hard for LLMs" (the load post),
"Robust Reasoning Benchmark" and the paper's two earlier versions state about their own methods and results. A row
names the check that recomputes its value. One without a check is a definition, which is followed here and cannot be
wrong, or rests on answers of models that were not published.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice
from math import log2

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.companions.load import CRITICAL_LOAD, compare_puzzles, river_load
from cogniload_repro.companions.perturbations import PERTURBATIONS
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import correct_by, load_table
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import PUBLISHED

VERDICTS = ("holds", "differs", "definition", "cannot be told")
_COMPANIONS = PUBLISHED / "companions" / "claims.csv"
_SUBMISSION = PUBLISHED / "submission2025" / "table3_glm.csv"


def load_statements() -> pd.DataFrame:
    """Return the list, all columns as text: id, document, where, statement, value, kind, check."""
    return pd.read_csv(_COMPANIONS, dtype=str, keep_default_na=False)


def check_statements() -> pd.DataFrame:
    """Recompute what can be recomputed.

    Returns
    -------
    DataFrame
        `load_statements` and: found, the recomputed value as text, at the printed decimals if it is a number;
        verdict, one of `VERDICTS`.
    """
    rows = load_statements()
    found = [_find(check, value) if check else "" for check, value in zip(rows["check"], rows["value"], strict=True)]
    same = [own == value for own, value in zip(found, rows["value"], strict=True)]
    unchecked = np.where(rows["kind"] == "definition", "definition", "cannot be told")
    verdicts = np.where(rows["check"] == "", unchecked, np.where(same, "holds", "differs"))
    return rows.assign(found=found, verdict=verdicts)


def compare_shares() -> pd.DataFrame:
    """Compare accuracies that the benchmark draws conclusions from with their sampling errors.

    The problems of one year are the same for both, and answers to one problem resemble one another: the number of
    independent answers lies between the number of problems and that of answers. An average drop rests on accuracies
    that are not printed, so it is given the largest variance a share can have.

    Returns
    -------
    DataFrame
        One row per comparison: comparison; first and second (fractions); problems; samples (per problem); z_independent
        and z_alike, the difference in standard errors at the two ends; verdict: "established" beyond 1.96 at both ends,
        "depends" at one, "not established" at none.
    """
    values = load_statements().set_index("statement")["value"].astype(str)
    share = {text.partition(" (%)")[0]: float(value) / 100 for text, value in values.items() if "(%)" in text}
    pairs = [
        ("Snake Horizontal, AIME 2024, Gemini 3.1 Pro", "Snake Vertical, AIME 2024, Gemini 3.1 Pro", 30, 8),
        ("Snake Horizontal, AIME 2024, Qwen3", "Snake Vertical, AIME 2024, Qwen3", 30, 16),
        ("average drop, Gemini 3.1 Pro", "average drop, GPT-5.4", 60, 8),
        ("average drop, Nemotron-7B", "average drop, Qwen3-30B-A3B-Thinking-2507", 60, 16),
        ("average drop, Claude 4.6 Opus", "average drop, Gemini 3.1 Pro", 60, 8),
    ]
    rows = []
    for first, second, problems, samples in pairs:
        p, q = share[first], share[second]
        if first.startswith("average"):  # a baseline, and the mean of all perturbations, for each of two models
            independent = 2 * 0.25 / (problems * samples) * (1 + 1 / len(PERTURBATIONS))
            alike = 2 * 0.25 / problems * 2
        else:
            independent = (p * (1 - p) + q * (1 - q)) / (problems * samples)
            alike = independent * samples
        z = abs(p - q) / np.sqrt([independent, alike])
        rows.append(
            {"comparison": f"{first}; {second}", "first": p, "second": q, "problems": problems, "samples": samples}
            | {"z_independent": z[0], "z_alike": z[1]}
            | {"verdict": ("not established", "depends", "established")[int((z > norm.ppf(0.975)).sum())]}
        )
    return pd.DataFrame(rows)


def _find(check: str, value: str) -> str:
    """Return a recomputed value as text: at the decimals that are printed, or the word itself."""
    point, _, model = check.partition(":")
    found = _submission_point(point, model) if model else _CHECKS[check]()
    if isinstance(found, str):
        return found
    return f"{found:.{len(value.partition('.')[2])}f}"


@cache
def _puzzles() -> pd.DataFrame:
    return compare_puzzles().set_index(["puzzle", "n"])


def _for_all(puzzle: str, column: str, other: str) -> str:
    own = _puzzles().loc[puzzle]
    agree = own.index[own[column] == own[other]]
    return f"n = {agree[0]}..{agree[-1]}" if len(agree) == len(own) else f"n = {', '.join(map(str, agree)) or 'none'}"


def _closed(puzzle: str, load: Callable[[int, int], float]) -> str:
    """Return the sizes at which a closed form is the load by its factors, the moves found by search."""
    own = _puzzles().loc[puzzle]
    agree = [n for n, row in own.iterrows() if np.isclose(row["load"], load(n, row["moves"]))]
    return f"n = {agree[0]}..{agree[-1]}" if len(agree) == len(own) else f"n = {', '.join(map(str, agree)) or 'none'}"


def _approximate_bits(puzzle: tuple[str, int]) -> float:
    """Return the post's bits if they lie between those of reachable states and of arrangements, else the former."""
    row = _puzzles().loc[puzzle]
    return sorted([row["reachable_bits"], row["state_bits"], log2(row["arrangements"])])[1]


def _by_category() -> str:
    """Return how many perturbations each category has, in the document's order: words, context, order, space."""
    counts = Counter(one.group for one in PERTURBATIONS.values())
    order = ("substitution", "contextual overload", "order", "spatial encoding")
    return "+".join(str(counts[group]) for group in order)


def _invertible() -> int:
    """Count perturbations that keep texts apart by the document's rules: no count of repeats, dots as only filler."""

    def weave(own: str, other: str) -> list[tuple[str, str]]:
        size = max(len(own), len(other))
        return list(zip(islice(cycle(own), size), islice(cycle(other), size), strict=True))

    # one pair of texts each: symbols repeated (words and whole lines alike), cells of a grid filled with dots
    repeats_hide = weave("ab", "wxyz") == weave("abab", "wxyz")
    dots_hide = "ends in a dot.".ljust(20, ".") == "ends in a dot..".ljust(20, ".")
    lost = [name for name in PERTURBATIONS if repeats_hide and name.startswith("interleave")]
    lost += [name for name in PERTURBATIONS if dots_hide and name.startswith(("snake", "rectangle"))]
    return len(PERTURBATIONS) - len(lost)


def _submission_point(point: str, model: str) -> float:
    return float(_submission().loc[model, point])


def _submission() -> pd.DataFrame:
    table = pd.read_csv(_SUBMISSION, dtype=str, keep_default_na=False).set_index("model")
    numbers = table.columns[~table.columns.str.endswith("_stars")]
    return table.assign(**{column: pd.to_numeric(table[column], errors="coerce") for column in numbers})


def _mid_id50() -> str:
    """Return the stated range if the table's values lie in it, theirs otherwise."""
    stated = next(value for statement, value in _pairs() if statement.startswith("ID50 of the mid-capacity"))
    low, high = map(float, stated.split("-"))
    points = _submission().loc[_MID, "id50"]
    return stated if points.between(low, high).all() else f"{points.min()}-{points.max()}"


def _now_half() -> int:
    d5 = correct_by("table4").query("d == 5")
    return int((d5["correct"] / d5["samples"] < 0.5).sum())


_MID = ["DeepSeek-R1-Distill-Qwen-32B", "Qwen3-32B", "QwQ-32B", "GLM-Z1-32B-0414"]
#: What recomputes a value, by the name in the column `check`.
_CHECKS: dict[str, Callable[[], float | str]] = {
    "hanoi_moves": lambda: _for_all("Tower of Hanoi", "moves", "moves_stated"),
    "checkers_moves": lambda: _for_all("Checker Jumping", "moves", "moves_stated"),
    "hanoi_states": lambda: _for_all("Tower of Hanoi", "reachable", "arrangements"),
    "hanoi_bits": lambda: log2(3),
    "hanoi_coefficient": lambda: 3 * round(log2(3), 2),
    "hanoi_steps": lambda: _puzzles().loc[("Tower of Hanoi", 10), "moves"],
    "checkers_bits": lambda: _approximate_bits(("Checker Jumping", 6)),
    "checkers_steps": lambda: _for_all("Checker Jumping", "steps", "moves"),
    "river_bits": lambda: log2(_puzzles().loc[("River Crossing", 3), "arrangements"]),
    "river_predicates": lambda: sum(2 for actor in range(3) for agent in range(3) if actor != agent),
    "river_moves_2": lambda: _puzzles().loc[("River Crossing", 2), "moves"],
    "river_moves_3": lambda: _puzzles().loc[("River Crossing", 3), "moves"],
    "river_load_2": lambda: river_load(2).load,
    "river_load_3": lambda: river_load(3).load,
    "river_ratio": lambda: river_load(3).load / CRITICAL_LOAD,
    "checkers_closed": lambda: _closed("Checker Jumping", lambda n, moves: 16 * n**3 + 32 * n**2),
    "river_closed": lambda: _closed("River Crossing", lambda n, moves: (2 * n + 1) * (2 * n**2 - 2 * n) * moves),
    "three_digits": lambda: len(range(100, 1000)),
    "register_bits": lambda: log2(1000),
    "rules_bits": lambda: log2(100**2),
    "path_bits": lambda: log2(1000),
    "invertible": _invertible,
    "by_category": lambda: _by_category(),
    "interleavings": lambda: sum(name.startswith("interleave") for name in PERTURBATIONS),
    "models": lambda: _stated("open-weights models") + _stated("closed-source models"),
    "qwen_vertical": lambda: _stated("Snake Vertical, AIME 2024, Qwen3 (%), near"),
    "within_limit": lambda: min(_stated("output tokens, Nemotron"), _stated("max_tokens with perturbations")),
    "sub_models": lambda: len(_submission()),
    "sub_puzzles": lambda: len(GRID) * _stated("puzzles a configuration"),
    "sub_domain": lambda: min(map(len, ontology().values.values())),
    "now_domain": lambda: max(map(len, ontology().values.values())),
    "listen_values": lambda: len(ontology().values["recent_listen"]),
    "sub_rho2": lambda: int((_submission()["beta_rho2_stars"] == "").sum()),
    "sub_rho": lambda: int((_submission()["beta_rho_stars"] == "").sum()),
    "mid_id50": _mid_id50,
    "models_now": lambda: len(BY_NAME),
    "open_now": lambda: sum(model.puzzles_per_cell == 100 for model in BY_NAME.values()),
    "now_half": _now_half,
    "now_aic": lambda: int((load_table("table6")["aic_quadratic"] < load_table("table6")["aic_linear"]).sum()),
    "now_rho2": lambda: int((load_table("table2")["beta_rho2_stars"] == "").sum()),
    "few_now": lambda: len(GRID) * _stated("puzzles a configuration, proprietary"),
    "now_long": lambda: int((correct_by("table5").query("N == 250").eval("correct / samples") > 0.5).sum()),
    "now_rho": lambda: int((load_table("table2")["beta_rho_stars"] == "").sum()),
}


def _pairs() -> list[tuple[str, str]]:
    rows = load_statements()
    return list(zip(rows["statement"], rows["value"], strict=True))


def _stated(start: str) -> float:
    """Return the first value of which the statement begins so."""
    return next(float(value) for statement, value in _pairs() if statement.startswith(start))
