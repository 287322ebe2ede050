"""Decisions of the US Board of Veterans' Appeals on claims for service connection."""
