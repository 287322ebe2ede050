"""Memory architectures: the arms of a comparison (LongHorizon 5, Depth 5.3)."""
