"""How a rule-based reader turns a question into a query: schema, lexicon, filters, composition."""
