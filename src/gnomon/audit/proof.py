"""Labels and captions given to a solver: what follows, and what cannot all be true."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, combinations
from typing import NamedTuple

from msgspec import structs

from gnomon.audit.clauses import PlainClause, clauses
from gnomon.audit.finding import SHOWN, Example, Finding, fault, share
from gnomon.audit.subject import Subject
from gnomon.errors import MissingExtraError
from gnomon.lexicon.relations import Use
from gnomon.proofs.meaning.formulas import Formula, every
from gnomon.proofs.meaning.stories import Story, reading_named
from gnomon.proofs.puzzles import READINGS as READINGS_OF_PUZZLES
from gnomon.proofs.puzzles import answers
from gnomon.proofs.solver import ORDINARY, Case, formula_of
from gnomon.reports.words import percent

# Clauses given to the prover: what follows, and what cannot hold together.
#
# A problem is proved once for each shape: what the things are called does not matter.


FRONTED = frozenset({"fronted"})  # "in front of" is meant by the things' own fronts
SHARP = "sharp limits"  # things of any size: what clashes even so, clashes


class Shape(NamedTuple):
    """A clause without names: relations that must hold between two numbered things, or not."""

    relations: tuple[str, ...]
    first: int
    second: int
    denied: bool


def shapes_of(clauses: Sequence[PlainClause], use: Use) -> tuple[Shape, ...] | None:
    """Clauses as shapes; none if the words of one have no meaning in this use."""
    numbers: dict[str, int] = {}
    found = []
    for clause in clauses:
        relations = clause.said.of(use)
        if not relations or clause.first == clause.second:
            return None
        first = numbers.setdefault(clause.first, len(numbers))
        second = numbers.setdefault(clause.second, len(numbers))
        found.append(Shape(relations, first, second, clause.denied))
    return tuple(found)


@cache
def verdict(shapes: tuple[Shape, ...]) -> str:
    """What the clauses before the last make of the last one.

    It is entailment, contradiction or neutral, or inconsistent if they clash themselves.
    """
    return _case(shapes, ORDINARY, claims=1).proof(needed=False).verdict


@cache
def clashing(shapes: tuple[Shape, ...]) -> tuple[int, ...]:
    """The numbers of clauses that cannot hold together, as few as there are; none if all can."""
    return _case(shapes, SHARP).clash() or ()


def _case(shapes: Sequence[Shape], reading: str, *, claims: int = 0) -> Case:
    """All clauses as premises, or the last ones as claims."""
    kinds: dict[str, frozenset[str]] = {}
    for shape in shapes:
        kinds |= dict.fromkeys((_name(shape.first), _name(shape.second)), FRONTED)
    story = Story(kinds, reading_named(reading))
    formulas = [_formula(story, shape) for shape in shapes]
    premises = len(formulas) - claims
    return Case(story, formulas[:premises], formulas[premises:])


def _formula(story: Story, shape: Shape) -> Formula:
    names = _name(shape.first), _name(shape.second)
    found = every([formula_of(story, (relation, *names)) for relation in shape.relations])
    return ~found if shape.denied else found


def _name(number: int) -> str:
    return f"thing {number}"


# Can all that is said to be true of one picture, or told in one story, be true at once?
#
# Sentences are given to the prover as loosely as they can be meant; what cannot hold together
# even so is a fault of a label or of a story. docs/audit.md says what is taken for granted.


CLASH = "clash"
TRUE = frozenset({"true", "yes", "1"})
PICTURES = "pictures"
ANYHOW = "pictures, whoever's sides"
USES: dict[str, Use] = {PICTURES: "pictured", "stories": "loosely"}
SIDES = frozenset({"left", "right", "front", "behind"})  # the viewer's, or a thing's own
MOST_SENTENCES = 12  # sentences of one picture or story that are looked at together


class Told(NamedTuple):
    """A sentence that is said to be true, and the question that says so."""

    clause: PlainClause
    number: int


def clash(subject: Subject) -> Iterator[Finding]:
    """Captions of one picture, and sentences of one story."""
    parts = {PICTURES: _pictures(subject), "stories": _stories(subject)}
    if not any(parts.values()):
        says = "No picture or story has two plain sentences about where things are."
        yield Finding(check=CLASH, says=says)
        return
    try:
        for part, told in parts.items():
            if told:
                yield from _clash_findings(subject, part, told)
    except MissingExtraError as error:
        yield Finding(check=CLASH, says=f"{error.message} {error.hint}")


def _pictures(subject: Subject) -> list[list[Told]]:
    """What is labelled true of each picture, if that is more than one sentence."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        if not question.picture or not question.texts:
            continue
        if not TRUE.issuperset(map(str.lower, question.gold)):
            continue
        for clause in clauses(question.texts[-1]):
            told.setdefault(question.picture, []).append(Told(clause, number))
    return _of_several(told)


