"""The book's sentences on a reader's model; the tables beside them hold the numbers."""

import pandas as pd

from cogniload_repro.analysis.accuracies import EVENTS_PER_TERM
from cogniload_repro.analysis.overflows import MARKED_SHARE
from cogniload_repro.analysis.own_models import ABOVE, BELOW
from cogniload_repro.formats import format_number, format_points
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ALPHA, CONFIDENCE
from cogniload_repro.regression.fits import PAPER_TERMS

_TO_GUESSING = {ABOVE: "is above", BELOW: "is below"}


def describe_model(
    name: str,
    ranked: pd.Series,
    against: pd.Series,
    use: pd.Series,
    ended: pd.Series,
) -> str:
    """Describe one model in sentences: accuracy, endings, guessing, last clause, ranks.

    The first three rows are from `own_models.rank_models`, `own_models.compare_with_baselines` and
    `shortcut.shortcut_use`. ``ended`` has the numbers of answers, and of those cut off (by a limit,
    within their reasoning, or with a full context).
    """
    sentences = [_describe_accuracy(name, against, ranked)]
    if ended["cut"] > MARKED_SHARE * ended["answers"]:
        cut = format_among(ended["cut"], ended["answers"])
        sentences.append(
            f"{cut} answers were cut off before their end, so accuracy also reflects the limit; "
            "ask again with a larger one."
        )
    if ended["cut"] < ended["answers"]:
        relation = _TO_GUESSING.get(
            against["against_guess"], "cannot be distinguished from"
        )
        sentences.append(
            f"This {relation} guessing, which scores {against['guess']:.1%} on these puzzles."
        )
        sentences.append(_describe_clause(use))
    if ranked["cells"]:
        sentences += [_describe_rank(ranked), _describe_length(ranked)]
    return " ".join(sentences)


def _describe_accuracy(name: str, against: pd.Series, ranked: pd.Series) -> str:
    counted = format_among(against["correct"], against["answers"])
    interval = f"{100 * against['low']:.1f} to {100 * against['high']:.1f}%"
    share = f"{against['accuracy']:.1%}, {CONFIDENCE} interval {interval}"
    cells = format_among(ranked["cells"], len(PAPER_GRID))
    return (
        f"{counted} answers of {name} are correct ({share}); its puzzles lie in {cells} cells of "
        "the paper's grid."
    )


def _describe_clause(use: pd.Series) -> str:
    right = format_among(use["correct_right"], use["answers_right"])
    wrong = format_among(use["correct_wrong"], use["answers_wrong"])
    counts = (
        f"Where the last clause is right, {right} answers are correct; where it is wrong, "
        f"{wrong}"
    )
    if pd.isna(use["difference"]):
        return f"{counts}."
    points = format_points(use["difference"], use["ci_low"], use["ci_high"])
    is_shortcut = use["p"] < ALPHA and use["difference"] > 0
    as_predicted = ", as the last-clause shortcut predicts" if is_shortcut else ""
    return f"{counts}. Within cells the difference is {points} points{as_predicted}."


def _describe_rank(ranked: pd.Series) -> str:
    over = ""
    if not ranked["identified"]:
        reach = format_ranks(ranked["rank_low"], ranked["rank_high"])
        over = f"{reach} over the reconstructions, "
    left_open = format_ranks(ranked["best"], ranked["worst"])
    rank = format_among(ranked["rank"], ranked["of"])
    nearest = BY_NAME[ranked["nearest"]].label
    return (
        f"By accuracy on these cells it ranks {rank} ({over}{left_open} not rejected), nearest to "
        f"{nearest}."
    )


def _describe_length(ranked: pd.Series) -> str:
    if ranked["status"] != "ok":
        return f"It has no ECL50 ({explain_status(ranked['status'])})."
    if pd.isna(ranked["ecl50"]):
        return "It has no ECL50: fitted accuracy does not fall with length."
    if ranked["ecl50"] < 1:
        return "Its ECL50 is below one statement."
    return f"Its ECL50 is {format_number(ranked['ecl50'], 1)} statements."


def format_among(place: float, count: float) -> str:
    """Return a rank or a number of answers with its total, such as "9 of 23"."""
    return f"{place:,.0f} of {count:,.0f}"


def format_percent(accuracy: float, low: float, high: float) -> str:
    """Return an accuracy in percent, with its interval."""
    return f"{100 * accuracy:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def format_ranks(low: float, high: float) -> str:
    """Return a range of ranks, or one rank if both ends are equal."""
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def describe_regressions(models: pd.DataFrame) -> str:
    """Return sentences on the models without a regression, and on those with few answers.

    ``models`` has the columns name, status (of the fit), correct and wrong (numbers of answers).
    """
    lacking = models[models["status"] != "ok"]
    fitted = models[models["status"] == "ok"]
    events = EVENTS_PER_TERM * len(PAPER_TERMS)
    few = fitted[fitted[["correct", "wrong"]].min(axis=1) < events]
    sentences = []
    if len(lacking):
        reasons = [
            f"{row.name} ({explain_status(row.status)})" for row in lacking.itertuples()
        ]
        sentences.append(f"There is no regression for {'; '.join(reasons)}.")
    if len(few):
        rule = f"fewer than {EVENTS_PER_TERM} correct or wrong answers per coefficient"
        sentences.append(
            f"With {rule}, errors and intervals are rough: {', '.join(few['name'])}."
        )
    return " ".join(sentences) or "Every model of this page has a regression."


def explain_status(status: str) -> str:
    """Return why a regression has no numbers, in words for a reader."""
    if status == "separation":
        return "the loads separate correct from wrong answers, or all answers are alike"
    return status


def shorten(text: str, longest: int) -> str:
    """Return a text, reduced to its beginning and end if it exceeds ``longest`` characters."""
    if len(text) <= longest:
        return text or "(no text)"
    half = longest // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"
