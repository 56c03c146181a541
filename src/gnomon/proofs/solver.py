"""Whether a claim follows from sentences, for plain texts and for patterns with holes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from threading import local
from typing import Any, NamedTuple

from gnomon.errors import GnomonError, UsageError, importing, unknown
from gnomon.files import package_data
from gnomon.grouped import grouped
from gnomon.language.patterns import Pattern
from gnomon.proofs.meaning.formulas import Formula, Names, Number, holds, smt
from gnomon.proofs.meaning.quantifiers import (
    NamedThings,
    check_counts,
    claimed,
    conjuncts,
    denied,
    is_about_a_sort,
    renamed,
    some_for_one,
)
from gnomon.proofs.meaning.relations import RELATIONS
from gnomon.proofs.meaning.sentences import free_words, pattern_words, sentences_of
from gnomon.proofs.meaning.stories import NOW, SentenceReading, Story, When, reading_named, readings
from gnomon.proofs.meaning.texts import StatedText, understood
from gnomon.proofs.meaning.vocabulary import (
    GrammarWords,
    NotUnderstoodError,
    grammar_words,
    kinds_of_names,
    kinds_of_nouns,
    kinds_of_slots,
)
from gnomon.records import digest

# Ask a solver (z3) whether statements can hold together; the only module that knows it.
#
# Every statement is guarded by a switch, so that one solver answers all questions about a story:
# with these premises, with or against that claim, and which premises are to blame.


TIME_LIMIT = 20_000  # milliseconds for one question; the slowest of our own takes 200


class Witness(NamedTuple):
    """Numbers that make statements true: quantities and flags by name."""

    values: Mapping[str, Number]
    flags: Mapping[str, bool]

    def makes(self, formula: Formula) -> bool:
        """Whether a formula is true of these numbers; found without the solver."""
        return holds(formula, self.values, self.flags)


class Theory:
    """What is taken for granted, and numbered statements that are asked about."""

    def __init__(
        self, background: Sequence[Formula], statements: Sequence[Formula], *, shared: bool = False
    ) -> None:
        self._z3 = _solver_library()
        self._names = Names()
        lines = [f"(assert {smt(formula, self._names)})" for formula in background]
        switches = []
        for number, statement in enumerate(statements):
            written = smt(statement, self._names)
            lines.append(f"(assert (=> yes{number} {written}))")
            lines.append(f"(assert (=> no{number} (not {written})))")
            switches += [f"yes{number}", f"no{number}"]
        declared = [f"(declare-const {switch} Bool)" for switch in switches]
        # Its own, so that witnesses do not depend on others; making one takes a few milliseconds.
        self._context = _shared_context() if shared else self._z3.Context()
        self._solver = self._z3.Solver(ctx=self._context)
        self._solver.set("timeout", TIME_LIMIT)
        text = "\n".join([self._names.declarations(), *declared, *lines])
        self._solver.from_string(text)

        self._switches = {name: self._z3.Bool(name, self._context) for name in switches}

    def possible(self, true: Sequence[int], false: Sequence[int] = ()) -> bool:
        """Whether some statements can be true and others false together."""
        switches = [self._switches[f"yes{number}"] for number in true]
        switches += [self._switches[f"no{number}"] for number in false]
        answer = self._solver.check(*switches)
        if answer == self._z3.unknown:
            raise GnomonError(
                "The solver found no answer in time.", "Leave out premises that do not matter."
            )
        return bool(answer == self._z3.sat)

    def blamed(self, true: Sequence[int], false: Sequence[int] = ()) -> list[int]:
        """Of true statements that cannot hold together (against the false ones), a least set."""
        if self.possible(true, false):
            return []
        core = {str(switch) for switch in self._solver.unsat_core()}
        kept = [number for number in true if f"yes{number}" in core]
        for number in list(kept):
            fewer = [other for other in kept if other != number]
            if not self.possible(fewer, false):
                kept = fewer
        return kept

    def witness(self, true: Sequence[int], false: Sequence[int] = ()) -> Witness | None:
        """Numbers that make some statements true and others false, if there are any."""
        if not self.possible(true, false):
            return None
        model = self._solver.model()
        values: dict[str, Number] = {}
        for name in self._names.quantities:
            value = model.eval(self._z3.Real(name, self._context), model_completion=True)
            if not self._z3.is_rational_value(value):  # a root
                value = value.approx(20)
            values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
        flags = {}
        for name in self._names.flags:
            flag = model.eval(self._z3.Bool(name, self._context), model_completion=True)
            flags[name] = bool(self._z3.is_true(flag))
        return Witness(values, flags)


def _solver_library() -> Any:
    with importing("Proving", "prove"):
        import z3
    return z3


_of_thread = local()


def _shared_context() -> Any:
    """The solver's memory for theories of which only verdicts are asked, one for each thread."""
    if not hasattr(_of_thread, "context"):
        _of_thread.context = _solver_library().Context()
    return _of_thread.context


# Prove that a sentence about space follows from others, is against them, or is left open.
#
# `prove` takes sentences, `prove_facts` takes facts such as ("left", "cup", "plate"): relations
# of gnomon.proofs.meaning.relations by name, without any parsing.


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
    unknown: tuple[str, ...] = ()  # nouns of which nothing is known, so that nothing is assumed


