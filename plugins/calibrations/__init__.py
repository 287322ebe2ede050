"""Sets of answers of known truth, for judges to be tried with."""
