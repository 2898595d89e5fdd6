"""From responses to verdicts, and from verdicts to counts by cell (paper, Appendix D)."""
