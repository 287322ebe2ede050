"""Sessions: one task over many turns, with the memory as the only thing that varies."""
