"""Columns of the tables that pass from one step to the next: the contracts of the Parquet files."""

import pyarrow as pa

#: Where data may come from: made from the printed tables, read from files, or collected here.
PROVENANCE = ("reconstructed", "imported", "evaluated")

#: One row a puzzle: ratio_pct is nominal, in %; rho is needles / N; domain holds the asked category's values.
PUZZLES = pa.schema(
    {
        "name": pa.string(),
        "N": pa.int64(),
        "d": pa.int64(),
        "ratio_pct": pa.float64(),
        "needles": pa.int64(),
        "rho": pa.float64(),
        "puzzle_id": pa.int64(),
        "text": pa.string(),
        "poi": pa.string(),
        "category": pa.string(),
        "gold": pa.string(),
        "domain": pa.list_(pa.string()),
    }
)

#: One row a response: name is the puzzle's, the token counts may be missing.
OUTPUTS = pa.schema(
    {
        "model": pa.string(),
        "name": pa.string(),
        "response": pa.string(),
        "prompt_tokens": pa.int64(),
        "response_tokens": pa.int64(),
    }
)

#: One row a rejected row of a source: where it stands (row counts from 1; 0 is the file itself) and why.
REJECTED = pa.schema({"file": pa.string(), "row": pa.int64(), "reason": pa.string(), "detail": pa.string()})

#: One row a response: the bucket, and the window and answer that led to it.
SCORES = pa.schema(
    {
        "model": pa.string(),
        "name": pa.string(),
        "N": pa.int64(),
        "d": pa.int64(),
        "ratio_pct": pa.float64(),
        "rho": pa.float64(),
        "bucket": pa.string(),
        "correct": pa.bool_(),
        "prompt_tokens": pa.int64(),
        "response_tokens": pa.int64(),
        "window": pa.string(),
        "answer": pa.string(),
    }
)
