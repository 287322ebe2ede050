"""What plugin authors test with: conformance suites, and stand-ins for what a run provides."""