def _stories(subject: Subject) -> list[list[Told]]:
    """The sentences of each context, if there is more than one."""
    told: dict[str, list[Told]] = {}
    for number, question in enumerate(subject.questions):
        story = " ".join(question.texts[:-1])
        if question.picture or story in told:
            continue
        told[story] = [Told(clause, number) for clause in clauses(story)]
    return _of_several(told)


def _of_several(told: dict[str, list[Told]]) -> list[list[Told]]:
    return [said[:MOST_SENTENCES] for said in told.values() if len(said) > 1]


def _clash_findings(subject: Subject, part: str, told: list[list[Told]]) -> Iterator[Finding]:
    """What clashes and, of pictures, what of it clashes whoever's sides are meant."""
    use = USES[part]
    found = [list(_cores(said, use)) for said in told]
    read = f"each of one of the {len(told):,} {part} with several sentences that can be read"
    if part != PICTURES:
        yield _clash_finding(subject, part, found, f"cannot be true together, {read}.")
        return
    says = f"cannot be true together if all mean the same left, right, front and back, {read}."
    yield _clash_finding(subject, part, found, says)
    anyhow = [list(_cores([one for one in said if not _says_side(one)], use)) for said in told]
    says = (
        "cannot be true together whoever's sides are meant; the others are faults only if "
        "annotators had to mean the viewer's, or a thing's own."
    )
    yield _clash_finding(subject, ANYHOW, anyhow, says)


def _says_side(one: Told) -> bool:
    """Whether a sentence depends on whose sides are meant."""
    return not SIDES.isdisjoint(one.clause.said.pictured)


def _clash_finding(subject: Subject, part: str, found: list[list[list[int]]], says: str) -> Finding:
    cores = list(chain.from_iterable(found))
    torn = sum(map(bool, found))
    says = f"{len(cores):,} sets of sentences {says}"
    finding = fault(CLASH, part, torn, len(found), says)
    together = [subject.audited.example(*dict.fromkeys(core)) for core in cores[:SHOWN]]
    behind = list(dict.fromkeys(chain.from_iterable(cores)))
    return structs.replace(subject.about(finding, behind), examples=tuple(together))


def _cores(said: list[Told], use: Use) -> Iterator[list[int]]:
    """Pairs of sentences that clash or, if there are none, more of them that do together."""
    read = [one for one in said if one.clause.said.of(use)]
    alone = True
    for pair in combinations(read, 2):
        if _is_about_the_same(*pair) and _clashing(pair, use):
            alone = False
            yield [one.number for one in pair]
    core = _clashing(read, use)
    if alone and core:
        yield [one.number for one in core]


def _clashing(said: Sequence[Told], use: Use) -> list[Told]:
    """The sentences that cannot hold together, as few as there are; none if all can."""

    shapes = shapes_of([one.clause for one in said], use)
    if shapes is None:
        return []
    return [said[place] for place in clashing(shapes)]


def _is_about_the_same(one: Told, other: Told) -> bool:
    things = {one.clause.first, one.clause.second}
    return things == {other.clause.first, other.clause.second}


PROOF = "proof"
READINGS: tuple[Use, ...] = ("loosely", "directly")
NO_READING = "no reading"
PARTS = (NO_READING, "some readings", "every reading")
UNDECIDED = "undecided"  # neither proved nor refuted in any reading
VERDICTS = {"entailment", "contradiction", "neutral"}
MOST_PUZZLES = 6_000  # questions in words of their own that are given to the prover
MOST_UNREAD = 50  # questions that cannot be read, beyond as many that can
Verdicts = dict[str, str]  # by reading or use of the words


