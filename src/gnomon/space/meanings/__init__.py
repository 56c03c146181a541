"""What the relations mean: each meaning takes a pair of bodies and gives a verdict with its reason.

A meaning is a function of one of the modules here; data/space/relations.yaml names it.
"""
