"""Printed against recomputed: every number of the paper's tables and prose."""
