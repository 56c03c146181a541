"""Proofs of patterns: is the label of an inference with holes what follows from its sentences?

Patterns that share their premises share a story and a solver, so a bank is proved in a few seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gnomon.files import package_data
from gnomon.grouped import grouped
from gnomon.language.patterns import Pattern
from gnomon.proofs.meaning.sentences import pattern_words
from gnomon.proofs.meaning.stories import SentenceReading, readings
from gnomon.proofs.meaning.texts import StatedText, understood
from gnomon.proofs.meaning.vocabulary import (
    NotUnderstoodError,
    grammar_words,
    kinds_of_slots,
)
from gnomon.proofs.solver import ORDINARY, Case, Proof
from gnomon.records import digest

ALL, SOME, NONE, INEXPRESSIBLE = "all readings", "some readings", "none", "not expressible"


@dataclass(frozen=True)
class PatternProof:
    """What was proved of a pattern, under each reading."""

    pattern: Pattern
    proofs: dict[str, Proof] = field(default_factory=dict)  # by reading, the ordinary one first
    reason: str = ""  # why it could not be understood

    @property
    def ordinary(self) -> Proof | None:
        """The proof under the ordinary reading, if the sentences were understood."""
        return self.proofs.get(ORDINARY)

    @property
    def holds_under(self) -> list[str]:
        """The readings under which the label follows."""
        label = self.pattern.label
        return [name for name, proof in self.proofs.items() if proof.verdict == label]

    @property
    def refuted(self) -> bool:
        """Whether the ordinary reading gives another label."""
        return self.ordinary is not None and self.ordinary.verdict != self.pattern.label

    @property
    def tag(self) -> str:
        """Under how many of the readings the label follows."""
        if self.reason:
            return INEXPRESSIBLE
        if len(self.holds_under) == len(self.proofs):
            return ALL
        return SOME if self.holds_under else NONE


def prove_patterns(
    patterns: Sequence[Pattern],
    *,
    names: Iterable[str] | None = None,
    needed: bool = True,
    witnesses: bool = False,
) -> list[PatternProof]:
    """Proofs in the order of the patterns, under the named readings (all of them by default)."""
    asked = [readings()[name] for name in (readings() if names is None else names)]
    found: dict[str, PatternProof] = {}
    for group in _sharing_premises(patterns):
        for proof in _prove_group(group, asked, needed=needed, witnesses=witnesses):
            found[proof.pattern.id] = proof
    return [found[pattern.id] for pattern in patterns]


def _sharing_premises(patterns: Sequence[Pattern]) -> Iterable[list[Pattern]]:
    def told(pattern: Pattern) -> tuple[Any, str]:
        premises = tuple(premise.text for premise in pattern.premises)
        return premises, pattern.family or pattern.id

    return grouped(patterns, told).values()


def digest_of_sources() -> str:
    """A digest of all that the proofs of our bank depend on: patterns, mini world, lexicon."""
    files = [package_data("patterns/world.yaml"), package_data("lexicon/relations.yaml")]
    for folder in ("patterns/bank", "space/meaning"):
        files += sorted(package_data(folder).glob("*.yaml"))
    return digest(*(file.read_text(encoding="utf-8") for file in files))


def text_of(patterns: Sequence[Pattern]) -> StatedText:
    """What patterns with the same premises say; each hypothesis is a claim."""
    known = grammar_words()
    premises = [[pattern_words(each.text, known)] for each in patterns[0].premises]
    claims = [[pattern_words(each.hypothesis.text, known)] for each in patterns]
    return understood(premises, claims, kinds_of_slots(patterns))


def _prove_group(
    group: list[Pattern], asked: list[SentenceReading], *, needed: bool, witnesses: bool
) -> Iterator[PatternProof]:
    try:
        text = text_of(group)
    except NotUnderstoodError as error:
        if len(group) == 1:
            yield PatternProof(group[0], reason=error.message)
            return
        for pattern in group:  # the fault may lie in one hypothesis only
            yield from _prove_group([pattern], asked, needed=needed, witnesses=witnesses)
        return
    first = Case(*text.formulas(asked[0]))
    others = [Other.of(text, reading, first) for reading in asked[1:]]
    for number, pattern in enumerate(group):
        proof = first.proof(number, needed=needed, witnesses=witnesses)
        proofs = {proof.reading: proof}
        for other in others:
            proofs[other.reading.name] = other.proof_like(proof, number)
        yield PatternProof(pattern, proofs)


class Other(NamedTuple):
    """A case under another reading than the first one."""

    reading: SentenceReading
    case: Case | None  # none if it says the same
    weaker: bool  # it grants less

    @classmethod
    def of(cls, text: StatedText, reading: SentenceReading, first: Case) -> Other:
        """How a text under another reading compares with the first case."""
        if reading.switches.isdisjoint(first.story.asked):
            return cls(reading, None, False)
        case = Case(*text.formulas(reading))
        if case.says_the_same(first):
            return cls(reading, None, False)
        return cls(reading, case, case.weakens(first))

    def proof_like(self, proof: Proof, number: int) -> Proof:
        """The proof of a claim; the solver is not asked where the answer must be the same."""
        stays_open = self.weaker and proof.verdict == "neutral"
        if self.case is None or stays_open:
            return replace(proof, reading=self.reading.name)
        return self.case.proof(number, needed=False)
