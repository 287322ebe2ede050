"""LongHorizon: four-axis decision alignment."""
