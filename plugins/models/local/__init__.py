"""A language model in the process: llama.cpp, from a package, with a model from a package."""
