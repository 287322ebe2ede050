"""A bank's support desk: policies to look up, and what is to be done, from tau2-bench's files."""
