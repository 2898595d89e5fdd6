"""Puzzles: draw, word, read, solve and store them (paper, section 2 and Appendix A)."""
