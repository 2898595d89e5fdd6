"""Critical load by the SCAP protocol: how many registers, rules and operations a model still gets right.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08), section "A Practical
Toolkit", steps 1 to 4. The post asks for the largest size at which a model is right "consistently", and leaves open
how often that is and how sure one must be. Here a size is mastered where at least 90% of its probes are answered
rightly; sizes are doubled until one is not mastered and then halved in between, 36 probes a size; and bounds say
which sizes are surely mastered, and surely not, by exact binomial tests. Accuracy is taken not to rise with size.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import log2
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta

from cogniload_repro.companions.probes import KINDS, draw_probe, score_probe
from cogniload_repro.endings import take_answer
from cogniload_repro.outputs.adapters import adapt_record
from cogniload_repro.outputs.inspect_logs import Sample, read_archive

#: First sizes, the post's.
FIRST_SIZE = {"state": 5, "rules": 3, "path": 5}
#: Bits that one more of each adds to the load; the post rounds them to 9.97, 13.3 and 10.
BITS = {"state": log2(1000), "rules": log2(100**2), "path": log2(1000)}
#: All 36 right make a share of 90% sure at the two-sided 95%: 0.9^36 is below 0.025.
REPEATS = 36
RELIABILITY = 0.9
CONFIDENCE = 0.95
#: No probe is larger: registers of this many fill a context of 32K tokens.
LARGEST_SIZE = 4096

#: What tells a probe from all others.
KEYS = ("probe", "size", "number", "seed")
_COLUMNS = [*KEYS, "response"]


def read_counts(path: str | Path | None) -> pd.DataFrame:
    """Read a table of answers, CSV or JSONL, or a log of the task `scap`, and count what is right.

    Without a file, nothing is asked yet.

    Raises
    ------
    ValueError
        If the file cannot be read as a table or log, or as `score_answers`.
    """
    if path is None:
        return pd.DataFrame({"probe": [], "size": [], "asked": [], "right": []})
    try:
        if Path(path).suffix == ".eval":
            answers = pd.DataFrame(_read_log(Path(path)), columns=_COLUMNS)
        elif Path(path).suffix == ".jsonl":
            lines = Path(path).read_text("utf-8").split("\n")
            answers = pd.DataFrame([json.loads(line) for line in lines if line.strip()])
        else:
            answers = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.ParserError) as error:
        raise ValueError(
            f"{path}: not a readable table of answers ({str(error).strip()}); give CSV, JSONL or a log"
        ) from None
    return count_right(score_answers(answers))


def score_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Judge a table of answers.

    Parameters
    ----------
    answers : DataFrame
        Columns probe, size, number, seed, response.

    Returns
    -------
    DataFrame
        The same rows without the responses, and verdict: right, wrong or unreadable.

    Raises
    ------
    ValueError
        If a column is missing, a probe is unknown or answered twice, or a number is none.
    """
    if missing := [column for column in _COLUMNS if column not in answers]:
        raise ValueError(f"the answers have no column {', '.join(missing)}; keep those of the probes, add `response`")
    answers = answers[_COLUMNS].copy()
    keys = ["size", "number", "seed"]
    numbers = answers[keys].apply(pd.to_numeric, errors="coerce")
    if (wrong := (numbers.isna() | (numbers % 1 != 0) | (numbers.abs() > 2**53)).any(axis=1)).any():
        raise ValueError(
            f"row {int(np.argmax(wrong)) + 1} of the answers has no whole {', '.join(keys)}; keep the probes'"
        )
    if (large := numbers["size"] > LARGEST_SIZE).any():
        raise ValueError(
            f"row {int(np.argmax(large)) + 1} of the answers has a size above {LARGEST_SIZE:,}, which no probe has; "
            "keep the probes'"
        )
    answers[keys] = numbers.astype("int64")
    if (twice := answers.duplicated(["probe", *keys])).any():
        raise ValueError(f"row {int(np.argmax(twice)) + 1} of the answers repeats a probe; keep one answer each")
    verdicts = [judge_probe(row, str(row["response"])) for row in answers.to_dict("records")]
    return answers.drop(columns="response").assign(verdict=verdicts)


def judge_probe(about: Mapping, response: str) -> str:
    """Return "right", "wrong" or "unreadable" for the answer to the probe of these `KEYS`: what follows the reasoning.

    Raises
    ------
    ValueError
        If there is no such probe.
    """
    probe = draw_probe(about["probe"], about["size"], about["number"], about["seed"])
    return score_probe(probe, take_answer(response) or "")


def count_right(scored: pd.DataFrame) -> pd.DataFrame:
    """Return, by probe and size in rising order, asked and right; unreadable answers are not right."""
    table = scored.assign(right=scored["verdict"] == "right").groupby(["probe", "size"])["right"].agg(["count", "sum"])
    return table.reset_index().set_axis(["probe", "size", "asked", "right"], axis=1)


