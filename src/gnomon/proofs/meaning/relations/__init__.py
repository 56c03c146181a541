"""Relations as formulas over boxes: each meaning of the lexicon is made of these.

A relation takes the story, the moments of its clause and the things it relates. It is written here
once; the prover hands it to a solver, and witnesses and scenes are held against it by numbers.
"""

from gnomon.proofs.meaning.relations import company, contact, directions
from gnomon.proofs.meaning.relations.contact import RELATIONS

__all__ = ["RELATIONS", "company", "contact", "directions"]
