"""LongMemEval: records, their reading from a file, their drawing, and their cases."""
