"""Settings of arms, searched on cases that the comparison never sees."""
