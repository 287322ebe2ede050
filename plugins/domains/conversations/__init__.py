"""The shape `conversations`: questions about what was said over sessions, from published files."""
