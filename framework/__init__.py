"""The benchmark engine: it knows no plugin by name."""
