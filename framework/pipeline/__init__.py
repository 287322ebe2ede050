"""The one path from a history to a row; its files stand in the order of its steps."""
