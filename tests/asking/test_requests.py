"""Queries as prompts, requests and a harness task: written, answered, and back as outputs."""

import hashlib
import importlib.util
import json
import re
from pathlib import Path

import pytest
import yaml
from harness import read_source, run, write_lines

from cogniload_repro.asking import requests
from cogniload_repro.asking.perturbations import PERTURBATIONS
from cogniload_repro.asking.protocol import (
    COMPARABILITY,
    Query,
    list_queries,
    write_queries,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.baselines import baselines
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import draw_rows, write_set
from cogniload_repro.scoring.response import score_response

SMALL = ("--grid", "N=20,50 ratio=50 d=1,3", "--per-cell", "3", "--jobs", "1")


def answer(request: dict) -> dict:
    """A line of the endpoint's output file; nothing of the request comes back but its id."""
    body = {
        "model": "gpt-x-2030-01-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Red."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }
    return {
        "id": "1",
        "custom_id": request["custom_id"],
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


def test_a_request_tells_the_model_the_query_and_nothing_else():
    """The name, which holds the solution, is no part of what is sent.

    Limit, effort and temperature are if given.
    """
    query = Query("20_1_1_770487_red", "", "the puzzle")
    line = requests.batch_request(query, "gpt-x", {"max_tokens": 99})
    body = {
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "the puzzle"}],
        "max_completion_tokens": 99,
    }
    assert (line["custom_id"], line["body"]) == ("20_1_1_770487_red", body)
    line = requests.batch_request(
        query, "gpt-x", {"effort": "medium", "temperature": 0.0, "max_tokens": 99}
    )
    assert line["body"] == body | {"reasoning_effort": "medium", "temperature": 0.0}


def test_files_of_requests_stay_below_the_limits_of_the_endpoint(tmp_path, monkeypatch):
    """What is too much for one file goes on in the next, in order.

    Files of an earlier, longer batch are gone.
    """
    monkeypatch.setattr(requests, "_MAX_REQUESTS", 2)
    queries = [Query(f"20_1_1_{number}_red", "", "?") for number in range(5)]
    long = [
        path.read_text().splitlines()
        for path in requests.write_batches(tmp_path, queries, "m", {})
    ]
    assert [len(lines) for lines in long] == [2, 2, 1]
    assert [json.loads(line)["custom_id"] for lines in long for line in lines] == [
        query.name for query in queries
    ]
    monkeypatch.setattr(requests, "_MAX_REQUESTS", 50)
    monkeypatch.setattr(requests, "_FULL_BYTES", 400)
    assert len(requests.write_batches(tmp_path, queries[:4], "m", {})) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "requests-1.jsonl",
        "requests-2.jsonl",
    ]
    for name in ("../m", "m\n", "m" * 300):
        with pytest.raises(ValueError, match="could not be imported"):
            requests.write_batches(tmp_path, queries, name, {})


def test_the_loop_of_the_book_makes_rows_of_outputs(tmp_path, monkeypatch):
    """The page's own lines, with a server that always answers the same, leave a table that imports.

    So filtered.
    """
    page = json.loads(
        (Path(__file__).parents[2] / "notebooks" / "evaluate.ipynb").read_text("utf-8")
    )
    text = "".join(
        "".join(cell["source"])
        for cell in page["cells"]
        if cell["cell_type"] == "markdown"
    )
    loop, choice = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    options = (
        "--format",
        "jsonl",
        "--perturb",
        "not_not",
        "--out",
        tmp_path / "sets" / "mine",
    )
    assert run("puzzles", *SMALL, *options).exit_code == 0
    monkeypatch.chdir(tmp_path)
    exec(loop, {"ask": lambda prompt: (prompt[:5], "length", 10, 2)})
    outputs, _ = read_source(tmp_path / "answers.jsonl")
    assert [output[0:6:2] + output[5:6] for output in outputs] == [
        ("mine (not_not)", "Solve", 2, "length")
    ] * 12
    exec(choice, {})
    scores = baselines(tmp_path / "sets" / "mine").set_index("name")["last_clause"]
    rows = [
        json.loads(line)["name"]
        for line in (tmp_path / "sets/mine/prompts.jsonl").read_text().splitlines()
    ]
    assert rows == [output.name for output in outputs if not scores[output.name]] != []


