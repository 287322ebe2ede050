"""One long run, dealt by history into shards that are jobs of the launcher, and merged."""
