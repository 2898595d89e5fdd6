"""How many tokens an answer may have: what the paper's context leaves beside the prompt (Appendix D.3)."""

import re
from functools import cache
from math import floor
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.evaluation.forms import draw_puzzles
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.prompts.counts import COMMITTED, KEYS, count_tokens
from cogniload_repro.prompts.tokenizers import find_tokenizers, load_tokenizer, present_tokenizers

# Words, with a symbol right before them, digits, runs of a symbol, and line ends: what tokenizers have about one token
# for where the words are common. Words that are torn apart, as perturbed ones are, have more.
_PIECES = re.compile(r"[^\w\s]?[^\W\d]+|\d|([^\w\s])\1*|\n+")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a prompt has for any of the paper's tokenizers, rather too few than too many.

    With too few, an answer may be longer than the paper's context allows; whether it was is then told by the counts of
    the provider. With too many it would be cut off where the paper's was not, and nothing would tell.
    """
    return floor(_least_tokens() * _count_pieces(text))


@cache
def _least_tokens() -> float:
    """Return the fewest tokens a piece that a tokenizer has counted in the first puzzle of any of the paper's cells."""
    counts = pd.read_parquet(COMMITTED).set_index("name")
    least = counts.drop(columns=[name for name in KEYS if name != "name"]).min(axis=1)
    first = [row for cell in PAPER_GRID for row in draw_puzzles(cell, 0, 1)]
    return min(float(least[row["name"]]) / _count_pieces(row["text"]) for row in first)


def _count_pieces(text: str) -> int:
    return sum(1 for _ in _PIECES.finditer(text))


def count_prompt(text: str, model: str, folder: str | Path) -> tuple[int, str]:
    """Return the tokens of a prompt and how they were counted: the name of a tokenizer, or "estimate".

    Parameters
    ----------
    text : str
    model : str
        As Inspect names it, such as ``vllm/Qwen/Qwen3-32B``; its last part may be one of the paper's models.
    folder : path
        Where ``cogniload fetch-tokenizers`` has put the tokenizers' files; without them, all is estimated.
    """
    name = _find_tokenizer(model.rpartition("/")[2].lower(), str(folder))
    if name is None:
        return estimate_tokens(text), "estimate"
    return int(count_tokens([text], _load(name, str(folder)))[0]), name


def answer_budget(prompt_tokens: int) -> int:
    """Return how many tokens an answer to a prompt may have.

    Raises
    ------
    ValueError
        If the prompt alone fills the paper's context.
    """
    left = CONTEXT_TOKENS - RESERVED_TOKENS - prompt_tokens
    if left < 1:
        raise ValueError(
            f"a prompt of about {prompt_tokens:,} tokens fills the paper's context of {CONTEXT_TOKENS:,}; "
            "take fewer statements or a lower d"
        )
    return left


@cache
def _find_tokenizer(model: str, folder: str) -> str | None:
    for file in find_tokenizers(present_tokenizers(folder)):
        if model in map(str.lower, file.models):
            return file.name
    return None


@cache
def _load(name: str, folder: str) -> object:
    return load_tokenizer(name, folder)