@pytest.fixture
def task(tmp_path):
    """The folder of a task with rail fences."""
    write_set(tmp_path, "parquet", PuzzleSet(grid_cells("N=20 ratio=50 d=1,3"), 2, 5))
    return requests.write_harness(
        tmp_path,
        list_queries(tmp_path, "rail_fence"),
        {"effort": "low", "temperature": 0.6, "max_tokens": 999},
    )


def load_module(task):
    """The module that the YAML names, imported from its file as the harness does."""
    spec = importlib.util.spec_from_file_location(
        "cogniload_task", task / "cogniload_task.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_of_a_task_fit_one_another(task):
    """The functions and columns that the YAML names are there.

    A log has each document as it was.
    """

    class Loader(yaml.SafeLoader):
        """Reads the harness's tag for functions as their names."""

    Loader.add_constructor(
        "!function", lambda loader, node: loader.construct_scalar(node)
    )
    settings = yaml.load((task / "cogniload.yaml").read_text("utf-8"), Loader)
    module = load_module(task)
    kwargs = {
        "until": [],
        "max_gen_toks": 999,
        "temperature": 0.6,
        "do_sample": True,
        "reasoning_effort": "low",
    }
    assert settings["generation_kwargs"] == kwargs
    for key in ("custom_dataset", "process_results"):
        name, _, function = settings[key].partition(".")
        assert name == "cogniload_task"
        assert callable(getattr(module, function))
    docs = [
        json.loads(line)
        for line in (task / "puzzles.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(docs) == 4
    for doc in docs:
        assert {settings["doc_to_text"], settings["doc_to_target"], "name"} <= set(doc)
        right = module.judge(doc, [f"So {doc['poi']}: {doc['gold']}."])
        wrong = module.judge(doc, ["I do not know."])
        assert (list(right), right["correct"], wrong["correct"]) == (
            [settings["metric_list"][0]["metric"]],
            1.0,
            0.0,
        )
    samples = [
        {
            "doc_id": number,
            "doc": doc,
            "target": doc["gold"],
            "resps": [["Red."]],
            "filtered_resps": ["Red."],
            "filter": "none",
            "correct": 0.0,
        }
        for number, doc in enumerate(docs)
    ]
    log = write_lines(
        task / "samples_cogniload_2030-01-01T00-00-00.000000.jsonl", samples
    )
    outputs, _ = read_source(log, model="m")
    assert [(output.model, output.name) for output in outputs] == [
        ("m (rail_fence)", doc["name"]) for doc in docs
    ]
    zero = requests.write_harness(
        task.parent, [], {"max_tokens": 9}
    )  # greedy, as the harness's clients are
    assert "\n  temperature: 0.0\n  do_sample: false\n" in (
        zero / "cogniload.yaml"
    ).read_text("utf-8")


def test_whatever_makes_answers_incomparable_raises_the_version():
    """Prompts, draws and outcomes of a sample of puzzles are those of this comparability version.

    When this fails, and the change is meant, raise COMPARABILITY in asking/protocol.py
    and enter the new digest.
    """
    puzzles = list(draw_rows(PuzzleSet(grid_cells("mini"), 2, 42, "default")))
    texts = []
    for row in puzzles:
        ends = [
            f"{row['poi']} is wearing {value}, eats {value}." for value in row["domain"]
        ]
        for response in (*ends, "", "I am not sure.", f"{ends[0]}\n{ends[-1]}\n(done)"):
            texts.append(
                score_response(
                    response,
                    **{key: row[key] for key in ("poi", "gold", "domain", "category")},
                )
            )
    pairs = [(row["name"], row["text"]) for row in puzzles[:2]]
    queries = [
        query.text
        for perturbation in (*PERTURBATIONS, None)
        for query in write_queries(pairs, perturbation)
    ]
    digest = hashlib.sha256(
        json.dumps([[row["text"] for row in puzzles], texts, queries]).encode()
    ).hexdigest()[:16]
    assert (COMPARABILITY, digest) == (1, "a01f4e98f2c45271")
