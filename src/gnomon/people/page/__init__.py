"""The page on which people answer: one item at a time, served on this machine like the viewer."""
