"""Counts reconstructed from the printed tables: sums, integer tables, errors by type."""
