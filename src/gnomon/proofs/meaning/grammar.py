"""A small grammar of clauses: from the words of sentences to what they say."""

from collections.abc import Iterator

from gnomon.proofs.meaning.clauses import (
    UNNAMED,
    Context,
    PhrasePart,
    Step,
    Teller,
    Verb,
    at_time,
)
from gnomon.proofs.meaning.verbs import Verbs, tense_of
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
