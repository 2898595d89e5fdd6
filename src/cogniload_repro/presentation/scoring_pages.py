"""The chapter on scoring: what follows from the rules, and what hangs on how they are read."""

import itertools
from typing import NamedTuple

import pandas as pd

from cogniload_repro.presentation.fragments import Fragment, show_frame, show_sentence
from cogniload_repro.scoring.readings import OTHERS, read_all_ways
from cogniload_repro.scoring.scores import Question
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, score_response

#: What each reading does otherwise than Algorithms 1 to 3.
MEANINGS = {
    "prose": "cut_windows and last_mention together, as D.3 and D.4 say in words",
    "late_drop": "a closing line in round brackets goes although a line end follows it",
    "cut_windows": "of a line with the person of interest only the last sentence counts",
    "last_mention": "of two values in a sentence the one mentioned last counts",
}


class Example(NamedTuple):
    """A consequence of the rules with a made-up response that shows it."""

    consequence: str
    response: str
    poi: str = "Sue"
    gold: str = "red"
    others: tuple[str, ...] = ("blue", "green")
    category: str = "hair"
    response_tokens: int | None = None

    def bucket(self) -> str:
        """Return the bucket in which the scorer puts the response."""
        tokens = {"prompt_tokens": 0, "response_tokens": self.response_tokens}
        asked = {"poi": self.poi, "gold": self.gold, "domain": [self.gold, *self.others], "category": self.category}
        return score_response(self.response, **asked, **tokens)


_PLACE = {"category": "location", "others": ("park",)}
#: In the order of the chapter's table.
EXAMPLES = (
    Example("Both values in one sentence: right, whichever comes last", "Sue's hair went from red to blue."),
    Example("The right value is searched letter by letter when others are weighed", "Sue, bored, has blue hair."),
    Example(
        "That search knows no synonyms, so another value speaks against this one",
        "Zoe went from the park to the living room.",
        poi="Zoe",
        gold="livingroom",
        **_PLACE,
    ),
    Example(
        "Only a value that encloses the right one keeps speaking against it",
        "Sue last read a non-fiction book.",
        gold="fiction",
        others=("non-fiction",),
        category="recent_read",
    ),
    Example("No boundary on the right", "Zoe is in the barn.", poi="Zoe", gold="bar", **_PLACE),
    Example("Short names lie inside words", "The salience of hair is red.", poi="Ali"),
    Example("Short category words do, too", "Zoe: nothing but the *bar*.", poi="Zoe", gold="bar", **_PLACE),
    Example("A brace is a boundary", r"Sue's hair: \boxed{red}"),
    Example("A backquote is none", "Sue's hair: `red`"),
    Example("The reasoning is read as well", "Sue has red hair.\n\nHard to say."),
    Example("A closing line in brackets is dropped", "Her hair: red\n(no doubt)"),
    Example("With a line end after it, it is not", "Her hair: red\n(no doubt)\n"),
    Example("Dots at the end leave an empty last sentence", "Sue has red hair..."),
    Example("A right answer that fills the context", "Sue has red hair.", response_tokens=40_000),
)

# Made-up responses on which readings may differ: each sentence with each closing.
_ASKED = Question(20, 1, 5.0, 0.05, poi="Sue", gold="red", domain=["blue", "red", "green"], category="hair")
_SENTENCES = (
    "Sue has red hair",
    "Sue: red",
    "Sue's hair went from blue to red",
    "Sue's hair is red, no longer blue",
    "Sue's hair is blue, no longer red",
    "That person's hair is red, not blue",
)
_CLOSINGS = (
    ".",
    ". Nothing changed it later. Done.",
    ". It had been blue. Yes.",
    ".\n(as asked)",
    ".\n(Sue had blue hair before)\n",
    "\nSo it is red, not blue.",
)


def show_consequences() -> Fragment:
    """Return the table of `EXAMPLES`, each scored now."""
    rows = [(one.bucket(), _show_ends(one.response), f"{one.poi}, {one.gold}", one.consequence) for one in EXAMPLES]
    frame = pd.DataFrame(rows, columns=["Bucket", "Response (made up)", "Person, right value", "What it shows"])
    return show_frame(frame, caption="Made-up responses and the buckets that the scorer puts them into. ↵: a line end.")


