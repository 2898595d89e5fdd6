"""CogniLoad as an Inspect task: ``inspect eval cogniload_repro/cogniload``.

Inspect asks the model, keeps the log and resumes interrupted runs. Requires the extra
``evaluate``.
"""

import re
from collections import Counter
from math import floor
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_repro.asking.logs import describe_output
from cogniload_repro.asking.protocol import COMPARABILITY, write_queries
from cogniload_repro.grid import PAPER_GRID, check_count, grid_cells
from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.responses import read_response
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.sets import SEED, PuzzleSet, draw_rows
from cogniload_repro.scoring.outcome import BUCKETS
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS, CUT, RESERVED_TOKENS
from cogniload_repro.scoring.response import score_response

#: Raised when parameters or names of metrics change, while answers and outcomes stay comparable.
INTERFACE = "E"
#: The only effort that the paper states, for the gpt-5 family (Table 1).
EFFORT = "medium"
#: A run stops when this share of its samples has failed; a single failure does not stop it.
FAILED_SHARE = 0.5
#: Fewest tokens per piece of a prompt over all tokenizers and cells, since overestimating a prompt
#: would cut off answers.
TOKENS_PER_PIECE = 0.88
# Words with a symbol right before them, digits, runs of a symbol, line ends: about one token each
# for a tokenizer
_PIECES = re.compile(r"[^\w\s]?[^\W\d]+|\d|([^\w\s])\1*|\n+")
#: What a sample says about its puzzle, and the part of it that the scorer needs.
_FACTS = ("N", "d", "ratio_pct", "needles", "rho", "poi", "category", "domain")
_ASKED = ("poi", "category", "domain")


@task
def cogniload(
    grid: str | list[str] = "paper",
    per_cell: int = 10,
    seed: int = SEED,
    rounding: str = PAPER_GRID[0].rounding,
    edition: str = "python",
    perturb: str | None = None,
    effort: str = EFFORT,
    max_tokens: int | None = None,
) -> Task:
    """Return the Inspect task that asks a model CogniLoad's puzzles.

    Parameters
    ----------
    grid : str
        "paper" (140 cells), "mini" (18 of them), or cells such as ``N=20:50,ratio=5,d=3``.
    per_cell : int
        Puzzles per cell; of the default set the first ones, as in ``cogniload puzzles``.
    seed : int
        42 selects the default set, any other seed new puzzles.
    rounding : str
        Rule for the number of needles, see `grid.count_needles`.
    edition : str
        Edition of the generator.
    perturb : str, optional
        A key of ``cl.PERTURBATIONS``: every prompt is perturbed and states the rule to undo;
        "baseline": the text is prepared in the same way, but not perturbed.
    effort : str
        Reasoning effort sent to the provider (the paper's for gpt-5 is "medium"); "unset" sends
        none.
    max_tokens : int, optional
        Limit on the tokens per answer, for models that allow fewer than the paper's context.
    """
    if isinstance(grid, list):  # Inspect turns text with commas into a list
        grid = " ".join(grid)
    cells = grid_cells(grid, rounding)
    generator = resolve_edition(edition)
    puzzles = PuzzleSet(cells, per_cell, seed, "spawn", generator)
    rows = {row["name"]: row for row in draw_rows(puzzles)}
    texts = [(name, row["text"]) for name, row in rows.items()]
    samples = []
    for query in write_queries(texts, perturb):
        answer_budget(query.prompt)  # rejects too long prompts unpaid
        row = rows[query.name]
        facts = {fact: row[fact] for fact in _FACTS}
        if perturb:
            facts["perturbation"] = perturb
        samples.append(
            Sample(
                id=query.name, input=query.prompt, target=row["gold"], metadata=facts
            )
        )
    reasoning: Any = None if effort == "unset" else effort
    config = GenerateConfig(reasoning_effort=reasoning)
    return Task(
        dataset=MemoryDataset(samples, name="cogniload"),
        solver=ask(max_tokens),
        scorer=outcome(),
        config=config,
        fail_on_error=FAILED_SHARE,
        version=f"{COMPARABILITY}-{INTERFACE}",
        metadata={
            "perturbation": perturb or "",
            "effort": effort,
            "context": CONTEXT_TOKENS,
        },
    )


def answer_budget(query: str) -> int:
    """Estimate how many tokens the paper's context leaves for an answer (Appendix D.3).

    Tokens of the prompt are underestimated on purpose: a budget that is too small would cut off
    answers that the paper counted, while one that is too large is corrected by the scorer.
    """
    tokens = floor(TOKENS_PER_PIECE * sum(1 for _ in _PIECES.finditer(query)))
    budget = CONTEXT_TOKENS - RESERVED_TOKENS - tokens
    if budget < 1:
        raise ValueError(
            f"a prompt of about {tokens:,} tokens fills the paper's context of {CONTEXT_TOKENS:,}; "
            "take fewer statements or a lower d"
        )
    return budget


@solver
def ask(limit: int | None = None) -> Solver:
    """Ask each puzzle once, with as many tokens as the paper's context and the limit allow."""
    limit = None if limit is None else check_count("max_tokens", limit, 1)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.epoch > 1:
            raise ValueError(
                "each puzzle is asked once; run without --epochs, and take a larger per_cell"
            )
        budget = answer_budget(state.input_text)
        state.metadata["max_tokens"] = min(budget, limit or budget)
        return await generate(state, max_tokens=state.metadata["max_tokens"])

    return solve


@metric
def shares() -> Metric:
    """Measure the shares of answers cut off, and in each of the eight buckets (Appendix D.5)."""

    def measure(scores: list[SampleScore]) -> Value:
        answers = [item.score.metadata for item in scores if item.score.metadata]
        if not answers:
            return {}
        counts = Counter(answer["bucket"] for answer in answers)
        share = {bucket: counts[bucket] / len(answers) for bucket in BUCKETS}
        cut_off = sum(answer["stopped"] in CUT for answer in answers)
        return share | {"cut_off": cut_off / len(answers)}

    return measure


@scorer(metrics=[accuracy(), stderr(), shares()])
def outcome() -> Scorer:
    """Score an answer, reasoning included, by Appendix D, as the import of this log will."""

    async def score(state: TaskState, target: Target) -> Score:
        about = {"model": str(state.model), "name": str(state.sample_id)}
        row = about | describe_output(state.output)
        try:
            response = read_response(row)  # as the import
        except RowError as error:
            explanation = ": ".join(error.args[:2])
            return Score.unscored(reason="no_response", explanation=explanation)
        question = {name: state.metadata[name] for name in _ASKED}
        question["gold"] = target.text
        tokens: dict[str, Any] = {
            "prompt_tokens": response.prompt_tokens,
            "response_tokens": response.response_tokens,
        }
        found = score_response(response.response, **question, **tokens)
        bucket = str(found)
        about = tokens | {"bucket": bucket, "stopped": response.stopped}
        return Score(
            value="C" if found.is_correct else "I",
            answer=found.answer,
            explanation=found.window,
            reason=bucket,
            metadata=about,
        )

    return score
