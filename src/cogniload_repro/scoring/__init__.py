"""From responses to outcomes, and from outcomes to counts by cell (paper, Appendix D)."""
