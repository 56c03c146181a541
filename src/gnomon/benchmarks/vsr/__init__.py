"""VSR: captions about where two things are in a photograph."""
