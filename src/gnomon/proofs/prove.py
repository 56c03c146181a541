"""Prove that a sentence about space follows from others, is against them, or is left open.

`prove` takes sentences, `prove_facts` takes facts such as ("left", "cup", "plate"): relations of
gnomon.proofs.meaning.relations by name, without any parsing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from gnomon.errors import UsageError, unknown
from gnomon.proofs.meaning.formulas import Formula
from gnomon.proofs.meaning.lexicon import GrammarWords, grammar_words
from gnomon.proofs.meaning.nouns import kinds_of_names, kinds_of_nouns
from gnomon.proofs.meaning.readings import reading_named
from gnomon.proofs.meaning.relations import RELATIONS
from gnomon.proofs.meaning.sentences import free_words
from gnomon.proofs.meaning.stories import NOW, Story, When
from gnomon.proofs.meaning.texts import NotUnderstoodError, Text, understood
from gnomon.proofs.solving import Theory, Witness

Fact = tuple[str, ...]  # a relation and what it relates; a first word "not" denies it
Kinds = Mapping[str, frozenset[str]]
ORDINARY = "ordinary"


@dataclass(frozen=True)
class Proof:
    """What can be proved of a claim from premises."""

    verdict: str  # entailment, contradiction, neutral, or inconsistent if the premises clash
    needed: tuple[int, ...]  # a least set of premises (from 0) that gives the verdict
    reading: str
    could: Witness | None = None  # of what is left open: numbers that make the claim true
    need_not: Witness | None = None  # and numbers that make it false


class Case:
    """Premises and claims as formulas over one story, given to the solver together."""

    def __init__(
        self, story: Story, premises: Sequence[Formula], claims: Sequence[Formula]
    ) -> None:
        self.story = story
        self.statements = [*premises, *claims]
        self.background = story.background()
        self._premises = list(range(len(premises)))

    @cached_property
    def _theory(self) -> Theory:
        return Theory(self.background, self.statements)

    @cached_property
    def _clash(self) -> tuple[int, ...] | None:
        if self._theory.possible(self._premises):
            return None
        return tuple(self._theory.blamed(self._premises))

    def clash(self) -> tuple[int, ...] | None:
        """A least set of premises that cannot hold together, or none."""
        return self._clash

    def says_the_same(self, other: Case) -> bool:
        """Whether another case takes the same for granted and says the same."""
        return self.background == other.background and self.statements == other.statements

    def weakens(self, other: Case) -> bool:
        """Whether this says the same as another case under a reading that grants less."""
        return self.story.reading.grants_less and self.statements == other.statements

    def proof(self, claim: int = 0, *, witnesses: bool = False, needed: bool = True) -> Proof:
        """The verdict on a claim, counted from 0."""
        reading, number = self.story.reading.name, len(self._premises) + claim
        clash = self.clash()
        if clash is not None:
            return Proof("inconsistent", clash, reading)
        if not self._theory.possible(self._premises, [number]):
            core = self._theory.blamed(self._premises, [number]) if needed else []
            return Proof("entailment", tuple(core), reading)
        with_claim = [*self._premises, number]
        if not self._theory.possible(with_claim):
            core = self._blamed_with(number) if needed else []
            return Proof("contradiction", tuple(core), reading)
        if not witnesses:
            return Proof("neutral", (), reading)
        could = self._theory.witness(with_claim)
        need_not = self._theory.witness(self._premises, [number])
        return Proof("neutral", (), reading, could, need_not)

    def _blamed_with(self, claim: int) -> list[int]:
        core = self._theory.blamed([claim, *self._premises])
        return [number for number in core if number != claim]


def prove(
    premises: Sequence[str], claim: str, *, reading: str = ORDINARY, witnesses: bool = False
) -> Proof:
    """The verdict on a sentence from other sentences.

    >>> prove(["The cup is in the box.", "The box is in the car."], "The cup is in the car.")
    Proof(verdict='entailment', needed=(0, 1), reading='ordinary', could=None, need_not=None)
    """
    return case_of(premises, [claim], reading=reading).proof(witnesses=witnesses)


def clash(sentences: Sequence[str], *, reading: str = ORDINARY) -> tuple[int, ...] | None:
    """A least set of sentences (by number) that cannot be true together, or none.

    >>> clash(["Ann is in Oslo.", "The cat is asleep.", "Ann is in Lyon."])
    (0, 2)
    """
    return case_of(sentences, [], reading=reading).clash()


def case_of(premises: Sequence[str], claims: Sequence[str], *, reading: str = ORDINARY) -> Case:
    """Sentences as a case for the solver."""
    return Case(*text_of(premises, claims).formulas(reading_named(reading)))


def text_of(premises: Sequence[str], claims: Sequence[str]) -> Text:
    """What free sentences say, read in the plainest of four ways that understands them all."""
    complaint: NotUnderstoodError | None = None
    for opaque, bold in product((False, True), repeat=2):
        try:
            return _text_of(premises, claims, grammar_words(opaque=opaque), bold=bold)
        except NotUnderstoodError as error:
            complaint = complaint or error
    assert complaint is not None
    raise complaint


def _text_of(
    premises: Sequence[str], claims: Sequence[str], known: GrammarWords, *, bold: bool
) -> Text:
    nouns = kinds_of_nouns()
    told = [free_words(sentence, known, nouns, bold=bold) for sentence in premises]
    claimed = [free_words(sentence, known, nouns, bold=bold) for sentence in claims]
    return understood(told, claimed, kinds_of_names([*told, *claimed]), known)


def prove_facts(
    facts: Sequence[Fact],
    claim: Fact,
    *,
    kinds: Kinds | None = None,
    reading: str = ORDINARY,
    witnesses: bool = False,
) -> Proof:
    """The verdict on a fact from other facts.

    >>> facts = [("left", "cup", "jug"), ("left", "jug", "pan")]
    >>> prove_facts(facts, ("right", "pan", "cup")).verdict
    'entailment'
    """
    return _case(facts, [claim], kinds, reading).proof(witnesses=witnesses)


def clash_of_facts(
    facts: Sequence[Fact], *, kinds: Kinds | None = None, reading: str = ORDINARY
) -> tuple[int, ...] | None:
    """A least set of facts (by number) that cannot hold together, or none.

    >>> clash_of_facts([("on", "a", "b"), ("left", "a", "b"), ("left", "b", "a")])
    (1, 2)
    """
    return _case(facts, [], kinds, reading).clash()


def _case(facts: Sequence[Fact], claims: Sequence[Fact], kinds: Kinds | None, reading: str) -> Case:
    story = Story(kinds or {}, reading_named(reading))
    return Case(
        story,
        [formula_of(story, fact) for fact in facts],
        [formula_of(story, fact) for fact in claims],
    )


def formula_of(story: Story, fact: Fact, when: When | None = None) -> Formula:
    """The formula of a fact; at the present moment unless told otherwise."""
    if fact[0] == "not":
        return ~formula_of(story, fact[1:], when)
    name, *things = fact
    if name not in RELATIONS:
        raise unknown("relation", name[:60], RELATIONS)
    if any("|" in str(thing) or "\\" in str(thing) for thing in things):
        raise UsageError("The name of a thing has a '|' or a '\\'.", "Leave it out.")
    return RELATIONS[name](story, when or When(NOW), *things)
