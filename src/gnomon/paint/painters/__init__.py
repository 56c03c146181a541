"""Who paints: each module turns requests into pictures in one way."""
