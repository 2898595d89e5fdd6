"""From the printed tables back to counts: sums, whole numbers, error buckets."""
