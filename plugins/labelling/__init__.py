"""What people may label of runs, beside the verdicts of a judge."""
