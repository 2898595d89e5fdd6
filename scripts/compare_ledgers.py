"""List the numbers in which two ledgers (fidelity.csv of two builds) differ.

Usage: python scripts/compare_ledgers.py OLD NEW

A number that is in only one of the two has empty fields in the columns of the other.
"""

import sys

import pandas as pd

KEY = ["table", "model", "quantity", "condition"]
VALUES = ["shown", "verdict"]


def read_ledger(path: str) -> pd.DataFrame:
    """Return the compared columns of a ledger, all as text."""
    ledger = pd.read_csv(path, dtype=str, keep_default_na=False)
    return ledger[KEY + VALUES]


old = read_ledger(sys.argv[1])
new = read_ledger(sys.argv[2])
both = old.merge(new, on=KEY, how="outer", suffixes=("_before", "")).fillna("")
is_other = (both["shown"] != both["shown_before"]) | (
    both["verdict"] != both["verdict_before"]
)
different = both.loc[
    is_other, [*KEY, "shown_before", "shown", "verdict_before", "verdict"]
]
print(f"{len(different):,} of {len(new):,} numbers differ")
if len(different):
    print(different.to_string(index=False))
