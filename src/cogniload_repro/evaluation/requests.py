"""Queries as files of requests: OpenAI's batch endpoint, which many servers offer, and chat messages for any program.

The paper gives prompt and response 32,768 tokens together (Appendix D.3). A request can only limit the response, and
the scorer applies the budget from the counts that come back with the answers; so the limit of a request has to be no
smaller than what the budget leaves, and may be the whole of it.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from cogniload_repro.companions.protocol import Query
from cogniload_repro.puzzles.sets import cut, write_jsonl
from cogniload_repro.storage import replacing

#: A file of a batch is full with so many requests, or from so many bytes on: 200 MB are allowed, with the last line.
_MOST_REQUESTS, _FULL_BYTES = 50_000, 180_000_000


def batch_request(query: Query, model: str, max_tokens: int) -> dict:
    """Return the line of a batch that asks one query.

    Its ``custom_id`` is the puzzle's name, or ``MODEL (CONDITION)/NAME`` under a condition, so that the answers import
    as they come back.
    """
    body = {"model": model, "messages": _messages(query), "max_completion_tokens": max_tokens}
    custom_id = f"{model} ({query.condition})/{query.name}" if query.condition else query.name
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def write_batches(folder: str | Path, queries: Iterable[Query], model: str, max_tokens: int) -> list[Path]:
    """Write requests to submit, in as many files as the endpoint needs, and return these: ``requests-1.jsonl`` and on.

    Parameters
    ----------
    folder : path
        Files of requests that are there are replaced, or removed where there are fewer now.
    queries : iterable of Query
    model : str
        What the endpoint calls the model.
    max_tokens : int
        Tokens of a response, its reasoning included, at most.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    old, written = set(folder.glob("requests-*.jsonl")), []
    lines = (json.dumps(batch_request(query, model, max_tokens)) + "\n" for query in queries)
    for number, part in enumerate(cut(lines, _MOST_REQUESTS, len, _FULL_BYTES), 1):
        written.append(folder / f"requests-{number}.jsonl")
        with replacing(written[-1]) as place:
            place.write_text("".join(part), encoding="utf-8", newline="\n")
    for path in old.difference(written):
        path.unlink()
    return written


def write_chats(folder: str | Path, queries: Iterable[Query]) -> Path:
    """Write ``chat.jsonl``, one query a line as the messages of a chat, and return it.

    Name and perturbation stand beside the messages: with the columns ``model`` and ``response`` added, a line is a row
    of outputs.
    """
    path = Path(folder) / "chat.jsonl"
    write_jsonl(
        path,
        ({"name": query.name, "perturbation": query.condition, "messages": _messages(query)} for query in queries),
    )
    return path


def _messages(query: Query) -> list[dict[str, str]]:
    return [{"role": "user", "content": query.text}]