def proof(subject: Subject) -> Iterator[Finding]:
    """Labels that hold in no reading, in some, and in all; and how many hold in each."""
    try:
        proved = dict(_proved(subject))
    except MissingExtraError as error:
        yield Finding(check=PROOF, says=f"{error.message} {error.hint}")
        return
    if not proved:
        says = "No premises and hypothesis are plain sentences about where two things are."
        yield Finding(check=PROOF, says=says)
        return
    held: dict[str, list[int]] = {part: [] for part in PARTS}
    for number, found in proved.items():
        part = _part(list(found.values()), subject.questions[number].gold)
        held.setdefault(part, []).append(number)
    if len(held.get(UNDECIDED, ())) == len(proved):
        yield Finding(check=PROOF, says="No answer follows from what the questions say.")
        return
    for part, numbers in held.items():
        yield _reading_finding(subject, part, numbers, proved)
    for reading in READINGS_OF_PUZZLES:
        judged = {number: found[reading] for number, found in proved.items() if reading in found}
        if judged:
            yield _puzzle_finding(subject, reading, judged)


def _part(answers: list[str], gold: Sequence[str]) -> str:
    """Whether a label is right in all readings, in some, in none, or never decided."""
    none, some, every = PARTS
    right = [answer in gold for answer in answers]
    if all(right):
        return every
    if any(right):
        return some
    return none if any(answers) else UNDECIDED


def _proved(subject: Subject) -> Iterator[tuple[int, Verdicts]]:
    """The verdict in each reading, for every question that can be read."""
    tried = read = 0
    for number, question in enumerate(subject.questions):
        if not question.texts:  # captions alone, of which one is true
            continue
        *contexts, claim = question.texts
        if VERDICTS.issuperset(question.choices):
            found = verdicts(" ".join(contexts), claim)
        elif question.picture or tried >= MOST_PUZZLES or tried - read > MOST_UNREAD + read:
            continue  # a set of other questions, or a large one
        else:
            found = answers(" ".join(contexts), claim, question.choices)
            tried += 1
            read += bool(found)
        if found:
            yield number, found


def _puzzle_finding(subject: Subject, reading: str, judged: dict[int, str]) -> Finding:
    """How many labels of puzzles a reading proves, refutes and leaves open."""
    proved = opened = 0
    refuted = []
    for number, answer in judged.items():
        if answer in subject.questions[number].gold:
            proved += 1
        elif answer:
            refuted.append(number)
        else:
            opened += 1
    says = (
        f"Under the reading '{reading}' {proved:,} of {len(judged):,} labels are proved, "
        f"{len(refuted):,} refuted, {opened:,} left open."
    )
    value = share(proved, len(judged))
    finding = Finding(check=PROOF, part=reading, value=value, says=says, n=len(judged))
    return subject.about(finding, refuted)


def verdicts(premises: str, claim: str) -> Verdicts:
    """What premises make of a claim in each reading; empty if they cannot be read."""

    given, said = clauses(premises), clauses(claim)
    found: Verdicts = {}
    if not given or len(said) != 1:
        return found
    for reading in READINGS:
        shapes = shapes_of([*given, *said], reading)
        if shapes is None:
            return {}
        found[reading] = verdict(shapes)
    return found


def _reading_finding(
    subject: Subject, part: str, numbers: list[int], proved: dict[int, Verdicts]
) -> Finding:
    value = share(len(numbers), len(proved))
    unread = len(subject.questions) - len(proved)
    holds = "are left open by every reading" if part == UNDECIDED else f"hold in {part}"
    says = (
        f"{len(numbers):,} of {len(proved):,} labels that can be proved ({percent(value)}) {holds}"
    )
    by_group = Counter(subject.questions[number].group or "no group" for number in numbers)
    wrong = part == NO_READING and bool(numbers)
    if wrong:
        listed = [f"{times:,} of {group}" for group, times in by_group.most_common(SHOWN)]
        says += f": {', '.join(listed)}"
    finding = Finding(
        check=PROOF,
        part=part,
        value=value,
        alarm=wrong,
        says=f"{says}. {unread:,} items cannot be read.",
        n=len(proved),
    )
    shown = _examples(subject, numbers, proved)
    return structs.replace(subject.about(finding, numbers), examples=shown)


def _examples(
    subject: Subject, numbers: list[int], proved: dict[int, Verdicts]
) -> tuple[Example, ...]:
    """One of each group, with what is proved."""
    shown: dict[str, int] = {}
    for number in numbers:
        shown.setdefault(subject.questions[number].group, number)
    found = []
    for number in list(shown.values())[:SHOWN]:
        plain = subject.audited.example(number)
        said = ", ".join(f"{reading} {verdict}" for reading, verdict in proved[number].items())
        found.append(Example(ids=plain.ids, text=f"{plain.text} (proved: {said})"))
    return tuple(found)
