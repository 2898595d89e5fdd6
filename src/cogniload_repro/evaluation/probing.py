"""The probes of critical load as a task of the Inspect framework: ``inspect eval cogniload_repro/scap``.

Sizes are searched while it asks, as `companions.scap` does between tables of answers; ``cogniload scap`` reads the log.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from inspect_ai import SampleSource, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from cogniload_repro.companions.probes import KINDS, draw_probe
from cogniload_repro.companions.scap import (
    KEYS,
    REPEATS,
    count_right,
    estimate_capacity,
    judge_probe,
    list_probes,
    next_sizes,
)
from cogniload_repro.evaluation.asking import EFFORT, ask, tell_effort
from cogniload_repro.grid import check_count
from cogniload_repro.outputs.adapters import adapt_record
from cogniload_repro.outputs.inspect_logs import COMPARABILITY


@task
def scap(
    repeats: int = REPEATS,
    seed: int = 42,
    effort: str = EFFORT,
    max_tokens: int | None = None,
    tokenizers: str = "data/tokenizers",
) -> Task:
    """Search how many registers, rules and operations a model still gets right.

    Parameters
    ----------
    repeats : int
        Probes a size.
    seed : int
        Seed of all probes.
    effort, max_tokens, tokenizers
        As for `tasks.cogniload`.
    """
    limit = None if max_tokens is None else check_count("max_tokens", max_tokens, 1)
    return Task(
        dataset=Search(check_count("repeats", repeats, 1), check_count("seed", seed, 0)),
        solver=ask(limit, tokenizers),
        scorer=right(),
        metrics=[capacity()],
        config=tell_effort(effort),
        version=f"{COMPARABILITY}-A",
        metadata={"effort": effort},
    )


@scorer(metrics=[])
def right() -> Scorer:
    """Judge the last line that gives an answer, after the reasoning."""

    async def score(state: TaskState, target: Target) -> Score:
        output = state.output.model_dump(exclude_none=True)
        (row,) = adapt_record({"id": state.sample_id, "epoch": state.epoch, "output": output}, str(state.model))
        if not isinstance(row, dict):
            return Score.unscored(reason="no_response", explanation=": ".join(row))
        about = {key: state.metadata[key] for key in KEYS}
        verdict = judge_probe(about, row["response"])
        return Score(value="C" if verdict == "right" else "I", reason=verdict, metadata=about | {"verdict": verdict})

    return score


@metric
def capacity() -> Metric:
    """Largest size mastered of each kind, and the loads, with their intervals."""

    def measure(scores: list[SampleScore]) -> Value:
        counts = count_right(
            pd.DataFrame([one.score.metadata for one in scores if one.score.metadata], columns=[*KEYS, "verdict"])
        )
        if set(counts["probe"]) != set(KINDS):
            return {}  # as long as answers come in, or where all to one kind have failed
        found = {
            f"{row['probe']}_{name}": row[name]
            for row in estimate_capacity(counts).to_dict("records")
            for name in ("n_max", "load", "load_low", "load_high")
        }
        return {name: float(value) for name, value in found.items() if np.isfinite(value)}

    return measure


class Search(SampleSource):
    """Probes of the sizes that are to be asked next, until each kind has its largest."""

    def __init__(self, repeats: int = REPEATS, seed: int = 42):
        self._repeats, self._seed = repeats, seed
        self._given: set[tuple[str, int]] = set()
        self._judged: list[dict] = []

    def initial_samples(self) -> list[Sample]:
        """Return the probes of the first sizes."""
        return list(self._next())

    async def next_samples(self) -> list[Sample] | None:
        """Return the probes of the next sizes, or None when the search is over."""
        return list(self._next()) or None

    async def sample_complete(self, sample: EvalSample) -> None:
        """Count an answer; one that failed was not given."""
        score = (sample.scores or {}).get("right")
        if sample.error is None and score is not None and score.metadata:
            self._judged.append(score.metadata)

    def _next(self) -> Iterator[Sample]:
        counts = count_right(pd.DataFrame(self._judged, columns=[*KEYS, "verdict"]))
        # a size without a single answer is not asked again: the model, or the way to it, has failed
        sizes = {kind: n for kind, n in next_sizes(counts).items() if n and (kind, n) not in self._given}
        self._given |= set(sizes.items())
        for row in list_probes(dict(sizes), self._repeats, self._seed):
            about = {key: row[key] for key in KEYS}
            answer = draw_probe(row["probe"], row["size"], row["number"], row["seed"]).answer
            name, target = ("_".join(map(str, words)) for words in (about.values(), answer))
            yield Sample(id=name, input=row["prompt"], target=target, metadata=about)
