"""What people may label of runs."""
