"""Every number of the paper's tables and prose, compared with the recomputed one."""
