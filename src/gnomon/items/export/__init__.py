"""Items for other programs: an lm-eval task, an Inspect task, a dataset folder with a card.

One small module for each target; a target is a function from a Job to what was written.
"""
