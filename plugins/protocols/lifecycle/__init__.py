"""`protocol=lifecycle`: a memory that forgets, is corrected, poisoned, shared, and grows."""
