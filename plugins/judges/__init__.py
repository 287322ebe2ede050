"""Judges: who says whether a rationale entails and a notice complies."""
