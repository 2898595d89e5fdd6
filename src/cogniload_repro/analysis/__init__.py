"""Intervals, comparisons, interactions, overflows and verdicts from counts and fits."""
