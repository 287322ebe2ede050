"""Gates: whether a run passes against its baseline."""
