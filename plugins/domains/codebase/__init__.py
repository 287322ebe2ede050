"""A service, the decisions that its code does not state, and patches that must honour them."""
