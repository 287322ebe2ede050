"""Pre-registration: hypotheses as data, locked before any run, judged by rule after it."""
