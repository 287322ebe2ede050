"""HotpotQA, from the published JSON."""
