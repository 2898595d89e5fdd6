"""What the rules of `conclusions` find, as sentences: one a rule, made of its numbers and nothing else."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from cogniload_repro.published import ALPHA

#: How a level of the third load is written, and its name.
_LEVEL = {"rho": ("ρ = {:.0%}", "ρ"), "N": ("N = {:g}", "N"), "d": ("d = {:g}", "d")}
_ORIGIN = {"rho": "ρ = 0", "N": "N = 1", "d": "d = 0"}


def describe_findings(conclusions: pd.DataFrame) -> list[str]:
    """Return a sentence or two for each row of `conclusions.judge_conclusions`."""
    return [
        _SENTENCES[row.rule](row.numbers)
        + (f" With Holm's correction over the models: {row.holm}." if row.holm else "")
        for row in conclusions.itertuples()
    ]


def _names(models: Iterable[str]) -> str:
    return ", ".join(models) or "none"


def _spans(spans: Mapping[str, tuple[float, float, bool]]) -> str:
    """Return the range of a capacity point over specifications, model by model."""
    return ", ".join(
        f"{least:.3g} to {most:.3g}{' and none' * none} ({model})" for model, (least, most, none) in spans.items()
    )


def _leaders(found: Mapping) -> str:
    intervals = " and ".join(f"{low:.0f} to {high:.0f} ({model})" for model, (low, high) in found["intervals"].items())
    pooled = " and ".join(f"{value:.0f}" for value in found["pooled"].values())
    return (
        f"They {'lead' if found['lead'] else 'do not lead'} all others (largest p {found['p']:.2g}, Holm). The 95% "
        f"intervals of ECL50 are {intervals}; partly pooled with the other models the estimates are {pooled}. All this "
        f"lies beyond the longest N tested, {found['longest']}: settled specifications with no larger AIC give "
        f"{_spans(found['elsewhere'])}."
    )


def _classes(found: Mapping) -> str:
    tied = ", ".join(f"{model} ({number} of the {tier} class)" for model, number, tier in found["outsiders"])
    apart = "All pairs" if found["pairs"] == 0 else f"All but {found['pairs']} pairs"
    return (
        f"{apart} of models of different classes are told apart by ECL50 (Holm). Of the models that are put into "
        f"none, some cannot be told from members: {tied or 'none'}."
    )


def _nt50_meaning(found: Mapping) -> str:
    return (
        f"Of {found['values']} values, {len(found['falling'])} is where accuracy falls below one half "
        f"({_names(found['falling'])}), {len(found['unlimited'])} have no upper limit in [0, 1] "
        f"({_names(found['unlimited'])}); whether one exists at all is open for {_names(found['unsure'])}."
    )


def _narrow_range(found: Mapping) -> str:
    others = [term for term in found["i2"] if term != "d"]
    least = min(found["relative"][term] for term in others)
    return (
        f"Between models the slope of d varies by {found['relative']['d']:.0%} of its mean (true standard deviation "
        f"{found['tau']['d']:.2f} around {found['mean']['d']:.2f}), the other terms by {least:.0%} or more. Narrow, "
        f"but not one slope: {found['i2']['d']:.0%} of the scatter is more than sampling error (I²)."
    )


def _u_shape(found: Mapping) -> str:
    against = f"at most {found['against']} bend" if found["against"] else "none bends"
    return (
        f"A fall at 5% and a rise at 95% are both significant in {found['raw']} of {found['models']} "
        f"({found['shaped']} after Holm); {against} the other way. The quadratic term is significant in "
        f"{found['bent']}."
    )


def _trough(found: Mapping) -> str:
    lowest = ", ".join(f"{level:.0%} in {count}" for level, count in sorted(found["lowest"].items()))
    return (
        f"Of the {found['shaped']} fitted curves that are U-shaped, {found['inside']} are lowest at a tested ratio "
        f"from {found['least']:.0%} to {found['most']:.0%} (which one: {lowest}). The test tells for {found['told']} "
        f"of them and against for {found['against']} (Holm). Between 50% and 75% nothing was tested."
    )


def _by_level(levels: Mapping[float, tuple[int, int]], third: str) -> str:
    words = "; ".join(f"{_LEVEL[third][0].format(level)}: {minus}/{plus}" for level, (minus, plus) in levels.items())
    return f"Significant and negative/positive at the tested levels: {words}."


def _in_models(found: Mapping) -> str:
    minus, plus = found["paper"]
    return (
        f"As the paper tests it, at {_ORIGIN[found['third']]}: {minus} negative, {plus} positive "
        f"({found['holm'][0]} and {found['holm'][1]} after Holm). {_by_level(found['levels'], found['third'])}"
    )


def _undetected(found: Mapping) -> str:
    models = list(found["p"])
    shown = [
        f"{_LEVEL[found['third']][0].format(level)} for "
        + " and ".join(f"{model} ({slope:.2f}, p {p:.2g})" for model, (slope, p) in told.items())
        for level, rows in found["levels"].items()
        if (told := {model: row for model, row in zip(models, rows, strict=True) if row[1] < ALPHA})
    ]
    least = " and ".join(f"{found['detectable'][model]:.2f} for {model}" for model in models)
    tested = ", ".join(f"p {p:.2g}" for p in found["p"].values())
    return (
        f"As the paper tests it, at {_ORIGIN[found['third']]}, nothing ({tested}); there the test finds {least} with "
        f"80% power, where the significant ones of open models are {found['others'][0]:.2f} to "
        f"{found['others'][1]:.2f} in size. Detectable at {'; '.join(shown) or 'no tested level'}."
    )


def _gemini(found: Mapping) -> str:
    levels = ", ".join(f"{slope:.2f} at d = {level:g} (p {p:.2g})" for level, (slope, p) in found["levels"].items())
    return f"{found['beta']:.2f} at d = 0, as the paper tests it (p {found['p']:.2g}); where it was tested: {levels}."


def _lower_bound(found: Mapping) -> str:
    finished = ", ".join(
        f"{model} {correct} of {answers} ({among:.3f}; counted {found['counted'][model]:.3f})"
        for model, (correct, answers, among) in found["models"].items()
    )
    tests = ", ".join(f"{first} against {second} p {p:.2g}" for (first, second), p in found["p"].items())
    return f"Right among the finished answers, from Table 5 alone: {finished}. Fisher's test: {tests}."


_SENTENCES: dict[str, Callable[[Mapping], str]] = {
    "slopes": (
        "So they are in {kept} of {models}, also with standard errors widened by the scatter that the printed tables "
        "imply at least (variance {least:.2f} times the binomial one in the median, {most:.1f} at most). For the first "
        "slope to go ({weakest}) it would have to be {bearable:.1f} times."
    ).format_map,
    "dominant_load": (
        "Accuracy falls more over the range of N than over that of d in {length} models, more over that of d in "
        "{difficulty} (Holm); {open} do not say. By the fitted log-odds N moves more in {range} of {models}; its "
        "levels explain more in {explained}."
    ).format_map,
    "leaders": _leaders,
    "classes": _classes,
    "id50_range": lambda found: (
        f"{found['outside']} of {found['models']} values lie outside the tested {found['least']} to {found['most']}. "
        f"Settled specifications with no larger AIC give {_spans(found['elsewhere'])}."
    ),
    "nt50_meaning": _nt50_meaning,
    "narrow_range": _narrow_range,
    "u_shape": _u_shape,
    "trough": _trough,
    "d_by_N": _in_models,
    "d_by_N_leaders": _undetected,
    "d_by_rho": lambda found: (
        f"{_in_models(found)} ρ is the share of needles: a negative sign says that difficulty takes from what needles "
        "give."
    ),
    "d_by_rho_leaders": _undetected,
    "N_by_rho": _in_models,
    "N_by_rho_gemini": _gemini,
    "lower_bound": _lower_bound,
}
