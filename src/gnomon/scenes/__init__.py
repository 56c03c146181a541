"""One world as geometry: things, scenes, what is true in them, and what they look like."""
