"""How models were asked, as their sources say."""

from cogniload_repro.outputs.rows import SETTINGS
from cogniload_repro.outputs.settings import NOT_STATED, settings_table

TOKENS = {str(number): number for number in range(1, 6)}
SOURCES = [
    {"models": ["QwQ-32B"]},
    {
        "models": ["mine"],
        "settings": {
            "mine": {"effort": {"high": 3}, "max_tokens": {"1": 1, "2": 1200}}
        },
    },
    {"models": ["many"], "settings": {"many": {"max_tokens": TOKENS}}},
]


def test_settings_are_the_sources_words():
    """One value stands alone, several with their numbers of responses.

    What no source says is not stated.
    """
    table = settings_table(SOURCES, ["mine", "many", "unheard"]).set_index("model")
    assert list(table.columns) == list(SETTINGS)
    assert table.loc["mine", "effort"] == "high"
    assert table.loc["mine", "max_tokens"] == "1 (1), 2 (1,200)"
    assert table.loc["many", "max_tokens"] == "1 (1), 2 (2), 3 (3) and 2 other values"
    assert table.loc["mine", "version"] == NOT_STATED
    assert (table.loc["unheard"] == NOT_STATED).all()
