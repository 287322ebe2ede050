"""The built-in plugins, one folder per group."""
