"""A set of puzzles as a data set that can be uploaded."""

import hashlib
import json

import pyarrow.parquet as pq
import yaml

from cogniload_repro.companions.protocol import list_queries
from cogniload_repro.evaluation.hub import write_data_set
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.folders import write_set


def test_card_and_description_say_what_the_files_hold(tmp_path):
    """Every file that card and Croissant name is there, every column described, with its type and the table's sum."""
    write_set(tmp_path, "parquet", grid_cells("N=20 ratio=50 d=1,3"), 2, 5)
    write_data_set(tmp_path, list_queries(tmp_path, "not_not"))
    _, head, body = (tmp_path / "README.md").read_text("utf-8").split("---\n", 2)
    configs = yaml.safe_load(head)["configs"]
    assert {file["path"] for config in configs for file in config["data_files"]} == {
        "puzzles.parquet",
        "queries.parquet",
    }
    assert "4 puzzles" in body
    queries = pq.read_table(tmp_path / "queries.parquet").to_pylist()
    assert [(one["name"], one["perturbation"]) for one in queries] == [
        (query.name, "not_not") for query in list_queries(tmp_path)
    ]
    described = json.loads((tmp_path / "croissant.json").read_text("utf-8"))
    (file,), (records,) = described["distribution"], described["recordSet"]
    assert file["sha256"] == hashlib.sha256((tmp_path / file["contentUrl"]).read_bytes()).hexdigest()
    table = pq.read_table(tmp_path / file["contentUrl"])
    assert [field["source"]["extract"]["column"] for field in records["field"]] == table.column_names
    types = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float"}
    for field, column in zip(records["field"], table.schema, strict=True):
        kind = column.type.value_type if field.get("repeated") else column.type
        assert field["dataType"] == types[str(kind)]
    assert all(f"| `{name}` |" in body for name in table.column_names)


def test_a_set_without_queries_has_one_configuration_and_the_same_bytes_twice(tmp_path):
    """Nothing in card and description hangs on the moment, or on what was written there before."""
    write_set(tmp_path, "parquet", grid_cells("N=20 ratio=50 d=1"), 2, 5)
    write_data_set(tmp_path, list_queries(tmp_path, "not_not"))
    first = [path.read_bytes() for path in write_data_set(tmp_path)]
    assert [path.read_bytes() for path in write_data_set(tmp_path)] == first
    assert first[0].count(b"config_name") == 1
