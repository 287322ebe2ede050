"""The leaderboard: signed bundles of runs, and the board that checks and ranks them."""
