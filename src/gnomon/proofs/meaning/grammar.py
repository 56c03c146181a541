"""A small grammar of clauses: from the words of sentences to what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gnomon.errors import GnomonError
from gnomon.proofs.meaning.clauses import (
    UNNAMED,
    Context,
    EitherMeaning,
    PhrasePart,
    Sayings,
    Step,
    StoryNames,
    Teller,
    Verb,
    at_time,
)
from gnomon.proofs.meaning.formulas import Formula, every
from gnomon.proofs.meaning.stories import SentenceReading, Story
from gnomon.proofs.meaning.verbs import Verbs, tense_of
from gnomon.proofs.meaning.vocabulary import GrammarWords, grammar_words
from gnomon.proofs.meaning.words import Places, Words

JOINTS = {"and", "but", "while", "as", "then"}
RELATIVES = ("who", "which", "where")


class Parser:
    """Reads one sentence of a story."""

    def __init__(self, words: Words, teller: Teller) -> None:
        self.words = words
        self.teller = teller
        self.places = Places(words)
        self.verbs = Verbs(words, self.places, teller)
        self.reached = 0  # the farthest word that was understood

    def parse(self, context: Context) -> Step | None:
        """The first way to understand all words, or none."""
        start = Step((), 0, context.fresh())
        for step in self._whole(start):
            if step.end == len(self.words):
                return step
        for step in self._fronted(start):
            for whole in self._clauses(step):
                return whole
        return None

    # What comes before the subject: a time, a setting, a place, another action.

    def _fronted(self, step: Step) -> Iterator[Step]:
        for made in self._front(step):
            self.reached = max(self.reached, made.end)
            comma = self.words.at(made.end) == ","
            yield from self._fronted(made._replace(end=made.end + comma))
        yield step

    def _front(self, step: Step) -> Iterator[Step]:
        words, context = self.words, step.context
        for match in words.matches(words.lexicon.times, step.end, context):
            yield Step(step.said, match.end, match.context._replace(time=match.phrase.meaning))
        for match in words.matches(words.lexicon.settings, step.end, context):
            later = match.context._replace(setting=match.phrase.meaning)
            yield Step(step.said, match.end, later)
        ahead = context._replace(subject=(UNNAMED,))
        for located in self.places.fronted(step.end, ahead):
            if words.at(located.end) == ",":
                said = self.teller.located(located, (UNNAMED,), Verb("be", "past"))
                yield step.adding(said, located.end, located.context)
        if words.at(step.end) == "with":
            yield from self._absolute(step)
        if words.at(step.end).endswith("ing"):
            for made in self.verbs.core(step._replace(context=ahead), Verb()):
                if words.at(made.end) == ",":
                    yield made

    # Clauses in a row.

    def _clauses(self, step: Step) -> Iterator[Step]:
        if step.end == len(self.words) and step.end > 0:
            yield step
            return
        for made in self._clause(step):
            made = _with_subject(made)
            for ended in self._endings(made):
                self.reached = max(self.reached, ended.end)
                if ended.end == len(self.words):
                    yield ended
                    continue
                for begun in self._joined(ended):
                    yield from self._clauses(begun)

    def _endings(self, step: Step) -> Iterator[Step]:
        """Times and settings that end a clause: "that day", "in the queue"."""
        words = self.words
        for match in words.matches(words.lexicon.times, step.end, step.context):
            said = at_time(step.said, match.phrase.meaning)
            yield from self._endings(Step(said, match.end, match.context))
        for match in words.matches(words.lexicon.settings, step.end, step.context):
            later = match.context._replace(setting=match.phrase.meaning)
            yield Step(step.said, match.end, later)
        yield step

    def _joined(self, step: Step) -> Iterator[Step]:
        at = step.end
        if self.words.at(at) == ",":
            at += 1
        if self.words.at(at) in RELATIVES:
            yield from self._relative(step, at)
            return
        while self.words.at(at) in JOINTS:
            at += 1
        if at > step.end:
            yield step._replace(end=at)

    def _relative(self, step: Step, at: int) -> Iterator[Step]:
        """A relative clause about whoever was mentioned last; then back to the subject."""
        outer = step.context
        if self.words.at(at) == "where":
            opened = step._replace(end=at + 1, context=outer._replace(open_ground=True))
            found = self._clause(opened)
        elif outer.mentioned:
            inner = outer._replace(subject=(outer.mentioned[-1],))
            found = self.verbs.phrase(step._replace(end=at + 1, context=inner))
        else:
            return
        for made in found:
            closed = made._replace(context=made.context._replace(open_ground=False))
            for ended in self._endings(closed):
                self.reached = max(self.reached, ended.end)
                yield from self._after_relative(ended, outer)

    def _after_relative(self, step: Step, outer: Context) -> Iterator[Step]:
        if step.end == len(self.words):
            yield step
            return
        back = step.context._replace(subject=outer.subject, verb=outer.verb)
        yield from self._joined(step._replace(context=back))
        yield from self._joined(step)

    # One clause.

    def _clause(self, step: Step) -> Iterator[Step]:
        yield from self._whole(step)
        if self.words.at(step.end) == "unlike":
            for _, end, context in self.words.noun_phrases(step.end + 1, step.context):
                yield Step(step.said, end, context)
        for names, end, context in self.words.noun_phrases(step.end, step.context):
            named = Step(step.said, end, context._replace(subject=names))
            for known in self._described(named):
                yield from self.verbs.phrase(known)
            yield from self._gapped(Step(step.said, end, context), names)
        yield from self._without_subject(step)

    def _whole(self, step: Step) -> Iterator[Step]:
        """Clauses that are given by all their words."""
        words = self.words
        for match in words.matches(words.lexicon.whole, step.end, step.context):
            verb = Verb("frame", tense_of(match.phrase.words))
            subject = str(match.fillers.get("A", UNNAMED))
            later = self.places.found(match.context, match.phrase, match.fillers)
            later = later._replace(subject=(subject,), verb=verb)
            before = step.context._replace(subject=(subject,))
            fillers = {**words.referents(before), **match.fillers}
            said = self.teller.said(PhrasePart(match.phrase.meaning, fillers), later, verb)
            yield step.adding(said, match.end, later)

    def _described(self, step: Step) -> Iterator[Step]:
        """A subject, and what is said of it before its verb comes."""
        yield step
        words, subject = self.words, step.context.subject
        for located in self.places.all(step.end, step.context):
            said = self.teller.located(located, subject, Verb("be", "past"))
            yield step.adding(said, located.end, located.context)
        if words.at(step.end) != ",":
            return
        if words.at(step.end + 1) == "who":
            for made in self.verbs.phrase(step._replace(end=step.end + 2)):
                if words.at(made.end) == ",":
                    back = made.context._replace(subject=subject)
                    yield made._replace(end=made.end + 1, context=back)
        for located in self.places.all(step.end + 1, step.context):
            if words.at(located.end) == ",":
                said = self.teller.located(located, subject, Verb("be", "past"))
                yield step.adding(said, located.end + 1, located.context)

    def _without_subject(self, step: Step) -> Iterator[Step]:
        if self.words.at(step.end) == "with":
            yield from self._absolute(step)
        if not step.context.subject:
            return
        verb = step.context.verb
        if verb.kind:
            yield from self.verbs.core(step, verb._replace(kind="", denied=False, never=False))
        yield from self.verbs.phrase(step)
        if verb.kind == "move":
            yield from self.verbs.along(step, step.context.subject)
        if verb.kind == "opaque":
            yield from self.verbs.murmur(step, step.end)
        if verb.kind in ("frame", "be"):
            yield from self.verbs.placed(step, step.context.subject, step.context.subject)

    def _absolute(self, step: Step) -> Iterator[Step]:
        """With somebody somewhere."""
        owner = step.context.subject
        for names, end, context in self.words.noun_phrases(step.end + 1, step.context):
            verb = context.verb._replace(kind="locates")
            placed = Step(step.said, end, context._replace(verb=verb))
            yield from self.verbs.placed(placed, names, owner)

    def _gapped(self, step: Step, names: tuple[str, ...]) -> Iterator[Step]:
        """Somebody else, with the verb of the clause before left out."""
        verb = step.context.verb
        if verb.kind == "be":
            gone = step._replace(context=step.context._replace(subject=names))
            yield from self.verbs.placed(gone, names, names)
        if verb.kind == "move":
            gone = step._replace(context=step.context._replace(subject=names))
            yield from self.verbs.along(gone, names)
        if verb.kind == "put":
            yield from self.verbs.along(step, names)
        if verb.kind == "locates":
            yield from self.verbs.placed(step, names, step.context.subject)


def _with_subject(step: Step) -> Step:
    """Whoever was not yet named before the subject is the subject."""
    subject = step.context.subject
    if not subject or subject[0] == UNNAMED:
        return step
    said = tuple(saying.of(subject[0]) for saying in step.said)
    return step._replace(said=said)


# Texts to statements: premises and claims, sentence by sentence, over the names of one story.


MOST_WORDS = 80  # all ways to read a sentence are tried
PLACE = frozenset({"fixed", "ground", "hollow"})
CHANGES = ("before(", "after(", "ever(", "midway(")
HEADINGS = ("facing(", "heads(", "heading(", "straight(", "turned(", "veers(", "sees(", "seen(")
LATER = ("then", "since")  # a sentence that begins so tells what came next
Kinds = Mapping[str, frozenset[str]]


class NotUnderstoodError(GnomonError):
    """A sentence that the lexicon or the grammar does not know."""


@dataclass(frozen=True)
class StatedText:
    """What premises and claims say, and of what kind those are whom they name."""

    premises: tuple[Sayings, ...]
    claims: tuple[Sayings, ...]
    kinds: Kinds

    def formulas(self, reading: SentenceReading) -> tuple[Story, list[Formula], list[Formula]]:
        """A story under a reading, with the formulas of premises and claims."""
        turning = _turning([*self.premises, *self.claims])
        story = Story(self.kinds, reading, grammar_words().kinds_of_implied, turning)
        story.telling = True
        premises = [_formula(said, story) for said in self.premises]
        story.telling = False
        claims = [_formula(said, story) for said in self.claims]
        return story, premises, claims


def _turning(sentences: Sequence[Sayings]) -> set[str]:
    """Those whose heading is spoken of: their left and right are their own."""
    names: set[str] = set()
    for saying in (each for said in sentences for each in said):
        ways = saying.ways if isinstance(saying, EitherMeaning) else (saying,)
        for way in ways:
            if any(word in way.meaning for word in HEADINGS):
                names.update(name for name in way.fillers.values() if isinstance(name, str))
    return names


def _formula(said: Sayings, story: Story) -> Formula:
    return every(saying.formula(story) for saying in said)


def understood(
    premises: Sequence[list[str]],
    claims: Sequence[list[str]],
    kinds: Kinds,
    known: GrammarWords | None = None,
) -> StatedText:
    """Premises and claims, given as words, as statements."""
    known = known or grammar_words()
    names = StoryNames(kinds, known.kinds_of_implied)
    context = Context()
    told = []
    for number, words in enumerate(premises):
        others = [*premises[:number], *premises[number + 1 :]]
        teller = Teller(claim=False, shifted=any(map(_tells_later, others)))
        said, context = _understood(Words(known, names, words), teller, context)
        told.append(said)
    claimed = []
    teller = Teller(claim=True, shifted=any(map(_tells_change, told)))
    for words in claims:
        said, _ = _understood(Words(known, names, words), teller, context)
        claimed.append(said)
    return StatedText(tuple(told), tuple(claimed), _with_places([*told, *claimed], kinds))


def _with_places(said: Sequence[Sayings], kinds: Kinds) -> Kinds:
    """What one comes from or goes to is a place, if nothing else is known of it."""
    found = dict(kinds)
    for saying in (each for sentence in said for each in sentence):
        if isinstance(saying, EitherMeaning) or "reaches(" not in saying.meaning:
            continue
        for hole in ("B", "C"):
            name = saying.fillers.get(hole)
            if isinstance(name, str) and not found.get(name):
                found[name] = PLACE
    return found


def _tells_change(said: Sayings) -> bool:
    """Whether something is said to be different before and after."""
    for saying in said:
        ways = saying.ways if isinstance(saying, EitherMeaning) else (saying,)
        for way in ways:
            if any(word in way.meaning for word in CHANGES):
                return True
    return False


def _tells_later(words: list[str]) -> bool:
    return words[0] in LATER or "has" in words or "have" in words


def _understood(words: Words, teller: Teller, context: Context) -> tuple[Sayings, Context]:
    if len(words) > MOST_WORDS:
        raise NotUnderstoodError(
            f"A sentence has {len(words)} words; {MOST_WORDS} are read at most.", "Divide it."
        )
    parser = Parser(words, teller)
    step = parser.parse(context)
    if step is not None:
        return step.said, step.context
    raise NotUnderstoodError(_complaint(words.words, parser.reached), HINT)


HINT = "docs/proofs.md lists the words that are known; say it with these."


def _complaint(words: list[str], reached: int) -> str:
    shown = " ".join(words).replace("@", "").replace(" ,", ",").replace(" 's", "'s")
    strange = []
    for word in words:
        if not word.startswith("@") and word not in grammar_words().known:
            strange.append(f"'{word}'")
    if strange:
        return f"The lexicon does not have {', '.join(dict.fromkeys(strange))} (in: {shown})."
    rest = " ".join(words[reached:]).replace("@", "")
    return f"The grammar cannot read '{rest}' (in: {shown})."
