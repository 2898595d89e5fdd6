"""Asking a model: prompts and perturbed prompts, a task of Inspect, a local model."""
