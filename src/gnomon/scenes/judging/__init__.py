"""Judging a picture: each function takes two bodies and says whether a relation can be seen.

A meaning is a function of one of the modules here; data/lexicon/relations.yaml names it.
"""
