"""Prompt lengths in tokens, counted by the models' own tokenizers (paper, Appendix H)."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from cogniload_repro.prompts.tokenizers import find_tokenizers, load_tokenizer, present_tokenizers
from cogniload_repro.storage import DATA, read_metadata, read_texts, write_table

#: Columns of the table of counts that are not counts.
KEYS = ["name", "N", "d", "ratio_pct"]
#: The counts of the port's 14,000 puzzles, so that a build has them without a tokenizer.
COMMITTED = DATA / "prompt_tokens.parquet"
_BATCH = 500  # texts that a library gets at a time: enough for its threads, and bounded memory
_SEED = 42


def count_tokens(texts: Sequence[str], tokenizer) -> np.ndarray:
    """Count the tokens of every text with a tiktoken.Encoding or tokenizers.Tokenizer, without special tokens."""
    if hasattr(tokenizer, "encode_ordinary_batch"):
        encode = tokenizer.encode_ordinary_batch
    else:
        encode = partial(tokenizer.encode_batch_fast, add_special_tokens=False)
    texts = list(texts)
    batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
    return np.array([len(tokens) for batch in batches for tokens in encode(batch)], dtype=np.int64)


def count_prompts(puzzles: pd.DataFrame, tokenizers: Mapping[str, object]) -> pd.DataFrame:
    """Count the tokens of puzzles (columns `KEYS` and text): one column per tokenizer, named by its key."""
    texts = puzzles["text"].tolist() if tokenizers else []
    counted = {name: count_tokens(texts, one) for name, one in tqdm(tokenizers.items(), "tokenizers", disable=None)}
    return puzzles[KEYS].assign(**counted)


def write_prompt_counts(
    puzzles_path: str | Path, target: str | Path, folder: str | Path, *, again: bool = False
) -> tuple[str, ...]:
    """Write the counts of a build's puzzles by all tokenizers that have counted them; return the tokenizers' names.

    Counts of the same texts by the same tokenizer are kept, of an earlier run or of `COMMITTED`, unless ``again``.
    """
    texts = hashlib.sha256()
    for number, text in enumerate(read_texts(puzzles_path)):  # with a null character between them, never as a whole
        texts.update(("\0" * (number > 0) + text).encode("utf-8"))
    digest = texts.hexdigest()
    sums = {file.name: file.sha256 for file in find_tokenizers()}
    kept: dict[str, np.ndarray] = {}
    for place in () if again else (Path(target), COMMITTED):
        about = read_metadata(place) if place.exists() else {}
        if about.get("texts") == digest:
            old = pd.read_parquet(place)
            kept |= {n: old[n].to_numpy() for n, own in json.loads(about["tokenizers"]).items() if sums.get(n) == own}
    present = present_tokenizers(folder)
    todo = {name: load_tokenizer(name, folder) for name in present if name not in kept}
    new = count_prompts(pd.read_parquet(puzzles_path, columns=[*KEYS, "text"] if todo else KEYS), todo)
    names = [name for name in sums if name in kept or name in present]
    counts = new.assign(**kept)[[*KEYS, *names]]
    metadata = {"provenance": read_metadata(puzzles_path)["provenance"], "texts": digest}
    write_table(target, counts, metadata | {"tokenizers": json.dumps({name: sums[name] for name in names})})
    return tuple(names)


def load_prompt_counts(build: str | Path) -> pd.DataFrame:
    """Return the counts of a build's prompts; no row and no tokenizer where they were not made."""
    path = Path(build) / "prompt_tokens.parquet"
    return pd.read_parquet(path) if path.exists() else pd.DataFrame(columns=KEYS)


def prompt_statistics(
    counts: pd.DataFrame, tokenizer: str, per_cell: int | None = None, *, resamples: int = 500
) -> pd.DataFrame:
    """Return mean and 90th percentile of the prompt lengths (tokens) by N and d, with their standard errors.

    Ratios are strata. ``per_cell`` are the puzzles per (d, N, ratio) of the set whose standard errors are wanted, by
    default those of the counts. That of the percentile comes from resampling the strata; 500 give it to 3%, 0 none.
    """
    rows = []
    for (N, d), group in counts.groupby(["N", "d"]):
        lengths = group[tokenizer].to_numpy()
        strata = [lengths[places] for places in group.groupby("ratio_pct").indices.values()]
        sizes = [per_cell or len(stratum) for stratum in strata]
        variances = [stratum.var(ddof=1) if len(stratum) > 1 else np.nan for stratum in strata]
        se_mean, se_p90 = np.sqrt(np.dot(variances, sizes)) / sum(sizes), np.nan
        if resamples:
            rng = np.random.default_rng(_SEED)
            drawn = [rng.choice(stratum, (resamples, size)) for stratum, size in zip(strata, sizes, strict=True)]
            se_p90 = np.quantile(np.concatenate(drawn, axis=1), 0.9, axis=1).std(ddof=1)
        rows.append((N, d, len(lengths), lengths.mean(), np.quantile(lengths, 0.9), se_mean, se_p90))
    return pd.DataFrame(rows, columns=["N", "d", "total", "mean", "p90", "se_mean", "se_p90"])
