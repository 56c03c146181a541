"""Listings for people and scripts: terminal, markdown, LaTeX, CSV, JSON."""
