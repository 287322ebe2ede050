"""A sample of plugins for DecisionBench, kept outside of its repository."""
