"""Decision corpora: walks over their edges, and what they measure of themselves."""
