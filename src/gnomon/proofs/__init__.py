"""What follows from what sentences about space mean: readings, a solver, calculi, chains."""
