"""The shape `passages`: questions answered from several passages of a pool."""
