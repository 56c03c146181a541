"""Answers that were given elsewhere: files of our own form and of other programs, joined with the
items."""
