"""What the words mean: relations, things, replies; statements said and read.

Each relation is one record of data/lexicon/relations.yaml. Scenes, VSR's ways and categories, the
eyes, the audit, the prover and the reader of replies take all that they know of words from there.
"""
