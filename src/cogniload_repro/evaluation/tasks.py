"""CogniLoad, and the probes of critical load, as tasks of Inspect: ``inspect eval cogniload_repro/cogniload``.

Inspect asks the model, keeps the log and resumes runs that were stopped. Needs the extra ``evaluate``.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from inspect_ai import SampleSource, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_repro.companions import scap as probes
from cogniload_repro.companions.protocol import is_last_solved, name_condition
from cogniload_repro.endings import CONTEXT_TOKENS, read_stop
from cogniload_repro.evaluation import forms, metrics
from cogniload_repro.evaluation.planning import SHORT, measure_width, next_batch
from cogniload_repro.grid import PAPER_GRID, Cell, check_count, grid_cells
from cogniload_repro.outputs.adapters import COMPARABILITY, adapt_record
from cogniload_repro.outputs.rows import CHOSEN_FORMS
from cogniload_repro.puzzles.editions import resolve_edition
from cogniload_repro.puzzles.ids import SEED
from cogniload_repro.scoring.verdict import CORRECT_BUCKETS, explain_response

#: Raised when parameters or names of metrics change, while answers and verdicts stay comparable.
INTERFACE = "C"
#: The only effort that the paper states, for the gpt-5 family (Table 1).
EFFORT = "medium"
#: A run ends when this share of its samples has failed; a single bad answer does not end it.
FAILED_SHARE = 0.5
TOKENIZERS = "data/tokenizers"
#: What a sample says of its puzzle.
_FACTS = ("N", "d", "ratio_pct", "needles", "rho", "poi", "category", "domain")


@task
def cogniload(
    form: str = "short",
    grid: str | list[str] | None = None,
    per_cell: int = 10,
    seed: int = SEED,
    rounding: str = forms.ROUNDING,
    edition: str = "python",
    perturb: str | None = None,
    overload: int = 1,
    effort: str = EFFORT,
    max_tokens: int | None = None,
    tokenizers: str = TOKENIZERS,
    width: float = 0.1,
    puzzles: int = SHORT,
    tokens: int | None = None,
    batch: int = 35,
) -> Task:
    """Ask a model CogniLoad's puzzles.

    Parameters
    ----------
    form : {"short", "paper", "mini", "adaptive"}
        280 puzzles that determine ECL50 and ID50; the paper's 140 cells or 18 of them, `per_cell` puzzles each; puzzles
        chosen from the answers so far.
    grid : str, optional
        Other cells, such as ``N=20:50,ratio=5,d=3``, in place of the form's.
    per_cell : int
        Puzzles per cell: 10 or 100 as in the paper.
    seed : int
        42 asks the default set; any other one fresh puzzles.
    rounding : str
        Rule for the number of needles, see `grid.count_needles`.
    edition : str
        Edition of the generator.
    perturb : str, optional
        A key of ``cl.PERTURBATIONS``: every prompt is perturbed, with the rule that undoes it; "baseline": the text is
        prepared like perturbed ones and left unperturbed.
    overload : int
        Puzzles per query, of which the last one is scored.
    effort : str
        Reasoning effort sent to the provider (the paper's for gpt-5 is "medium"); "unset" sends none.
    max_tokens : int, optional
        Fewer tokens per answer than the paper's context leaves, for models that allow no more.
    tokenizers : str
        Folder in which the tokenizers of prompts may be; without them, tokens of prompts are estimated.
    width, puzzles, tokens, batch
        For the adaptive form. It stops when the 95% interval of log10 ECL50 is as narrow as `width`, or before a batch
        that would exceed `puzzles`, or after `tokens` tokens of answers; it asks `batch` puzzles at a time.
    """
    grid = " ".join(grid) if isinstance(grid, list) else grid  # Inspect makes a list of what has commas
    condition = name_condition(perturb, check_count("overload", overload, 1))
    form = form if grid is None else "grid"
    if grid_cells("paper", rounding) != PAPER_GRID and form == "adaptive":
        raise ValueError(f"the adaptive form asks cells of the rounding {forms.ROUNDING}; leave rounding out")

    draw = partial(_draw_samples, condition, seed=seed, edition=resolve_edition(edition), perturbation=perturb,
                   overload=overload)  # fmt: skip
    if form == "adaptive":
        next(draw(max(PAPER_GRID, key=lambda cell: (cell.N, cell.d)), 0, 1))  # none of its queries is longer
        dataset: SampleSource | MemoryDataset = _choose_puzzles(draw, seed, width, puzzles, tokens, batch)
    else:
        counts = forms.plan_form(form, per_cell, rounding, grid)
        samples = [sample for cell, count in counts.items() for sample in draw(cell, 0, count)]
        dataset = MemoryDataset(samples, name=f"cogniload-{form}")
    return Task(
        dataset=dataset,
        solver=ask(max_tokens, tokenizers),
        scorer=verdict(),
        metrics=[numbers(form in CHOSEN_FORMS)],
        config=_with_effort(effort),
        fail_on_error=FAILED_SHARE,
        version=f"{COMPARABILITY}-{INTERFACE}",
        metadata={"form": form, "perturbation": condition, "effort": effort, "context": CONTEXT_TOKENS},
    )


def _with_effort(effort: str) -> GenerateConfig:
    return GenerateConfig(reasoning_effort=None if effort == "unset" else effort)  # type: ignore[arg-type]


def _draw_samples(condition: str, cell: Cell, start: int, stop: int, **asked) -> Iterator[Sample]:
    """Draw samples of a cell: the query is the only message; one that alone fills the paper's context is refused."""
    for row, query in forms.draw_queries(cell, start, stop, **asked):
        forms.answer_budget(forms.estimate_tokens(query))
        facts = {name: row[name] for name in _FACTS} | ({"perturbation": condition} if condition else {})
        yield Sample(id=row["name"], input=query, target=row["gold"], metadata=facts)


@solver
def ask(limit: int | None = None, tokenizers: str = TOKENIZERS) -> Solver:
    """Ask once, with the tokens that the paper's context leaves for this answer, or fewer where there is a limit."""
    limit = None if limit is None else check_count("max_tokens", limit, 1)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.epoch > 1:
            raise ValueError("each puzzle is asked once; run without --epochs, and take a larger form for more answers")
        prompt_tokens, counted_by = forms.count_prompt(state.input_text, str(state.model), tokenizers)
        budget = forms.answer_budget(prompt_tokens)
        state.metadata |= {"max_tokens": min(budget, limit or budget), "prompt_counted_by": counted_by}
        return await generate(state, max_tokens=state.metadata["max_tokens"])

    return solve


def _read_answer(state: TaskState) -> dict | Score:
    """Return the answer as the import of this log will read it: the first of several; unscored where there is none."""
    output = state.output.model_dump(exclude_none=True)
    row = next(adapt_record({"id": state.sample_id, "epoch": state.epoch, "output": output}, str(state.model)))
    return row if isinstance(row, dict) else Score.unscored(reason="no_response", explanation=": ".join(row))


@scorer(metrics=[])
def verdict() -> Scorer:
    """Judge an answer as the import of this log will: the paper's Appendix D on the whole text, reasoning included."""

    async def score(state: TaskState, target: Target) -> Score:
        row = _read_answer(state)
        if isinstance(row, Score):
            return row
        about = {name: state.metadata[name] for name in _FACTS}
        question = {name: about[name] for name in ("poi", "domain", "category")} | {"gold": target.text}
        tokens: dict[str, Any] = {name: row.get(name) for name in ("prompt_tokens", "response_tokens")}
        found = explain_response(row["response"], **question, **tokens)
        facts = {name: about[name] for name in ("N", "d", "ratio_pct", "rho")}
        if str(state.metadata.get("perturbation")).startswith("overload"):
            facts["boxed"] = is_last_solved(row["response"], **question)
        return Score(
            value="C" if found.bucket in CORRECT_BUCKETS else "I",
            answer=found.answer,
            explanation=found.window,
            reason=found.bucket,
            metadata=facts | tokens | {"bucket": found.bucket, "stopped": read_stop(row["stopped"])},
        )

    return score


@metric
def numbers(chosen: bool = False) -> Metric:
    """Accuracy, capacity points, truncated answers and buckets; of `chosen` puzzles accuracies say nothing."""

    def measure(scores: list[SampleScore]) -> Value:
        judged = [one.score.metadata for one in scores if one.score.metadata]
        return dict(metrics.measure(judged, chosen)) if judged else {}

    return measure


class _Chosen(SampleSource):
    """Samples chosen from what has been judged so far; a sample that failed has not been answered."""

    def __init__(self, choose: Callable[[list[dict]], Iterator[Sample]]):
        self._choose, self._judged = choose, list[dict]()

    def initial_samples(self) -> list[Sample]:
        """Return the first samples."""
        return list(self._choose(self._judged))

    async def next_samples(self) -> list[Sample] | None:
        """Return further samples, or None when enough is known."""
        return list(self._choose(self._judged)) or None

    async def sample_complete(self, sample: EvalSample) -> None:
        """Keep what was judged of an answer."""
        scores = () if sample.error else (sample.scores or {}).values()
        self._judged += [score.metadata for score in scores if score.metadata]


def _choose_puzzles(draw: Callable[[Cell, int, int], Iterator[Sample]], seed: int, width: float, puzzles: int,
                    tokens: int | None, batch: int) -> _Chosen:  # fmt: skip
    """Return puzzles by `planning.next_batch`; their positions in a cell follow from how many it had before."""
    if not width > 0:
        raise ValueError(f"width is {width!r}; give a positive number, such as 0.1")
    puzzles, batch = check_count("puzzles", puzzles, 1), check_count("batch", batch, 1)
    most_tokens = np.inf if tokens is None else check_count("tokens", tokens, 1)
    index = {(cell.N, cell.ratio_pct, cell.d): index for index, cell in enumerate(PAPER_GRID)}
    given = np.zeros(len(PAPER_GRID), dtype=np.int64)

    def choose(judged: list[dict]) -> Iterator[Sample]:
        cells = [index[one["N"], one["ratio_pct"], one["d"]] for one in judged]
        right = [cell for cell, one in zip(cells, judged, strict=True) if one["bucket"] in CORRECT_BUCKETS]
        asked, correct = (np.bincount(np.array(ones, dtype=int), minlength=len(given)) for ones in (cells, right))
        left, spent = puzzles - int(given.sum()), sum(one["response_tokens"] or 0 for one in judged)
        if left < 1 or spent >= most_tokens or measure_width(asked, correct) <= width:
            return
        counts = next_batch(asked, correct, min(batch, left), seed)
        for cell, start, count in zip(PAPER_GRID, given.tolist(), counts.tolist(), strict=True):
            yield from draw(cell, start, start + count) if count else ()
        given[:] += counts

    return _Chosen(choose)


@task
def scap(
    repeats: int = probes.REPEATS,
    seed: int = 42,
    effort: str = EFFORT,
    max_tokens: int | None = None,
    tokenizers: str = TOKENIZERS,
) -> Task:
    """Search how many registers, rules and operations a model still gets right; ``cogniload scap`` reads the log.

    Parameters
    ----------
    repeats : int
        Probes per size.
    seed : int
        Seed of all probes.
    effort, max_tokens, tokenizers
        As for `cogniload`.
    """
    return Task(
        dataset=_choose_probes(check_count("repeats", repeats, 1), check_count("seed", seed, 0)),
        solver=ask(max_tokens, tokenizers),
        scorer=right(),
        metrics=[capacity()],
        config=_with_effort(effort),
        fail_on_error=FAILED_SHARE,
        version=f"{COMPARABILITY}-A",
        metadata={"effort": effort},
    )


@scorer(metrics=[])
def right() -> Scorer:
    """Judge the last line that gives an answer, after the reasoning."""

    async def score(state: TaskState, target: Target) -> Score:
        row = _read_answer(state)
        if isinstance(row, Score):
            return row
        about = {key: state.metadata[key] for key in probes.KEYS}
        found = probes.judge_probe(about, row["response"])
        return Score(value="C" if found == "right" else "I", reason=found, metadata=about | {"verdict": found})

    return score


@metric
def capacity() -> Metric:
    """Largest size mastered of each kind, and the loads, with their intervals."""

    def measure(scores: list[SampleScore]) -> Value:
        counts = _count_right([one.score.metadata for one in scores if one.score.metadata])
        if set(counts["probe"]) != set(probes.KINDS):
            return {}  # as long as answers come in, or where all to one kind have failed
        found = {
            f"{row['probe']}_{name}": row[name]
            for row in probes.estimate_capacity(counts).to_dict("records")
            for name in ("n_max", "load", "load_low", "load_high")
        }
        return {name: float(value) for name, value in found.items() if np.isfinite(value)}

    return measure


def _count_right(judged: list[dict]) -> pd.DataFrame:
    return probes.count_right(pd.DataFrame(judged, columns=[*probes.KEYS, "verdict"]))


def _choose_probes(repeats: int, seed: int) -> _Chosen:
    """Return probes of the sizes that are to be asked next, until each kind has its largest (`companions.scap`)."""
    given: set[tuple[str, int | None]] = set()

    def choose(judged: list[dict]) -> Iterator[Sample]:
        # a size without a single answer is not asked again: the model, or the way to it, has failed
        sizes = probes.next_sizes(_count_right(judged)).items()
        new: dict[str, int | None] = {kind: size for kind, size in sizes if size and (kind, size) not in given}
        given.update(new.items())
        for row in probes.list_probes(new, repeats, seed):
            about = {key: row[key] for key in probes.KEYS}
            answer = probes.draw_probe(row["probe"], row["size"], row["number"], row["seed"]).answer
            name, target = ("_".join(map(str, words)) for words in (about.values(), answer))
            yield Sample(id=name, input=row["prompt"], target=target, metadata=about)

    return _Chosen(choose)
