"""Commands beside the framework's own."""
