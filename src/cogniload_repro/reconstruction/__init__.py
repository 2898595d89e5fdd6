"""Counts reconstructed from the printed tables: sums, integer tables, error buckets."""
