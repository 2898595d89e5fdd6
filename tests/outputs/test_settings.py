"""What a source tells of how models were asked."""

import pytest

from cogniload_repro.outputs.settings import SettingsTally, find_chosen, take_settings


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"date": 1724858089}, {"date": "2024-08-28"}),
        ({"date": "2026-01-01T23:59:00+00:00"}, {"date": "2026-01-01"}),
        ({"date": "yesterday"}, {}),
        ({"date": float("inf")}, {}),
        ({"max_tokens": 16_000.0, "temperature": 0.6, "top_p": True}, {"max_tokens": "16000", "temperature": "0.6"}),
        ({"version": " a\nb ", "effort": {"x": 1}, "provider": ""}, {"version": "a b"}),
        ({"effort": "x" * 1_000}, {"effort": "x" * 100}),
        ({"temperature": float("nan"), "other": 1}, {}),
    ],
)
def test_settings_are_short_text(fields, told):
    """Whatever a source says: words and numbers are kept, anything else is not."""
    assert take_settings(fields) == told


def test_a_model_of_whose_answers_some_were_chosen_is_chosen():
    """Whatever else it answered; evenly asked forms, and what is not told, are not."""
    told = {"a": {"form": {"paper": 1400, "adaptive": 50}}, "b": {"form": {"mini": 180}}, "c": {"effort": {"low": 1}}}
    sources = [{"models": ["QwQ-32B"]}, {"settings": told}, {"settings": {"d": {"form": {"short": 280}}}}]
    assert find_chosen(sources) == {"a", "d"}


def test_values_are_counted_by_model():
    """A model may have been asked in several ways; very many numbers are a range."""
    tally = SettingsTally()
    for number in range(100):
        tally.add("a", {"max_tokens": str(number), "effort": "high", "version": f"v{number}"})
    tally.add("b", {})
    counts = tally.by_model()
    assert counts["a"]["effort"] == {"high": 100}
    assert counts["a"]["max_tokens"] == {"0 to 99": 100}
    assert len(counts["a"]["version"]) == 20
    assert list(counts) == ["a"]
