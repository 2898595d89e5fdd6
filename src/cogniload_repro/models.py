"""The 22 models of the paper: names, family and number of puzzles per cell."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """One evaluated model (paper, section 3).

    ``name`` is printed in Tables 4-6 and the key of every table here; ``label`` is short, for figures, which group by
    ``family``. ``missing`` has the (d, N) of every puzzle that Tables 4 and 5 show to be missing.
    """

    name: str
    label: str
    family: str
    puzzles_per_cell: int
    missing: tuple[tuple[int, int], ...] = ()


#: The models in the printed order of Tables 3 and 6.
MODELS = (
    Model("DeepSeek-R1-0528", "DS-R1-0528", "DeepSeek R1", 10),
    Model("DeepSeek-R1-Distill-Llama-70B", "DS-Llama-70B", "DeepSeek R1 distilled", 100),
    Model("DeepSeek-R1-Distill-Qwen-1.5B", "DS-Qwen-1.5B", "DeepSeek R1 distilled", 100),
    Model("DeepSeek-R1-Distill-Qwen-32B", "DS-Qwen-32B", "DeepSeek R1 distilled", 100),
    Model("DeepSeek-R1-Distill-Qwen-7B", "DS-Qwen-7B", "DeepSeek R1 distilled", 100),
    Model("EXAONE-Deep-32B", "EXAONE-Deep-32B", "EXAONE", 100),
    Model("Phi-4-mini-reasoning", "Phi-4-mini-r.", "Phi-4", 100),
    Model("Phi-4-reasoning", "Phi-4-reasoning", "Phi-4", 100),
    Model("Phi-4-reasoning-plus", "Phi-4-r.-plus", "Phi-4", 100),
    Model("QwQ-32B", "QwQ-32B", "Qwen", 100),
    Model("Qwen3-1.7B", "Qwen3-1.7B", "Qwen", 100, missing=((10, 250), (10, 250))),
    Model("Qwen3-30B-A3B", "Qwen3-30B-A3B", "Qwen", 100),
    Model("Qwen3-32B", "Qwen3-32B", "Qwen", 100),
    Model("Qwen3-8B", "Qwen3-8B", "Qwen", 100),
    Model("gemini-2.5-flash", "gemini-2.5-flash", "Gemini 2.5", 10),
    Model("gemini-2.5-flash-lite", "gemini-2.5-flash-lite", "Gemini 2.5", 10),
    Model("gemini-2.5-pro", "gemini-2.5-pro", "Gemini 2.5", 10),
    Model("gpt-5-2025-08-07", "gpt-5", "OpenAI", 10),
    Model("gpt-5-mini-2025-08-07", "gpt-5-mini", "OpenAI", 10),
    Model("gpt-5-nano-2025-08-07", "gpt-5-nano", "OpenAI", 10),
    Model("o3-2025-04-16", "o3", "OpenAI", 10, missing=((1, 250), (5, 250))),
    Model("o4-mini-2025-04-16", "o4-mini", "OpenAI", 10, missing=((1, 250), (7, 250))),
)

BY_NAME = {model.name: model for model in MODELS}
NAMES = tuple(BY_NAME)


def find_model(name: str) -> Model:
    """Return the model of the paper with this exact name; the ValueError for another one lists them."""
    if name not in BY_NAME:
        raise ValueError(f"unknown model {name!r}; the paper's models are: {', '.join(NAMES)}")
    return BY_NAME[name]


def order_models(models: Iterable[str]) -> list[str]:
    """Return each model once: the paper's in printed order, then the others by name."""
    present = set(models)
    return [name for name in NAMES if name in present] + sorted(present.difference(NAMES))
