"""The task folder for lm-evaluation-harness, and its logs."""

import importlib.util
import json

import pytest
import yaml

from cogniload_repro.companions.protocol import list_queries
from cogniload_repro.evaluation.harness import write_task
from cogniload_repro.grid import grid_cells
from cogniload_repro.outputs.rows import read_outputs
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.folders import write_set


@pytest.fixture
def task(tmp_path):
    """The folder of a task with rail fences."""
    write_set(tmp_path, "parquet", grid_cells("N=20 ratio=50 d=1,3"), 2, 5)
    return write_task(tmp_path, list_queries(tmp_path, "rail_fence"))


def load_module(task):
    """The module that the YAML names, imported from its file as the harness does."""
    spec = importlib.util.spec_from_file_location("cogniload_task", task / "cogniload_task.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_of_a_task_fit_one_another(task):
    """The functions and columns that the YAML names are there."""

    class Loader(yaml.SafeLoader):
        """Reads the harness's tag for functions as their names."""

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    settings = yaml.load((task / "cogniload.yaml").read_text("utf-8"), Loader)
    module = load_module(task)
    for key in ("custom_dataset", "process_results"):
        name, _, function = settings[key].partition(".")
        assert name == "cogniload_task"
        assert callable(getattr(module, function))
    docs = [json.loads(line) for line in (task / "puzzles.jsonl").read_text("utf-8").splitlines()]
    assert len(docs) == 4
    for doc in docs:
        assert {settings["doc_to_text"], settings["doc_to_target"], "name"} <= set(doc)
        right = module.judge(doc, [f"So {doc['poi']}: {doc['gold']}."])
        wrong = module.judge(doc, ["I do not know."])
        assert (list(right), right["correct"], wrong["correct"]) == ([settings["metric_list"][0]["metric"]], 1.0, 0.0)


def test_a_log_of_the_task_is_read_with_names_and_condition(task):
    """A sample log has each document as it was; it imports as answers to perturbed prompts."""
    docs = [json.loads(line) for line in (task / "puzzles.jsonl").read_text("utf-8").splitlines()]
    log = task / "samples_cogniload_2030-01-01T00-00-00.000000.jsonl"
    samples = [
        {"doc_id": number, "doc": doc, "target": doc["gold"], "resps": [["Red."]], "filtered_resps": ["Red."],
         "filter": "none", "correct": 0.0}
        for number, doc in enumerate(docs)
    ]  # fmt: skip
    log.write_text("".join(json.dumps(sample) + "\n" for sample in samples), "utf-8")
    outputs = list(read_outputs(log, Catalog(), model="m"))
    assert [(output.model, output.name) for output in outputs] == [("m (rail_fence)", doc["name"]) for doc in docs]
