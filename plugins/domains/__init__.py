"""Domains: histories and the cases asked of them."""
