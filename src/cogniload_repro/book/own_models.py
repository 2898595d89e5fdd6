"""What the book says of a reader's model, in sentences; their numbers are in tables beside them."""

import pandas as pd

from cogniload_repro.analysis.accuracies import EVENTS_PER_TERM
from cogniload_repro.analysis.overflows import MARKED_SHARE
from cogniload_repro.analysis.own_models import ABOVE, BELOW
from cogniload_repro.formats import format_number
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ALPHA, CONFIDENCE
from cogniload_repro.regression.fits import PAPER_TERMS


def describe_model(
    name: str,
    ranked: pd.Series,
    against: pd.Series,
    use: pd.Series,
    ended: pd.Series,
) -> str:
    """Return what is known of one model: accuracy, endings, guessing, last clause, ranks.

    The rows are those of `own_models.rank_models`, `own_models.compare_with_baselines` and
    `shortcut.shortcut_use`; the last one has answers, cut (off by a limit, within their
    reasoning, or with a full context) and unreadable (naming no value).
    """
    sentences = [_word_accuracy(name, against, ranked), _describe_endings(ended)]
    if ended["cut"] < ended["answers"]:
        sentences += [_describe_guessing(against, ended), _describe_clause(use)]
    sentences += [_describe_rank(ranked), _describe_length(ranked)]
    return " ".join(filter(None, sentences))


def _word_accuracy(name: str, against: pd.Series, ranked: pd.Series) -> str:
    counted = f"{print_among(against['correct'], against['answers'])} are correct"
    if against["correct"] == against["answers"]:
        counted = f"all {against['answers']:,} are correct"
    elif against["correct"] == 0:
        counted = f"none of {against['answers']:,} is correct"
    interval = f"{100 * against['low']:.1f} to {100 * against['high']:.1f}%"
    share = f"{against['accuracy']:.1%}, {CONFIDENCE} interval {interval}"
    where = f"in {ranked['cells']:,} of the paper's {len(PAPER_GRID)} cells"
    if ranked["cells"] == len(PAPER_GRID):
        where = f"in all {len(PAPER_GRID)} cells of the paper"
    if ranked["cells"] == 0:
        where = "none of them in a cell of the paper's grid"
    return f"Answers of {name}: {counted} ({share}), {where}."


def _describe_endings(ended: pd.Series) -> str:
    if ended["cut"] == ended["answers"]:
        return (
            "Every answer was cut off before its end, so they show how far the tokens went and "
            "nothing of the model's reasoning; ask again with a larger limit."
        )
    if ended["cut"] > MARKED_SHARE * ended["answers"]:
        why = "so accuracy also reflects the limit"
        return f"{ended['cut']:,} of the answers were cut off before their end, {why}."
    return ""


def _describe_guessing(against: pd.Series, ended: pd.Series) -> str:
    guess = f"guessing, which scores {against['guess']:.1%} on these puzzles"
    if against["against_guess"] == ABOVE:
        return f"This is above {guess}."
    if against["against_guess"] == BELOW:
        wrong = against["answers"] - against["correct"]
        why = (
            f"; {ended['unreadable']:,} of {wrong:,} wrong answers name no single value"
        )
        return f"This is below {guess}{why if ended['unreadable'] else ''}."
    return f"This cannot be distinguished from {guess}."


def _describe_clause(use: pd.Series) -> str:
    right = print_among(use["correct_right"], use["answers_right"])
    wrong = print_among(use["correct_wrong"], use["answers_wrong"])
    counts = (
        f"Where the last clause is right, {right} answers are correct; where it is wrong, "
        f"{wrong}"
    )
    if not min(use["answers_right"], use["answers_wrong"]):
        return f"{counts}."
    if use["correct_right"] == use["answers_right"] and use["correct_wrong"] == 0:
        counts += ", as if the model only repeated the last clause"
    if pd.isna(use["difference"]):
        return (
            f"{counts}. No cell has both kinds, so the loads may explain a difference."
        )
    points = print_difference(use["difference"], use["ci_low"], use["ci_high"])
    within = f"{counts}. Within cells the difference is {points} points"
    if use["p"] >= ALPHA:
        return f"{within}, consistent with no difference."
    if use["difference"] < 0:
        return f"{within}, the reverse of what the shortcut predicts."
    return f"{within}, as the shortcut predicts."


def _describe_rank(ranked: pd.Series) -> str:
    if not ranked["cells"]:
        return "It has no rank among the paper's models."
    over = ""
    if not ranked["identified"]:
        reach = print_range(ranked["rank_low"], ranked["rank_high"])
        over = f" ({reach} over the reconstructions)"
    left_open = f"ranks {print_range(ranked['best'], ranked['worst'])} are not rejected"
    if ranked["best"] == ranked["worst"]:
        left_open = "every other rank is rejected"
    nearest = f"the nearest is {BY_NAME[ranked['nearest']].label}"
    rank = print_among(ranked["rank"], ranked["of"])
    return (
        f"By accuracy on its cells it ranks {rank}{over}; {left_open}, and {nearest}."
    )


def _describe_length(ranked: pd.Series) -> str:
    if not ranked["cells"]:
        return ""
    if ranked["status"] != "ok":
        return f"It has no ECL50 ({explain_status(ranked['status'])})."
    if pd.isna(ranked["ecl50"]):
        return "It has no ECL50: fitted accuracy does not fall with length."
    length = f"{format_number(ranked['ecl50'], 1)} statements"
    if ranked["ecl50"] < 1:
        length = "below one statement"
    statements = f"Its ECL50 is {length}"
    if pd.isna(ranked["rank_ecl50"]):
        return f"{statements}; no model of the paper has one on these cells."
    left_open = print_range(ranked["best_ecl50"], ranked["worst_ecl50"])
    place = print_among(ranked["rank_ecl50"], ranked["of_ecl50"])
    rank = f"rank {place} ({left_open} not rejected)"
    without = [
        BY_NAME[name].label for name in filter(None, ranked["left_out"].split(", "))
    ]
    left_out = (
        f", which leaves out models without one on these cells: {', '.join(without)}"
    )
    return f"{statements}, {rank}{left_out if without else ''}."


def print_among(place: float, count: float) -> str:
    """Return a rank, or a number of answers, among some, such as "9 of 23"."""
    return f"{place:,.0f} of {count:,.0f}"


def print_percent(accuracy: float, low: float, high: float) -> str:
    """Return an accuracy in percent, with its interval."""
    return f"{100 * accuracy:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def print_range(low: float, high: float) -> str:
    """Return a range of ranks, or the one that there is."""
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def print_difference(difference: float, low: float, high: float) -> str:
    """Return a difference of accuracies in points, with its interval."""
    if pd.isna(difference):
        return "no cell has both kinds"
    return f"{100 * difference:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def describe_regressions(models: pd.DataFrame) -> str:
    """Return which models have no regression and why, and whose rests on few answers.

    Models have name, status (of the fit), correct and wrong (answers).
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
    """Return the beginning and the end of a text that is longer than so many characters."""
    if len(text) <= longest:
        return text or "(no text)"
    half = longest // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"
