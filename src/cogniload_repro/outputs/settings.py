"""How models were asked, as far as a source says: provider, version, date, effort, sampling, limit of tokens, form."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

#: What a source may say of a request, by the names of columns.
SETTINGS = ("provider", "version", "date", "effort", "temperature", "top_p", "max_tokens", "form")
#: Forms of our own task whose puzzles are the most informative ones: answers to them are fitted, and never averaged.
CHOSEN_FORMS = ("short", "adaptive")

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_VALUES, _MOST_TOLD, _LONGEST = 10_000, 20, 100


def take_settings(fields: Mapping[str, object]) -> dict[str, str]:
    """Return those of `SETTINGS` that a row has, as short text; a date is a day (ISO 8601), in UTC where it is a time.

    Examples
    --------
    >>> take_settings({"date": 1724858089, "temperature": 0.6, "max_tokens": None})
    {'date': '2024-08-28', 'temperature': '0.6'}
    """
    stated = {name: fields.get(name) for name in SETTINGS}
    if stated["date"] is not None:
        stated["date"] = _read_day(stated["date"])
    return {name: text for name, value in stated.items() if (text := _read_value(value))}


class SettingsTally:
    """Counts by model how often each setting had which value; very many numbers are given as their range."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))

    def add(self, model: str, settings: Mapping[str, str]) -> None:
        """Count the settings of one response."""
        for name, value in settings.items():
            counts = self._counts[model][name]
            if value in counts or len(counts) < _MOST_VALUES:
                counts[value] += 1

    def by_model(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return responses by model, setting and value, the names in order."""
        return {
            model: {name: _sum_up(settings[name]) for name in SETTINGS if name in settings}
            for model, settings in sorted(self._counts.items())
        }


def find_chosen(sources: Iterable[Mapping]) -> set[str]:
    """Return the models of sources, as ``sources.json`` has them, that were asked puzzles of `CHOSEN_FORMS`."""
    stated = [asked for source in sources for asked in source.get("settings", {}).items()]
    return {model for model, settings in stated if not set(CHOSEN_FORMS).isdisjoint(settings.get("form", {}))}


def _sum_up(counts: Mapping[str, int]) -> dict[str, int]:
    """Return responses by value in order; of too many numbers their range, of too many words the first ones."""
    if len(counts) > _MOST_TOLD and all(value.isdecimal() for value in counts):
        numbers = sorted(map(int, counts))
        return {f"{numbers[0]} to {numbers[-1]}": sum(counts.values())}
    return dict(sorted(counts.items())[:_MOST_TOLD])


def _read_day(value: object) -> object:
    """Return the day of a time that is given in seconds or in words; None if it is neither."""
    if isinstance(value, str):
        day = _DAY.match(value)
        return day[0] if day else None
    try:
        return datetime.fromtimestamp(float(value), UTC).date().isoformat()  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _read_value(value: object) -> str:
    """Return a word or number as it is shown; nothing for anything else."""
    if isinstance(value, str):
        return " ".join(value.split()).encode("utf-8", "backslashreplace").decode()[:_LONGEST]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return ""
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else f"{value:g}"
