"""Asking a model: a task of Inspect, and requests for other programs."""
