"""Use as a cause: the same view answered with the gold put in and with it taken out."""
