"""Pre-registrations: their command, and their section of a report."""
