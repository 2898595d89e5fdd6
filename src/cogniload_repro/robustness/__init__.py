"""What the paper leaves out: intervals, comparisons, other specifications, and what survives them."""
