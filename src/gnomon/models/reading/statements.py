"""Replies to a yes-or-no question that state the fact instead: "A bee is not larger"."""

from __future__ import annotations

from gnomon.models.reading.cleaning import sentences_of
from gnomon.models.reading.mentions import ChoiceVocabulary
from gnomon.models.reading.question import Question
from gnomon.models.reading.synonyms import CONVERSE, STRONG

_HOLDS, _FAILS = 0, 1


class RelationStatements:
    """What sentences about the two things of a question say to it: yes, no or nothing."""

    def __init__(self, question: Question, yes: int, no: int) -> None:
        self._places = {_HOLDS: yes, _FAILS: no}
        relation = question.relation
        converse = CONVERSE[relation]
        denied = {relation: _FAILS}
        denied.update(dict.fromkeys(STRONG.get(relation, ()), _FAILS))
        words = [[relation], [] if converse == relation else [converse]]
        things = question._replace(relation="")
        self._relations = ChoiceVocabulary(words, letters=False, question=things, opposite=denied)

    def asserted(self, text: str) -> set[int]:
        """The choices that the sentences of a reply amount to."""
        found: set[int] = set()
        for sentence in sentences_of(text):
            denies = sentence.startswith("not ")  # "Not larger."
            if denies or self._relations.names_a_thing(sentence):
                found |= self._relations.asserted(sentence, prose=True)
        return {self._places[each] for each in found}


def statements_on(question: Question, known: ChoiceVocabulary) -> RelationStatements | None:
    """How statements answer a question, if it asks whether a relation holds."""
    if not question.relation:
        return None
    for pair in (("yes", "no"), ("true", "false")):
        yes, no = known.place_of(pair[0]), known.place_of(pair[1])
        if yes is not None and no is not None:
            return RelationStatements(question, yes, no)
    return None