def next_sizes(counts: pd.DataFrame) -> dict[str, int | None]:
    """Return for every kind of probe the size to ask next; None where the search is over.

    From the post's first size, sizes double while they are mastered and halve towards 1 while they are not; between
    the largest mastered size and the smallest that is not, the middle is asked until the two are neighbours.
    """
    sizes: dict[str, int | None] = {}
    for kind in KINDS:
        mastered, failed = _bracket(counts, kind)
        if failed is not None:
            size = ((mastered or 0) + failed) // 2
        else:
            size = FIRST_SIZE[kind] if mastered is None else min(2 * mastered, LARGEST_SIZE)
        sizes[kind] = None if size in (mastered or 0, failed) else size
    return sizes


def estimate_capacity(counts: pd.DataFrame, confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Estimate how much a model can hold, and its critical load (the post's step 4).

    Parameters
    ----------
    counts : DataFrame
        As `count_right` gives it.
    confidence : float
        Of each row's interval. The interval of the mean takes bounds that hold together with this confidence.

    Returns
    -------
    DataFrame
        Rows state, rules, path and critical: probe; n_max, the largest size mastered with all smaller ones asked;
        n_low, surely mastered; n_high, beyond which is surely not (infinite where none surely fails); load, load_low,
        load_high, in bits times predicates times steps. The last row is the mean, and has no sizes.

    Raises
    ------
    ValueError
        If a kind of probe has no answers.
    """
    if absent := [kind for kind in KINDS if kind not in set(counts["probe"])]:
        raise ValueError(f"no answers to probes of kind {', '.join(absent)}; all three make a critical load")
    tail, joint = (1 - confidence) / 2, (1 - confidence) / (2 * len(KINDS))
    rows, together = [], []
    for kind in KINDS:
        n_max = _bracket(counts, kind)[0] or 0
        low, high = _bounds(counts[counts["probe"] == kind], tail)
        loads = {"load": n_max * BITS[kind], "load_low": low * BITS[kind], "load_high": high * BITS[kind]}
        rows.append({"probe": kind, "n_max": n_max, "n_low": low, "n_high": high} | loads)
        together.append([bound * BITS[kind] for bound in _bounds(counts[counts["probe"] == kind], joint)])
    low, high = np.mean(together, axis=0)
    mean = float(np.mean([row["load"] for row in rows]))
    rows.append({"probe": "critical", "load": mean, "load_low": low, "load_high": high})
    return pd.DataFrame(rows)


def list_probes(sizes: dict[str, int | None], repeats: int = REPEATS, seed: int = 42) -> Iterable[dict]:
    """Yield the probes of these sizes as rows: probe, size, number, seed, prompt."""
    for kind, size in sizes.items():
        if size is None:
            continue
        for number in range(repeats):
            prompt = draw_probe(kind, size, number, seed).prompt
            yield {"probe": kind, "size": size, "number": number, "seed": seed, "prompt": prompt}


def _read_log(path: Path) -> Iterator[dict]:
    """Yield the answers of an Inspect log; samples that failed have none."""
    for sample in read_archive(path):
        if not (isinstance(sample, Sample) and isinstance(sample.record, dict)):
            continue
        about = sample.record.get("metadata")
        if not isinstance(about, dict) or not set(KEYS) <= set(about):
            raise ValueError("its samples are no probes, so it is a log of another task than cogniload_repro/scap")
        for row in adapt_record(sample.record, sample.model):
            if isinstance(row, dict):
                yield {key: about[key] for key in KEYS} | {"response": row["response"]}


def _bracket(counts: pd.DataFrame, kind: str) -> tuple[int | None, int | None]:
    """Return the largest size mastered together with all smaller ones asked, and the next size asked."""
    own = counts[counts["probe"] == kind].sort_values("size")
    failed = own["right"] < RELIABILITY * own["asked"]
    first = own["size"][failed].min() if failed.any() else None
    mastered = own["size"] if first is None else own["size"][own["size"] < first]
    return None if mastered.empty else int(mastered.max()), None if first is None else int(first)


def _bounds(own: pd.DataFrame, tail: float) -> tuple[float, float]:
    """Return the last size surely mastered, and the one before the first that surely is not.

    Sizes are tested in order, from the smallest up and from the largest down, each until the first that fails its
    test, so that the many tests do not add up their errors.
    """
    own = own.sort_values("size")
    asked, right = own["asked"].to_numpy(), own["right"].to_numpy()
    lowest = np.where(right == 0, 0.0, beta.ppf(tail, right, asked - right + 1))
    highest = np.where(right == asked, 1.0, beta.ppf(1 - tail, right + 1, asked - right))
    sizes = own["size"].to_numpy()
    sure = np.cumprod(lowest >= RELIABILITY).sum()
    hopeless = np.cumprod((highest < RELIABILITY)[::-1]).sum()
    return float(sizes[sure - 1]) if sure else 0.0, float(sizes[-hopeless] - 1) if hopeless else np.inf
