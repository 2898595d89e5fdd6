"""Model outputs as people have them: addresses, archives and formats become rows."""
