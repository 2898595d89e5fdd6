"""How Inspect asks: one message, one answer, the tokens that the paper's context leaves, an effort that is told."""

from inspect_ai.model import GenerateConfig
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_repro.evaluation.budget import answer_budget, count_prompt

#: No effort is stated in the paper but this, of the gpt-5 family (Table 1).
EFFORT = "medium"


def tell_effort(effort: str) -> GenerateConfig:
    """Return settings with the effort of reasoning, which "unset" leaves to the provider."""
    return GenerateConfig(reasoning_effort=None if effort == "unset" else effort)  # type: ignore[arg-type]


@solver
def ask(limit: int | None = None, tokenizers: str = "data/tokenizers") -> Solver:
    """Ask once, with the tokens that the paper's context leaves for this answer, or fewer where there is a limit."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.epoch > 1:
            raise ValueError("each puzzle is asked once; run without --epochs, and take a larger form for more answers")
        prompt_tokens, counted_by = count_prompt(state.input_text, str(state.model), tokenizers)
        budget = answer_budget(prompt_tokens)
        state.metadata |= {"max_tokens": min(budget, limit or budget), "prompt_counted_by": counted_by}
        return await generate(state, max_tokens=state.metadata["max_tokens"])

    return solve
