"""Asking a model: which puzzles say most, tasks and requests for other programs, what the answers settle."""
