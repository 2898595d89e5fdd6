"""Samples of lm-evaluation-harness, as its option ``--log_samples`` writes them."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from cogniload_repro.outputs.records import Row, at, listed, read_json
from cogniload_repro.outputs.responses import read_choices
from cogniload_repro.puzzles.catalog import parse_name

# the names of all files of a run of the harness end in the same date
_SAMPLES = re.compile(r"samples_.+_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?")


def is_sample(record: Mapping) -> bool:
    """Return whether a record is a sample of the harness."""
    return "doc" in record and "resps" in record


class SampleReader:
    """Reads the samples of a file, each once although the file has it once per filter."""

    def __init__(self, path: Path):
        self._model = find_model_name(path)
        self._filters: dict[str, object] = {}

    def read(self, record: Row) -> list[Row]:
        """Return a sample's unfiltered responses as rows; stop reasons are not logged."""
        sample = record.fields
        about = [sample.get(key) for key in ("doc_id", "doc", "resps")]
        digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        label = sample.get("filter")
        if self._filters.setdefault(digest, label) != label:
            return []
        doc = sample["doc"] if isinstance(sample["doc"], dict) else {}
        fields = {
            "model": self._model,
            "name": find_name(doc.values()),
            "perturbation": doc.get("perturbation"),
            "max_tokens": at(
                sample, "arguments", "gen_args_0", "arg_1", "max_gen_toks"
            ),
        }
        choices: list[tuple[object, object]] = []
        for repeat in listed(sample["resps"]):
            texts = repeat if isinstance(repeat, list) else [repeat]
            choices += [({"content": text}, None) for text in texts]
        return read_choices(record.number, fields, choices or [(None, None)])


def find_name(texts: Iterable) -> str | None:
    """Return the first text that is a puzzle's name, None if none is."""
    names = [text.removesuffix(".txt") for text in texts if isinstance(text, str)]
    return next(filter(parse_name, names), None)


def find_model_name(samples: Path) -> str | None:
    """Return the model named in the results file beside the samples; None without that file."""
    run = _SAMPLES.fullmatch(samples.name)
    for results in samples.parent.glob(f"*_{run[1]}.json") if run else ():
        name = read_json(0, results.read_bytes()).fields.get("model_name")
        if isinstance(name, str) and name:
            return Path(name).name if Path(name).is_absolute() else name
    return None
