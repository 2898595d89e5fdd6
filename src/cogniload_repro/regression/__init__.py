"""From counts to accuracies, regressions and capacity points (paper, section 3)."""
