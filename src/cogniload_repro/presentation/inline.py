"""Data for the book's scripts: JSON that can stand anywhere in a page, and files of it that open from a disk."""

import json
import math
from typing import Any

#: What could end a script element, open a comment in one, or break a line of an old script.
_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&`\u2028\u2029"}


def write_json(value: Any) -> str:
    """Return a value as JSON on one line that cannot end the element it stands in; numbers that are none are null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPED)


def write_script(name: str, value: Any) -> str:
    """Return a script that leaves a value in ``cogniload.data.NAME``.

    A page that is opened from a disk may load scripts that lie beside it, and nothing else.
    """
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {write_json(value)};\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
