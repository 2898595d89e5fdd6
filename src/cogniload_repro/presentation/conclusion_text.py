"""What the rules of `conclusions` find, as sentences: one a rule, made of its numbers and nothing else."""

from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from cogniload_repro.models import BY_NAME


def describe_findings(conclusions: pd.DataFrame) -> list[str]:
    """Return a sentence for each row of `conclusions.judge_conclusions`."""
    return [_SENTENCES[row.rule](row.numbers) for row in conclusions.itertuples()]


def label(model: str) -> str:
    """Return a model's short name; a model that the paper does not have keeps its own."""
    return BY_NAME[model].label if model in BY_NAME else model


def _names(models: Iterable[str]) -> str:
    return ", ".join(map(label, models)) or "none"


def _spans(spans: Mapping[str, tuple[float, float, bool]], joint: str) -> str:
    """Return the range of a capacity point over specifications, model by model."""
    words = [
        f"{least:.3g} to {most:.3g}{' and none' * none} ({label(model)})"
        for model, (least, most, none) in spans.items()
    ]
    return joint.join(words)


def _leaders(found: Mapping) -> str:
    intervals = " and ".join(
        f"{label(model)} {low:.0f} to {high:.0f}" for model, (low, high) in found["intervals"].items()
    )
    return (
        f"They {'lead' if found['lead'] else 'do not lead'} all others (largest p {found['p']:.2g}, Holm). The 95% "
        f"intervals are {intervals}, where the longest N tested is {found['longest']}; settled specifications with no "
        f"larger AIC give {_spans(found['elsewhere'], ' and ')}."
    )


def _classes(found: Mapping) -> str:
    tied = ", ".join(f"{label(model)} ({number} of the {tier} class)" for model, number, tier in found["outsiders"])
    return (
        f"{found['pairs']} pairs of models of different classes are not told apart by ECL50 (Holm). Of the models left "
        f"out, some cannot be told from members: {tied or 'none'}."
    )


def _nt50_meaning(found: Mapping) -> str:
    return (
        f"Of {found['values']} values, {len(found['falling'])} is where accuracy falls below one half "
        f"({_names(found['falling'])}), {len(found['unlimited'])} have no upper limit in [0, 1] "
        f"({_names(found['unlimited'])}); whether one exists at all is open for {_names(found['unsure'])}."
    )


def _products(found: Mapping) -> str:
    return ", ".join(f"{label(model)} {beta:.2f} (p {p:.2g})" for model, (beta, p) in found["products"].items())


def _overflows(found: Mapping) -> str:
    first = [
        f"{label(model)} {ecl50:.0f} (95% interval ×/÷ {factor:.2f})"
        for model, (ecl50, factor) in found["first"].items()
    ]
    return (
        f"With overflows left out the largest ECL50 are {', '.join(first)}; {label(found['behind'])} against "
        f"{label(found['other'])}: p {found['p']:.2g}."
    )


_SENTENCES: dict[str, Callable[[Mapping], str]] = {
    "slopes": (
        "So they remain in {kept} of {models} with quasi-binomial standard errors (median dispersion {phi:.1f})."
    ).format_map,
    "dominant_load": (
        "Accuracy falls more over the range of N than over that of d in {length} models, and more over that of d in "
        "{difficulty} (Holm); the other {open} do not say."
    ).format_map,
    "leaders": _leaders,
    "classes": _classes,
    "id50_range": lambda found: (
        f"{found['outside']} of {found['models']} values lie outside the tested {found['least']} to {found['most']}. "
        f"Settled specifications with no larger AIC give {_spans(found['elsewhere'], ', ')}."
    ),
    "nt50_meaning": _nt50_meaning,
    "u_shape": (
        "A fall at 5% and a rise at 95% are both significant in {shaped} of {models}; the quadratic term is in {bent}."
    ).format_map,
    "trough": (
        "Of the {shaped} fitted curves that are U-shaped, {inside} have their lowest point there; for {above} the 95% "
        "interval lies above {most:.0%}, for {below} below {least:.0%}."
    ).format_map,
    "d_by_N": (
        "{paper} as the paper tests it, at rho = 0; {pairs} without the three-way product, {mean} at the mean of rho."
    ).format_map,
    "d_by_N_leaders": lambda found: (
        "Table 3 tests it at rho = 0, where no puzzle is. Without the three-way product "
        f"(p {', '.join(f'{p:.2g}' for p in found['p_triple'])}): {_products(found)}."
    ),
    "d_by_rho": (
        "{paper} as the paper tests it, at N = 1; {pairs} without the three-way product, where the coefficients are "
        "{ratio:.0%} of those with it (median). As rho is the share of needles, the sign says that difficulty takes "
        "from what needles give."
    ).format_map,
    "d_by_rho_leaders": lambda found: f"Without the three-way product: {_products(found)}.",
    "N_by_rho": (
        "{paper[0]} positive and {paper[1]} negative at d = 0; {pairs[0]} and {pairs[1]} without the three-way "
        "product, {mean[0]} and {mean[1]} at the mean of d."
    ).format_map,
    "N_by_rho_gemini": (
        "{beta_paper:.2f} at d = 0 (p {p_paper:.2g}), {beta_mean:.2f} at the mean of d (p {p_mean:.2g})."
    ).format_map,
    "overflows": _overflows,
}
