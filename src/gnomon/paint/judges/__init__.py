"""Judges of pictures: what they show of the two things that an item names."""
