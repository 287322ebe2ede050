"""Sections of a page: each makes blocks of the evidence, nothing else."""
