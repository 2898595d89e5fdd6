"""How a record ends: why its model stopped, and the reasoning that stands beside its answer."""

import re
from fnmatch import fnmatchcase
from functools import lru_cache

import pandas as pd

from cogniload_repro.paths import DATA

#: The words of programs and servers for each reason, without separators, and with a star for any
#: characters; the first one that fits counts. You may add others to the file.
STOP_WORDS = pd.read_csv(DATA / "stop_words.csv", index_col="word")["kind"].to_dict()


def read_stop(word: object) -> str | None:
    """Return why a model stopped, one of `STOPS`, from a server's word; None without a word."""
    return _find_kind(str(word).lower()) if word else None


@lru_cache(1000)
def _find_kind(word: str) -> str:
    # such as FinishReason.MAX_TOKENS, max-tokens and maxTokens
    plain = re.sub(r".*reason|[\s._-]", "", word)
    for pattern, kind in STOP_WORDS.items():
        if fnmatchcase(plain, pattern):
            return kind
    return "unknown"


def join_reasoning(reasoning: str, answer: str) -> str:
    """Return reasoning and answer as one response, since the paper scores both.

    Without an answer the mark of the reasoning stays open. If the text that ends the response is
    one line in brackets, no marks are added: the paper's rules drop such a line and would take a
    mark for the last line. So the scorer's windows are always those of the two texts in a row.
    """
    if not reasoning.strip("\n"):
        return answer
    texts = [reasoning, answer] if answer.strip("\n") else [reasoning]
    if not re.fullmatch(r"\n*\(.*\)\n*", texts[-1]):
        end = "\n</think>" if len(texts) == 2 else ""
        texts[0] = f"<think>\n{reasoning}{end}"
    return "\n\n".join(texts)
