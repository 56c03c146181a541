"""Lexicons, patterns, prompts and published figures that ship with the package."""
