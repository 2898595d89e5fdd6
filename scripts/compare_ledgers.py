"""List the numbers in which two ledgers (fidelity.csv of two builds) differ.

Usage: python scripts/compare_ledgers.py OLD NEW
"""

import sys

import pandas as pd

from cogniload_repro.ledger.entries import find_differences

old, new = (
    pd.read_csv(path, dtype=str, keep_default_na=False) for path in sys.argv[1:3]
)
moved = find_differences(new, old)
print(f"{len(moved):,} of {len(new):,} numbers differ")
if len(moved):
    print(moved.to_string(index=False))
