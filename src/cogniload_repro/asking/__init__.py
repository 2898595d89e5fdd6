"""Asking a model: prompts and perturbed prompts, a task of Inspect and its logs."""
