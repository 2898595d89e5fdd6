"""What the paper leaves out: intervals, comparisons, other regressions, verdicts."""
