"""Puzzles: words, draws, wording, solutions, and sets of them (paper, section 2 and Appendix A)."""
