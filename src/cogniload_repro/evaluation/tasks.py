"""The benchmark as a task of the Inspect framework: ``inspect eval cogniload_repro/cogniload``.

Inspect asks the model, keeps the log and takes up runs that were stopped; prompts, budgets, verdicts and numbers are
those of this package. Needs the extra ``evaluate``. This is where Inspect looks, so it finds `probing.scap` here too.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from inspect_ai import SampleSource, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from cogniload_repro.companions.protocol import is_last_solved, name_condition
from cogniload_repro.endings import CONTEXT_TOKENS, read_stop
from cogniload_repro.evaluation import judging
from cogniload_repro.evaluation.adaptive import measure_width, next_batch
from cogniload_repro.evaluation.asking import EFFORT, ask, tell_effort
from cogniload_repro.evaluation.budget import answer_budget, estimate_tokens
from cogniload_repro.evaluation.forms import draw_queries, plan_form
from cogniload_repro.evaluation.probing import scap
from cogniload_repro.grid import PAPER_GRID, ROUNDINGS, Cell, check_count
from cogniload_repro.outputs.adapters import adapt_record
from cogniload_repro.outputs.inspect_logs import COMPARABILITY
from cogniload_repro.outputs.settings import CHOSEN_FORMS
from cogniload_repro.puzzles.editions import PORT, Edition, resolve_edition
from cogniload_repro.puzzles.ids import SEED
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, explain_response

#: Raised when parameters or names of metrics change, while answers and verdicts stay comparable.
INTERFACE = "B"
#: What a sample says of its puzzle.
_FACTS = ("N", "d", "ratio_pct", "needles", "rho", "poi", "category", "domain")

__all__ = ["cogniload", "scap"]


@task
def cogniload(
    form: str = "short",
    grid: str | list[str] | None = None,
    per_cell: int = 10,
    seed: int = SEED,
    rounding: str = "paper",
    edition: str = "port",
    perturb: str | None = None,
    overload: int = 1,
    effort: str = EFFORT,
    max_tokens: int | None = None,
    tokenizers: str = "data/tokenizers",
    width: float = 0.1,
    puzzles: int = 280,
    tokens: int | None = None,
    batch: int = 35,
) -> Task:
    """Ask a model CogniLoad's puzzles.

    Parameters
    ----------
    form : {"short", "paper", "mini", "adaptive"}
        280 puzzles that settle ECL50 and ID50; the paper's 140 cells or 18 of them, `per_cell` puzzles each; puzzles
        chosen by the answers so far.
    grid : str, optional
        Other cells, such as ``N=20:50,ratio=5,d=3``, in place of the form's.
    per_cell : int
        Puzzles a cell: 10 or 100 as in the paper.
    seed : int
        42 asks the default set; any other one fresh puzzles.
    rounding : {"paper", "port"}
        Rule for the number of needles.
    edition : str
        Edition of the generator.
    perturb : str, optional
        Encode every prompt so that it is harder to read, a key of `perturbations.PERTURBATIONS`, with the rule that
        undoes it.
    overload : int
        Puzzles a query, of which the last one is scored.
    effort : str
        Effort of reasoning, always told to the provider (the paper's for gpt-5 is "medium"); "unset" tells it nothing.
    max_tokens : int, optional
        Fewer tokens an answer than the paper's context leaves, for models that allow no more.
    tokenizers : str
        Folder in which prompts' tokenizers may lie; elsewhere tokens of prompts are estimated.
    width, puzzles, tokens, batch
        For the adaptive form. It stops when the 95% interval of log10 ECL50 is as narrow as `width`, or before a batch
        that would exceed `puzzles`, or after `tokens` tokens of answers; it asks `batch` puzzles at a time.
    """
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding is {rounding!r}; choose one of: {', '.join(ROUNDINGS)}")
    grid = " ".join(grid) if isinstance(grid, list) else grid  # Inspect makes a list of what has commas
    limit = None if max_tokens is None else check_count("max_tokens", max_tokens, 1)
    condition = name_condition(perturb, check_count("overload", overload, 1))
    asked = form if grid is None else "grid"
    adapts = asked == "adaptive"
    if adapts and rounding != "paper":
        raise ValueError("the adaptive form asks the paper's cells, whose rounding is paper; leave rounding out")

    draw = partial(draw_samples, seed=seed, edition=resolve_edition(edition), perturbation=perturb, overload=overload)
    if adapts:
        next(draw(max(PAPER_GRID, key=lambda cell: (cell.N, cell.d)), 0, 1))  # none of its queries is longer
        dataset: SampleSource | MemoryDataset = Adaptive(draw, seed, width, puzzles, tokens, batch)
    else:
        counts = plan_form(form, per_cell, rounding, grid)
        samples = [sample for cell, count in counts.items() for sample in draw(cell, 0, count)]
        dataset = MemoryDataset(samples, name=f"cogniload-{asked}")
    averaged = [] if asked in CHOSEN_FORMS else [accuracy(), by_load()]
    return Task(
        dataset=dataset,
        solver=ask(limit, tokenizers),
        scorer=verdict(),
        metrics=[*averaged, points(), grid_worth(), cut_off(), buckets(), *([boxed()] if overload > 1 else [])],
        config=tell_effort(effort),
        version=f"{COMPARABILITY}-{INTERFACE}",
        metadata={"form": asked, "perturbation": condition, "effort": effort, "context": CONTEXT_TOKENS},
    )


def draw_samples(
    cell: Cell,
    start: int,
    stop: int,
    seed: int = SEED,
    edition: Edition = PORT,
    perturbation: str | None = None,
    overload: int = 1,
) -> Iterator[Sample]:
    """Draw the puzzles of some places in a cell as samples: the query is the only message, the puzzle's name the id.

    Raises
    ------
    ValueError
        If a query alone fills the paper's context, or as `forms.draw_queries`.
    """
    condition = name_condition(perturbation, overload)
    for row, query in draw_queries(cell, start, stop, seed, edition, perturbation, overload):
        answer_budget(estimate_tokens(query))
        facts = {name: row[name] for name in _FACTS} | ({"perturbation": condition} if condition else {})
        yield Sample(id=row["name"], input=query, target=row["gold"], metadata=facts)


@scorer(metrics=[])
def verdict() -> Scorer:
    """Judge an answer as the import of this log will: the paper's Appendix D on the whole text, reasoning included."""

    async def score(state: TaskState, target: Target) -> Score:
        output = state.output.model_dump(exclude_none=True)
        (row,) = adapt_record({"id": state.sample_id, "epoch": state.epoch, "output": output}, str(state.model))
        if not isinstance(row, dict):
            return Score.unscored(reason="no_response", explanation=": ".join(row))
        about = {name: state.metadata[name] for name in _FACTS}
        tokens = {name: row.get(name) for name in ("prompt_tokens", "response_tokens")}
        found = explain_response(
            row["response"], poi=about["poi"], gold=target.text, domain=about["domain"], category=about["category"],
            prompt_tokens=tokens["prompt_tokens"], response_tokens=tokens["response_tokens"],
        )  # fmt: skip
        facts = {name: about[name] for name in ("N", "d", "ratio_pct", "rho")}
        if str(state.metadata.get("perturbation")).startswith("overload"):
            question = {name: about[name] for name in ("poi", "domain", "category")}
            facts["boxed"] = is_last_solved(row["response"], gold=target.text, **question)
        return Score(
            value="C" if found.bucket in CORRECT_BUCKETS else "I",
            answer=found.answer,
            explanation=found.window,
            reason=found.bucket,
            metadata=facts | tokens | {"bucket": found.bucket, "stopped": read_stop(row["stopped"])},
        )

    return score


def _measured(function: Callable[[judging.Judged], dict[str, float]]) -> Metric:
    def measure(scores: list[SampleScore]) -> Value:
        judged = [one.score.metadata for one in scores if one.score.metadata]
        return dict(function(judged)) if judged else {}

    return measure


@metric
def accuracy() -> Metric:
    """Accuracy with its 90% Wilson interval."""
    return _measured(judging.measure_accuracy)


@metric
def by_load() -> Metric:
    """Accuracy by d, N and rho."""
    return _measured(judging.split_accuracy)


@metric
def points() -> Metric:
    """ECL50, NT50 and ID50 with 95% profile intervals."""
    return _measured(judging.locate_points)


@metric
def grid_worth() -> Metric:
    """How many puzzles on the whole grid would have settled as much."""
    return _measured(judging.equate_grid)


@metric
def cut_off() -> Metric:
    """Share of answers that were cut off."""
    return _measured(judging.share_cut)


@metric
def buckets() -> Metric:
    """Shares of the eight buckets."""
    return _measured(judging.share_buckets)


@metric
def boxed() -> Metric:
    """Share of overloaded queries with a right answer in any box."""
    return _measured(judging.share_boxed)


class Adaptive(SampleSource):
    """Samples chosen by the answers so far; see `cogniload_repro.evaluation.adaptive`."""

    def __init__(
        self,
        draw: Callable[[Cell, int, int], Iterator[Sample]] = draw_samples,
        seed: int = SEED,
        width: float = 0.1,
        puzzles: int = 280,
        tokens: int | None = None,
        batch: int = 35,
    ):
        if not width > 0:
            raise ValueError(f"width is {width!r}; give a positive number, such as 0.1")
        self._draw, self._seed, self._width = draw, seed, width
        self._puzzles, self._batch = check_count("puzzles", puzzles, 1), check_count("batch", batch, 1)
        self._tokens = None if tokens is None else check_count("tokens", tokens, 1)
        self._places = {(cell.N, cell.ratio_pct, cell.d): place for place, cell in enumerate(PAPER_GRID)}
        self._given, self._asked, self._correct = (np.zeros(len(PAPER_GRID), dtype=np.int64) for _ in range(3))
        self._spent = 0

    def initial_samples(self) -> list[Sample]:
        """Return the first batch."""
        return list(self._next())

    async def next_samples(self) -> list[Sample] | None:
        """Return the next batch, or None when enough is known or spent."""
        narrow = measure_width(self._asked, self._correct) <= self._width
        spent = self._tokens is not None and self._spent >= self._tokens
        return None if narrow or spent else list(self._next()) or None

    async def sample_complete(self, sample: EvalSample) -> None:
        """Count an answer; one that failed was not given."""
        score = (sample.scores or {}).get("verdict")
        if sample.error is None and score is not None and score.metadata:
            place = self._places[tuple(sample.metadata[name] for name in ("N", "ratio_pct", "d"))]
            self._asked[place] += 1
            self._correct[place] += score.metadata["bucket"] in CORRECT_BUCKETS
            self._spent += score.metadata["response_tokens"] or 0

    def _next(self) -> Iterator[Sample]:
        """Give the puzzles of the next batch; their places in a cell follow from how many it had before."""
        left = self._puzzles - int(self._given.sum())
        if left < 1:
            return
        counts = next_batch(self._asked, self._correct, min(self._batch, left), self._seed)
        for cell, start, count in zip(PAPER_GRID, self._given.tolist(), counts.tolist(), strict=True):
            if count:
                yield from self._draw(cell, start, start + count)
        self._given += counts
