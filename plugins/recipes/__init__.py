"""The papers' tables, figures and recorded rows, by paper."""
