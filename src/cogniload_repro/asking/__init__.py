"""Asking a model: prompts and perturbed prompts, an Inspect task, a local model."""
