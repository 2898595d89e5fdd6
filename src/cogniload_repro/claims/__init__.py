"""The paper's prose: every number and statement in it, recomputed and judged."""
