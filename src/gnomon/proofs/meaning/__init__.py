"""What words of space mean: the lexicon as data, a clause grammar, and formulas over boxes.

A meaning is written once, as a formula (relations.py). The prover gives it to a solver, and a scene
is held against it by numbers (formulas.holds). Whether a relation can be seen in a picture, with
its doubtful cases, is another question: gnomon.scenes.relations answers it.
"""
