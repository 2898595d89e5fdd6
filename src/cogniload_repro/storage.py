"""Tables that one step writes and the next one reads: their columns, and their Parquet files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.files import replacing

#: Origin of counts: reconstructed from the printed tables, or counted from scored responses.
PROVENANCE = ("reconstructed", "scored")

#: Error buckets as the columns of Tables 4 and 5 abbreviate them (Appendix E).
ERRORS = ("ctx", "valid_logic", "poi_logic", "last_logic", "other")

#: What a printed number was used for, and so what agreement with it means; see `ledger.entries`.
KINDS = ("input", "constraint", "derived", "independent", "imputed")
#: The kinds of numbers with which the recomputed ones could have disagreed.
TESTED = ("derived", "independent")
#: How a recomputed number compares with the printed one.
VERDICTS = ("exact", "unit", "within", "differs", "not_computable")

_STRING = pa.string()
_INT = pa.int64()
_FLOAT = pa.float64()
_BOOL = pa.bool_()

#: One row per puzzle. ratio_pct is nominal, in %; rho is needles / N; domain has the values of the
#: asked category in the puzzle.
PUZZLES = pa.schema(
    {
        "name": _STRING,
        "N": _INT,
        "d": _INT,
        "ratio_pct": _FLOAT,
        "needles": _INT,
        "rho": _FLOAT,
        "puzzle_id": _INT,
        "text": _STRING,
        "poi": _STRING,
        "category": _STRING,
        "gold": _STRING,
        "domain": pa.list_(_STRING),
    }
)

#: One row per response. name is the puzzle's; the token counts may be missing, and so may stopped
#: (one of `reasoning.STOPS`).
OUTPUTS = pa.schema(
    {
        "model": _STRING,
        "name": _STRING,
        "response": _STRING,
        "prompt_tokens": _INT,
        "response_tokens": _INT,
        "stopped": _STRING,
    }
)

#: One row per response: its bucket, and the value that was found. The last two say whether its
#: reasoning is not closed, and whether a correct response is also correct by the last sentence
#: after the reasoning.
SCORES = pa.schema(
    {
        "model": _STRING,
        "name": _STRING,
        "N": _INT,
        "d": _INT,
        "ratio_pct": _FLOAT,
        "rho": _FLOAT,
        "bucket": _STRING,
        "correct": _BOOL,
        "prompt_tokens": _INT,
        "response_tokens": _INT,
        "answer": _STRING,
        "stopped": _STRING,
        "unclosed_trace": _BOOL,
        "answer_correct": _BOOL,
    }
)

#: The four numbers of a cell of Tables 7 to 10: mean and 90th percentile.
_TOKEN_TYPES = {
    "prompt_mean": _FLOAT,
    "prompt_p90": _FLOAT,
    "output_mean": _FLOAT,
    "output_p90": _FLOAT,
}

#: One row per model and configuration: N (statements), d, ratio_pct (nominal, %), needles, rho
#: (actual, fraction), total (answers), correct, the five kinds of wrong answers, tokens (for
#: reconstructed counts, those printed for N and d), and the origin of the counts (`PROVENANCE`).
#: The key is model, N, d, ratio_pct; answers to perturbed prompts count as those of another model.
CELLS = pa.schema(
    {
        "model": _STRING,
        "N": _INT,
        "d": _INT,
        "ratio_pct": _FLOAT,
        "needles": _INT,
        "rho": _FLOAT,
        "total": _INT,
        "correct": _INT,
        **dict.fromkeys(ERRORS, _INT),
        **_TOKEN_TYPES,
        "provenance": _STRING,
    }
)
#: Columns that a table of cells may lack.
OPTIONAL = {"needles", *ERRORS, *_TOKEN_TYPES, "provenance"}


def _fits(*numbers: str) -> pa.Schema:
    """Return the schema of a table of fits, one row per model.

    status is "ok", or says why there is no fit; the numbers are missing then.
    """
    columns = dict.fromkeys(numbers, _FLOAT)
    return pa.schema({"model": _STRING, **columns, "status": _STRING})


_TERMS = ("0", "d", "N", "rho", "rho2")
_PRODUCTS = ("dN", "drho", "Nrho", "dNrho")

#: Table 2 as numbers: coefficients (log-odds), standard errors, p-values, capacity points
#: (statements, fraction, units of d), AIC, log-likelihood and total (answers).
GLM = _fits(
    *(f"beta_{term}" for term in _TERMS),
    *(f"se_{term}" for term in _TERMS),
    *(f"p_{term}" for term in _TERMS),
    "ecl50",
    "nt50",
    "id50",
    "aic",
    "loglik",
    "total",
)
#: Table 3 as numbers: coefficients of the products of loads, and p-values.
INTERACTION_FITS = _fits(
    *(f"{number}_{product}" for product in _PRODUCTS for number in ("beta", "p")),
)
#: Table 6 as numbers.
AIC = _fits("p_lr", "aic_linear", "aic_quadratic")

#: Tables 7 to 10 as numbers: tokens by model, N and d.
TOKENS = pa.schema({"model": _STRING, "N": _INT, "d": _INT, **_TOKEN_TYPES})

#: The tables of a build, by the names of their files.
FRAMES = {
    "cells": CELLS,
    "glm": GLM,
    "interactions": INTERACTION_FITS,
    "aic": AIC,
    "tokens": TOKENS,
}

#: Columns of the table with one row per printed number or statement: see `ledger.entries.compare`.
#: kind is one of `KINDS`; evidence is identified, bounded, not identified or empty; verdict is one
#: of `VERDICTS`, empty for imputed numbers; reason says why a number is not computable.
FIDELITY = (
    "table",
    "model",
    "quantity",
    "condition",
    "kind",
    "evidence",
    "published",
    "recomputed",
    "shown",
    "verdict",
    "reason",
)


def read_frame(path: str | Path, schema: pa.Schema, remedy: str) -> pd.DataFrame:
    """Read a table of a build (Parquet) or a committed one (CSV).

    ValueError says what is wrong with the file, and ends with the remedy.
    """
    path = Path(path)
    try:
        frame = pd.read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing; {remedy}") from None
    except (ValueError, OSError) as error:  # pyarrow's and pandas' own are ValueErrors
        cause = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read ({cause}); delete it and {remedy}"
        ) from None
    if absent := set(schema.names) - set(frame) - OPTIONAL:
        names = ", ".join(name for name in schema.names if name in absent)
        raise ValueError(f"{path} has no column {names}; {remedy}")
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    # a model may be called nan, or 007
    return pd.read_csv(
        path, dtype={"model": str}, keep_default_na=False, na_values=[""]
    )


@contextmanager
def table_writer(
    path: str | Path, schema: pa.Schema, metadata: Mapping[str, str]
) -> Iterator[pq.ParquetWriter]:
    """Open a writer for a table that appears at ``path`` only when it is complete.

    The metadata say how the table was made; they replace those of the schema.
    """
    schema = schema.with_metadata({key: str(metadata[key]) for key in sorted(metadata)})
    with (
        replacing(path) as part,
        part.open("wb") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        yield writer


def write_table(
    path: str | Path,
    table: pa.Table | pd.DataFrame,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table to a Parquet file; see `table_writer`."""
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    with table_writer(path, table.schema, metadata or {}) as writer:
        writer.write_table(table.replace_schema_metadata(writer.schema.metadata))


@contextmanager
def open_parquet(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for reading in bounded memory; ValueError if it is not a complete one."""
    with Path(path).open("rb") as stream:
        try:
            file = pq.ParquetFile(stream, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"{path} is not a whole Parquet file ({error}); delete it; the next `make` "
                "recreates it, or download it again"
            ) from None
        with file:
            yield file


def partition_path(folder: str | Path, model: str) -> Path:
    """Return the path of a model's file: its name, with unsafe characters escaped."""
    return Path(folder) / f"{quote(model, safe=' +()')}.parquet"
