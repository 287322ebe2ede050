"""Typed questions to a model, one file each: request, response, prompt, schema, parse."""
