"""How text problems are made: mini world, patterns, constraints, sampling, English."""
