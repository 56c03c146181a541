"""What answers mean: pure functions from a table of answers to scores."""
