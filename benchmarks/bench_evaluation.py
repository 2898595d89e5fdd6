"""What the Inspect task and its scorer cost a request, beside Inspect's own work, measured in this one run.

.venv-evaluate/bin/python benchmarks/bench_evaluation.py [--json]

The same puzzles are asked of Inspect's mock model, which answers at once, by the task and by a trivial one with
Inspect's own solver and scorer, in turns. Where Inspect is not installed there is nothing to measure.
"""

import json
import statistics
import sys
import tempfile
import time
from importlib.util import find_spec

TURNS, PER_CELL = 3, 5


def measure() -> list[tuple[str, str]]:
    """Return rows of what was measured, and the figure."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    from cogniload_repro.evaluation.tasks import cogniload

    output = ModelOutput.from_content("mock", "I do not know what she is wearing.\n" * 200)
    output.usage = ModelUsage(input_tokens=500, output_tokens=900, total_tokens=1400)

    def answer(messages, tools, tool_choice, config):
        return output.model_copy(deep=True)

    def trivial():
        samples = [sample.model_copy(deep=True) for sample in cogniload(form="mini", per_cell=PER_CELL).dataset]
        return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())

    def seconds(task: Task) -> float:
        with tempfile.TemporaryDirectory() as folder:
            model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
            start = time.process_time()
            (log,) = evaluate(task, model=model, log_dir=folder, display="none")
            spent = time.process_time() - start
            if log.status != "success":
                raise SystemExit(f"the evaluation failed: {log.error}")
            return spent / len(log.samples)

    seconds(trivial())  # what is imported only once
    ours, plain = zip(
        *((seconds(cogniload(form="mini", per_cell=PER_CELL)), seconds(trivial())) for _ in range(TURNS)), strict=True
    )
    own, other = statistics.median(ours), statistics.median(plain)
    return [
        (
            "a request of the Inspect task, prompt counted and answer judged, against a trivial task (mock model)",
            f"{1e3 * own:.1f} ms, {1e3 * other:.1f} ms ({own / other:.2f}x)",
        )
    ]


if __name__ == "__main__":
    rows = measure() if find_spec("inspect_ai") else []
    print(json.dumps(rows) if "--json" in sys.argv else "\n".join(f"{what}: {figure}" for what, figure in rows))
