"""What people read: summaries and tables made from rows."""
