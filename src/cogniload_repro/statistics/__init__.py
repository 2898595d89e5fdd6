"""From counts to numbers: accuracies, regressions and capacity points (paper, section 3)."""
