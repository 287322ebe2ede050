"""Questions over a database: its data, its questions, and how queries are executed."""
