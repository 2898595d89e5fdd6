"""Import of answers that were collected elsewhere."""
