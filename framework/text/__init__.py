"""Text and plain values: canonical bytes, tokens, sentences, expressions."""
