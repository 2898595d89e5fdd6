"""How much longer a perturbed puzzle is, in symbols and in the tokens of the models' tokenizers.

"Robust Reasoning Benchmark" (arXiv:2604.08571), Section 5.1, blames tokenization for what symbol interleaving and
grids do to a model. How many tokens they take needs no model to be counted.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from cogniload_repro.companions.perturbations import PERTURBATIONS, perturb, prepare
from cogniload_repro.prompts.counts import count_tokens


def measure_growth(texts: Sequence[str], tokenizers: Mapping[str, object] | None = None) -> pd.DataFrame:
    """Return by what factor each perturbation lengthens texts, and how many symbols a token then holds.

    Parameters
    ----------
    texts : sequence of str
        Two or more puzzles; each is prepared, and woven together with the one before it where that is asked for.
    tokenizers : mapping of str to tokenizer, optional
        As `count_tokens` takes them, by the name that their columns shall have.

    Returns
    -------
    DataFrame
        One row a perturbation, and the columns ``symbols`` and the tokenizers' names: the sum over all perturbed texts
        over that of the prepared texts. Instructions and the protocol are not counted.

    Raises
    ------
    ValueError
        If there is no second text to weave in.
    """
    if len(texts) < 2:
        raise ValueError(f"{len(texts)} texts are too few: the interleavings need a second one; give two or more")
    plain = [prepare(text) for text in texts]

    def count_with(tokenizer: Any, some: list[str]) -> int:
        return int(count_tokens(some, tokenizer).sum())

    ways: dict[str, Callable[[list[str]], int]] = {"symbols": lambda some: sum(map(len, some))}
    ways |= {name: partial(count_with, own) for name, own in (tokenizers or {}).items()}
    before = {name: count(plain) for name, count in ways.items()}
    rows = {}
    for name in PERTURBATIONS:
        perturbed = [perturb(name, text, plain[place - 1]) for place, text in enumerate(plain)]
        rows[name] = {way: count(perturbed) / before[way] for way, count in ways.items()}
    return pd.DataFrame.from_dict(rows, orient="index")
