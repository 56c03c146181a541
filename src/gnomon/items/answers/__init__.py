"""Answers that were given elsewhere: read from files of several formats, joined with the items."""
