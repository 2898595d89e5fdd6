"""Prompts in tokens: the models' own tokenizers against Tables 7 to 10 (paper, Appendix H)."""
