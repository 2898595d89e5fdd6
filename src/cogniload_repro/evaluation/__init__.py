"""Asking a model: which puzzles say most, the task for the Inspect framework, what its answers settle."""