class Case:
    """Premises and claims as formulas over one story, given to the solver together."""

    def __init__(
        self,
        story: Story,
        premises: Sequence[Formula],
        claims: Sequence[Formula],
        *,
        only_verdicts: bool = False,
    ) -> None:
        self.story = story
        self._only_verdicts = only_verdicts  # nobody asks for witnesses or which premises matter
        self.statements = [*premises, *claims]
        self.background = story.background()
        self._premises = list(range(len(premises)))

    @cached_property
    def _theory(self) -> Theory:
        return Theory(self.background, self.statements, shared=self._only_verdicts)

    @cached_property
    def can_hold(self) -> bool:
        """Whether all premises can be true together."""
        return self._theory.possible(self._premises)

    @cached_property
    def _clash(self) -> tuple[int, ...] | None:
        if self.can_hold:
            return None
        return tuple(self._theory.blamed(self._premises))

    def clash(self) -> tuple[int, ...] | None:
        """A least set of premises that cannot hold together, or none."""
        return self._clash

    def follows(self, claim: int = 0) -> bool:
        """Whether a claim, counted from 0, follows from premises that can hold together."""
        number = len(self._premises) + claim
        return self.can_hold and not self._theory.possible(self._premises, [number])

    def says_the_same(self, other: Case) -> bool:
        """Whether another case takes the same for granted and says the same."""
        return self.background == other.background and self.statements == other.statements

    def weakens(self, other: Case) -> bool:
        """Whether this says the same as another case under a reading that grants less."""
        return self.story.reading.grants_less and self.statements == other.statements

    def proof(self, claim: int = 0, *, witnesses: bool = False, needed: bool = True) -> Proof:
        """The verdict on a claim, counted from 0."""
        proof = self._proof(len(self._premises) + claim, witnesses=witnesses, needed=needed)
        return replace(proof, unknown=self.story.unknown_nouns)

    def _proof(self, number: int, *, witnesses: bool, needed: bool) -> Proof:
        reading = self.story.reading.name
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
    premises: str | Sequence[str], claim: str, *, reading: str = ORDINARY, witnesses: bool = False
) -> Proof:
    """The verdict on a sentence from other sentences, or from a text.

    >>> prove(["The cup is in the box.", "The box is in the car."], "The cup is in the car.")
    Proof(verdict='entailment', needed=(0, 1), reading='ordinary', ... unknown=())
    """
    told = sentences_of(premises) if isinstance(premises, str) else premises
    return case_of(told, [claim], reading=reading).proof(witnesses=witnesses)


def clash(sentences: Sequence[str], *, reading: str = ORDINARY) -> tuple[int, ...] | None:
    """A least set of sentences (by number) that cannot be true together, or none.

    >>> clash(["Ann is in Oslo.", "The cat is asleep.", "Ann is in Lyon."])
    (0, 2)
    """
    return case_of(sentences, [], reading=reading).clash()


def case_of(premises: Sequence[str], claims: Sequence[str], *, reading: str = ORDINARY) -> Case:
    """Sentences as a case for the solver."""
    return Case(*text_of(premises, claims).formulas(reading_named(reading)))


def text_of(premises: Sequence[str], claims: Sequence[str]) -> StatedText:
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
) -> StatedText:
    nouns = kinds_of_nouns()
    sentences = [*premises, *claims]
    denials = [_DENIAL.match(sentence) for sentence in sentences]
    exists = []
    words = []
    for sentence, denial in zip(sentences, denials, strict=True):
        plain = sentence[denial.end() :] if denial else sentence
        read = free_words(plain, known, nouns, bold=bold)
        is_any = " ".join(read).startswith("@?")
        exists.append(is_any or bool(_EXISTENCE.match(plain)))
        words.append(read)
    words = some_for_one(words)
    told, asked = renamed(words[: len(premises)], words[len(premises) :])
    words = [*told, *asked]
    cast = NamedThings(words, kinds_of_names(words))
    check_counts(words)
    for claim, is_any in zip(asked, exists[len(premises) :], strict=True):
        if is_any or is_about_a_sort(claim):
            cast.leave_open(claim)
    said: list[list[list[str]]] = []
    for number, sentence in enumerate(sentences):
        if sentence.rstrip().endswith("?") and number < len(premises):
            said.append([])  # it asks, and so says nothing
        elif denials[number] and exists[number]:
            said.append(conjuncts(["no", *words[number]], cast))
        elif denials[number]:
            said.append(denied(conjuncts(words[number], cast)))
        elif number < len(premises):
            said.append(conjuncts(words[number], cast))
        else:
            said.append(claimed(words[number], cast, exists=exists[number]))
    return understood(said[: len(premises)], said[len(premises) :], cast.kinds, known, free=True)


_DENIAL = re.compile(r"It is (?:not (?:true|the case|so)|false|untrue) that ", re.IGNORECASE)
_EXISTENCE = re.compile(r"(?:there (?:is|are)|(?:is|are) there)\b", re.IGNORECASE)


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


# Proofs of patterns: is the label of an inference with holes what follows from its sentences?
#
# Patterns that share their premises share a story and a solver, so a bank is proved in a few
# seconds.


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


def text_of_patterns(patterns: Sequence[Pattern]) -> StatedText:
    """What patterns with the same premises say; each hypothesis is a claim."""
    known = grammar_words()
    premises = [[pattern_words(each.text, known)] for each in patterns[0].premises]
    claims = [[pattern_words(each.hypothesis.text, known)] for each in patterns]
    return understood(premises, claims, kinds_of_slots(patterns))


def _prove_group(
    group: list[Pattern], asked: list[SentenceReading], *, needed: bool, witnesses: bool
) -> Iterator[PatternProof]:
    try:
        text = text_of_patterns(group)
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