def show_moves(moves: pd.DataFrame, read: pd.Series, provenance: str) -> Fragment:
    """Return what the other readings would move: in all, from bucket to bucket, and by model.

    Parameters
    ----------
    moves, read
        As `readings.count_moves` returns them.
    provenance : str
        That of the responses; stand-ins come with a warning.
    """
    shown = show_frame(_summarise(moves, read.sum()), caption=f"Other readings of {read.sum():,} responses.")
    if not moves.empty:
        pairs = moves.groupby(["reading", "bucket", "becomes"], sort=False)["responses"].sum().reset_index()
        shown += show_frame(pairs.rename(columns=str.capitalize), caption="Verdicts that move, from bucket to bucket.")
        models = moves.pivot_table("responses", "model", "reading", "sum", fill_value=0).reindex(columns=OTHERS)
        models = models.fillna(0).astype("int64").assign(Read=read).reset_index(names="Model")
        shown += show_frame(models, caption="Verdicts that move, by model; models without any are left out.")
    if provenance == "reconstructed":
        shown += show_sentence(
            "These responses are stand-ins, worded for this book so that each falls into a given bucket. How the "
            "readings judge them follows from that wording and tells nothing about what the models wrote. From real "
            "outputs (make reproduce SOURCE=...) this page counts what another reading would change in those."
        )
    return shown


def show_ambiguous() -> Fragment:
    """Return how the readings judge made-up responses that are ambiguous on purpose."""
    responses = ["".join(pieces) for pieces in itertools.product(_SENTENCES, _CLOSINGS)]
    found = {response: read_all_ways(response, _ASKED) for response in responses}
    moves = [
        (reading, default, becomes, 1)
        for default, *others in found.values()
        for reading, becomes in zip(OTHERS, others, strict=True)
        if becomes != default
    ]
    summary = _summarise(pd.DataFrame(moves, columns=["reading", "bucket", "becomes", "responses"]), len(found))
    first: dict[tuple[str, ...], str] = {}
    for response, buckets in found.items():
        if len(set(buckets)) > 1:
            first.setdefault(tuple(buckets), response)
    examples = [(key[0], _show_ends(response), _name_movers(key)) for key, response in first.items()]
    return show_frame(
        summary.drop(columns="Share"),
        caption=f"Other readings of {len(found)} made-up responses about {_ASKED.poi}'s hair, which is {_ASKED.gold}: "
        f"{len(_SENTENCES)} sentences, each with {len(_CLOSINGS)} closings, chosen because readings differ there. How "
        "often models write so is another question.",
    ) + show_frame(
        pd.DataFrame(examples, columns=["pseudocode", "Response (made up)", "Other readings"]),
        caption="One of these responses for each way in which readings differ. ↵: a line end.",
    )


def _name_movers(buckets: tuple[str, ...]) -> str:
    """Return the readings that disagree with the first, by bucket."""
    default, *others = buckets
    movers = {bucket: [] for bucket in others if bucket != default}
    for reading, bucket in zip(OTHERS, others, strict=True):
        if bucket != default:
            movers[bucket].append(reading)
    return "; ".join(f"{bucket} ({', '.join(readings)})" for bucket, readings in movers.items())


def _summarise(moves: pd.DataFrame, total: int) -> pd.DataFrame:
    """Return one row a reading: how many verdicts it moves, and what that does to accuracy."""
    was, becomes = moves["bucket"].isin(CORRECT_BUCKETS), moves["becomes"].isin(CORRECT_BUCKETS)
    kinds = {"Moved": was | ~was, "Right to wrong": was & ~becomes, "Wrong to right": ~was & becomes}
    counts = {
        kind: moves[chosen].groupby("reading")["responses"].sum().reindex(OTHERS, fill_value=0)
        for kind, chosen in kinds.items()
    }
    frame = pd.DataFrame(counts, index=list(OTHERS)).astype("int64")
    frame["Share"] = [f"{moved / total:.2%}" if total else "" for moved in frame["Moved"]]
    return frame.assign(Difference=MEANINGS).reset_index(names="Reading")


def _show_ends(text: str) -> str:
    return text.replace("\n", " ↵ ")
