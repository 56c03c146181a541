"""What is wrong with a benchmark: checks of its items, before any model is asked."""
