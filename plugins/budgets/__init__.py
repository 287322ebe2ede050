"""Budgets: how many tokens a view may hold."""
