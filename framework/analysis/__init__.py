"""From rows to numbers: summaries, comparisons, cost, and pre-registered verdicts."""
