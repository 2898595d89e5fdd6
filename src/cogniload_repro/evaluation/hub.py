"""A set of puzzles as a data set of the Hugging Face hub: its card, and its description in Croissant 1.0."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import yaml

from cogniload_repro import __version__
from cogniload_repro.companions.protocol import Query
from cogniload_repro.files import write_whole
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import open_parquet, read_metadata, write_table

_TABLE, _QUERIES = "puzzles.parquet", "queries.parquet"
_LICENCE = "cc-by-4.0", "https://creativecommons.org/licenses/by/4.0/"
_CITATION = (
    "Kaiser, D., Frigessi, A., Ramezani-Kebrya, A., Ricaud, B.: CogniLoad: A Synthetic Natural Language Reasoning "
    "Benchmark With Tunable Length, Intrinsic Difficulty, and Distractor Density. ICLR 2026."
)
_SUMMARY = (
    "Logic puzzles in natural language with a number of statements N, a number of categories d and a share of needles "
    "ρ; each has exactly one answer. Drawn by an independent implementation of the benchmark's generator, not "
    "published by its authors."
)
#: What the columns of the puzzles table hold.
_COLUMNS = {
    "name": "N_d_needles_id_solution, the puzzle's key",
    "N": "number of statements",
    "d": "intrinsic difficulty, the number of categories",
    "ratio_pct": "nominal share of needles in %",
    "needles": "number of statements that change the person of interest",
    "rho": "actual share of needles, needles / N",
    "puzzle_id": "seed from which the generator draws the puzzle",
    "text": "the prompt",
    "poi": "person of interest, whom the question is about",
    "category": "what is asked about that person",
    "gold": "the answer",
    "domain": "the values that the asked category can take",
}
_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float"}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "key": "cr:key",
    "recordSet": "cr:recordSet",
    "repeated": "cr:repeated",
    "sc": "https://schema.org/",
    "source": "cr:source",
}


def write_data_set(folder: str | Path, queries: Iterable[Query] = ()) -> list[Path]:
    """Make a folder with a set of puzzles one that can be uploaded as it is; return what was written.

    Parameters
    ----------
    folder : path
        Has the set as ``puzzles.parquet``.
    queries : iterable of Query
        What is asked under a condition, if anything: ``queries.parquet`` and a configuration of its own. It is Parquet
        because all configurations of a data set have to be of one format.

    Returns
    -------
    list of Path
        ``README.md``, the card, and ``croissant.json``, with the sum of the table.
    """
    folder = Path(folder)
    origin = read_metadata(folder / _TABLE)
    (folder / _QUERIES).unlink(missing_ok=True)
    rows = [{"name": query.name, "perturbation": query.condition, "query": query.text} for query in queries]
    if rows:
        write_table(folder / _QUERIES, pa.Table.from_pylist(rows), origin)
    with open_parquet(folder / _TABLE) as file:
        count = file.metadata.num_rows
    return [
        write_whole(folder / "README.md", _write_card(origin, count, (folder / _QUERIES).exists())),
        write_whole(folder / "croissant.json", _describe(origin, folder / _TABLE)),
    ]


def _write_card(origin: dict[str, str], count: int, has_queries: bool) -> str:
    files = {"default": _TABLE} | ({"queries": _QUERIES} if has_queries else {})
    head = {
        "license": _LICENCE[0],
        "language": ["en"],
        "pretty_name": "CogniLoad, drawn again",
        "task_categories": ["question-answering"],
        "tags": ["reasoning", "synthetic", "long-context"],
        "size_categories": [_size(count)],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": path}]} for name, path in files.items()
        ],
    }
    columns = "\n".join(f"| `{name}` | {meaning} |" for name, meaning in _COLUMNS.items())
    return f"""---
{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---

# CogniLoad, drawn again

{_SUMMARY} {count:,} puzzles, edition `{origin["edition"]}` of the generator, seed {origin["seed"]}.

| column | meaning |
|:--|:--|
{columns}

The text holds everything that a model is told. A response is judged by the rules of the paper's Appendix D, for
instance with `score_response` of the package cogniload-repro; `name` says the answer and must not be part of a prompt.

Wordings and word lists are those of the benchmark's authors, under CC BY 4.0. To cite: {_CITATION}
"""


def _size(count: int) -> str:
    """Return the hub's word for a number of rows."""
    for limit, word in ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M")):
        if count < limit:
            return word
    return "n>1M"


def _describe(origin: dict[str, str], table: Path) -> str:
    with open(table, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    fields = []
    for name, meaning in _COLUMNS.items():
        kind = PUZZLES.field(name).type
        is_list = str(kind).startswith("list")
        fields.append(
            {
                "@type": "cr:Field",
                "@id": f"puzzles/{name}",
                "name": name,
                "description": meaning,
                "dataType": _TYPES[str(kind.value_type if is_list else kind)],
                "source": {"fileObject": {"@id": _TABLE}, "extract": {"column": name}},
            }
            | ({"repeated": True} if is_list else {})
        )
    description = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "cogniload",
        "description": _SUMMARY,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": _LICENCE[1],
        "citeAs": _CITATION,
        "version": __version__,
        "isBasedOn": f"edition {origin['edition']} of the generator, seed {origin['seed']}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": _TABLE,
                "name": _TABLE,
                "contentUrl": _TABLE,
                "encodingFormat": "application/x-parquet",
                "sha256": digest,
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "puzzles",
                "name": "puzzles",
                "key": {"@id": "puzzles/name"},
                "field": fields,
            }
        ],
    }
    return json.dumps(description, indent=2, ensure_ascii=False) + "\n"
