"""Verb phrases: being somewhere, going, putting, seeing somebody somewhere, or none of these."""

from collections.abc import Iterator, Sequence

from gnomon.proofs.meaning.clauses import (
    Context,
    Filler,
    Located,
    PhrasePart,
    Step,
    Teller,
    Verb,
    said_of,
)
from gnomon.proofs.meaning.vocabulary import Index
from gnomon.proofs.meaning.words import Places, Words, meaning_in

BE = {"is", "are", "was", "were", "been", "be", "being"}
HAVE = {"has", "have", "had"}
OTHER = {"does", "do", "did", "can", "could"}
DENIALS = {"not", "never"}
STOPS = ("", ",", "and", "but", "as", "while")
PARTICLES = set("down up away back along off lying standing deep behind stuck".split())
PRESENT = ("is", "are", "does", "do", "can", "stand", "lie", "hang", "live", "sit", "see")
DEGREES = ("very", "quite", "rather", "really", "so", "too", "dark", "light", "bright")
RESTING = ("under", "underneath", "beneath", "behind", "between", "beside", "next", "on")
LEADING = set("into onto out off to toward towards from away through past across along".split())
LEADING |= {"around", "over", "@"}
SOUGHT = ("for", "about", "mentioned")  # whom one asks for need not be where one asks
IS = {"is", "are", "was", "were"}


class Verbs:
    """Reads verb phrases from the words of a sentence."""

    def __init__(self, words: Words, places: Places, teller: Teller) -> None:
        self.words = words
        self.places = places
        self.teller = teller

    def phrase(self, step: Step) -> Iterator[Step]:
        """A verb with its auxiliaries and what belongs to it."""
        at, seen, denials = step.end, [], []
        while True:
            word = self.words.at(at)
            if word in DENIALS:
                denials.append(word)
            elif word == "cannot":
                denials.append("not")
                seen.append("can")
            elif word == "been" and self.words.at(at + 1) == "to":  # been to a place
                break
            elif word in BE | HAVE | OTHER:
                seen.append(word)
            else:
                break
            at += 1
        verb = Verb("", tense_of(seen or [self.words.at(at)]), bool(denials), "never" in denials)
        verb = verb._replace(was=seen[-1:] in (["was"], ["were"]))
        if seen and seen[-1] in HAVE:  # as a verb of its own: somebody has something somewhere
            own = verb._replace(tense=_tense_of_having(seen))
            yield from self.core(step._replace(end=at - 1), own)
        yield from self.core(step._replace(end=at), verb)
        if seen and seen[-1] in BE:
            yield from self._being(step._replace(end=at), verb)
            word = self.words.at(at)
            is_posture = word.endswith("ing") and word not in self.words.lexicon.known
            if is_posture and self.words.at(at + 1) not in LEADING:
                yield from self._being(step._replace(end=at + 1), verb)
            yield from self._described_as(step._replace(end=at), verb)
        if seen:
            yield from self._stripped(step._replace(end=at), verb)

    def _being(self, step: Step, verb: Verb) -> Iterator[Step]:
        """Somebody is somewhere."""
        verb = verb._replace(kind="be")
        context = step.context._replace(verb=verb)
        for located in self.places.all(step.end, context):
            said = self.teller.located(located, step.context.subject, verb)
            made = step.adding(said, located.end, located.context)
            yield from self._in_company(made, located, verb)
            yield made

    def _in_company(self, step: Step, located: Located, verb: Verb) -> Iterator[Step]:
        """Somebody is somewhere with somebody else, who is there, too."""
        if self.words.at(step.end) != "with" or verb.denied:
            return
        for names, end, context in self.words.noun_phrases(step.end + 1, step.context):
            yield step.adding(self.teller.located(located, names, verb), end, context)

    def _described_as(self, step: Step, verb: Verb) -> Iterator[Step]:
        """Somebody or something is red, old or heavy."""
        lexicon, at = self.words.lexicon, step.end
        while self.words.at(at) in DEGREES:
            at += 1
        word = self.words.at(at)
        is_adjective = word in lexicon.adjectives or word not in lexicon.known
        if not is_adjective or word[:1] == "@" or self.words.at(at + 1) not in STOPS:
            return
        meaning = f'fact(A, "{word}")'
        if word in lexicon.colours:
            meaning = f"coloured(A, {lexicon.colours.index(word)})"
        if not word.isalpha():
            return
        said = []
        for name in step.context.subject:
            said += self.teller.said(PhrasePart(meaning, {"A": name}), step.context, verb)
        yield step.adding(said, at + 1, step.context._replace(verb=verb))

    def _stripped(self, step: Step, verb: Verb) -> Iterator[Step]:
        """And somebody else is, or is not."""
        where = step.context.where
        if where is None or self.words.at(step.end) not in STOPS:
            return
        parts = tuple(part._replace(denied=False) for part in where.parts)
        located = where._replace(parts=parts, context=step.context)
        said = self.teller.located(located, step.context.subject, verb)
        yield step.adding(said, step.end, step.context)

    def core(self, step: Step, verb: Verb) -> Iterator[Step]:
        """A verb without its auxiliaries."""
        lexicon, words, context = self.words.lexicon, self.words, step.context
        yield from self._framed(step, verb)
        for end in words.ends(lexicon.moves, step.end, context):
            goes = words.at(step.end) in lexicon.goes
            moving = context._replace(verb=verb._replace(kind="move", arrives=goes))
            yield from self.along(Step(step.said, end, moving), context.subject)
        word, following = words.at(step.end), words.at(step.end + 1)
        if word.endswith("ed") and word not in lexicon.known and following in LEADING:
            moving = context._replace(verb=verb._replace(kind="move"))
            yield from self.along(Step(step.said, step.end + 1, moving), context.subject)
        for end in words.ends(lexicon.postures, step.end, context):
            yield from self._being(step._replace(end=end), verb)
        for end in words.ends(lexicon.puts, step.end, context):
            for names, after, later in words.noun_phrases(end, context, moved=True):
                putting = later._replace(verb=verb._replace(kind="put"))
                carried = words.at(step.end) in lexicon.carries and words.at(after) in (
                    "to",
                    "into",
                )
                movers = (*names, *context.subject) if carried else names
                yield from self.along(Step(step.said, after, putting), movers)
        for end in words.ends(lexicon.locates, step.end, context):
            yield from self._locating(step, end, verb)
        for end in words.ends(lexicon.opaque, step.end, context):
            speaking = context._replace(verb=verb._replace(kind="opaque"))
            yield from self.murmur(Step(step.said, end, speaking), end)

    def _framed(self, step: Step, verb: Verb) -> Iterator[Step]:
        """Clauses with a meaning of their own."""
        subject = step.context.subject
        if len(subject) > 1:
            together: dict[str, Filler] = {"ALL": subject, "A": subject[0], "B": subject[1]}
            yield from self._frames(self.words.lexicon.together, step, verb, [together])
        each: list[dict[str, Filler]] = [{"A": name} for name in subject]
        yield from self._frames(self.words.lexicon.frames, step, verb, each)

    def _frames(
        self, index: Index, step: Step, verb: Verb, people: list[dict[str, Filler]]
    ) -> Iterator[Step]:
        verb = verb._replace(kind="frame")
        for match in self.words.matches(index, step.end, step.context):
            referents = self.words.referents(step.context)
            later = self.places.found(match.context, match.phrase, match.fillers)
            later = later._replace(verb=verb)
            said = []
            for person in people:
                fillers = {**referents, **match.fillers, **person}
                meaning = meaning_in(match.phrase, step.context.setting)
                said += self.teller.said(PhrasePart(meaning, fillers), later, verb)
            yield step.adding(said, match.end, later)

    def _locating(self, step: Step, end: int, verb: Verb) -> Iterator[Step]:
        """Somebody sees, has or leaves somebody somewhere."""
        owner = step.context.subject
        for names, after, context in self.words.noun_phrases(end, step.context, moved=True):
            context = context._replace(verb=verb._replace(kind="locates", denied=False))
            for start in self._past(after, PARTICLES | IS):
                yield from self.placed(Step(step.said, start, context), names, owner)

    def placed(self, step: Step, names: tuple[str, ...], owner: tuple[str, ...]) -> Iterator[Step]:
        """Somebody, followed by a place."""
        verb = step.context.verb._replace(denied=False)
        for located in self.places.all(step.end, step.context, owner=owner):
            said = self.teller.located(located, names, verb)
            yield step.adding(said, located.end, located.context)

    def _past(self, start: int, skipped: set[str]) -> list[int]:
        """Where something may begin if some words before it are passed over."""
        starts = [start]
        while self.words.at(starts[-1]) in skipped and self.words.at(starts[-1] + 1) != "from":
            starts.append(starts[-1] + 1)
        return starts

    def along(self, step: Step, movers: tuple[str, ...]) -> Iterator[Step]:
        """The paths that somebody or something takes; what is put goes to a place."""
        for start in reversed(self._past(step.end, PARTICLES)):
            for made in self._path(step._replace(end=start), movers):
                yield from self._more_paths(made, movers, len(step.said))

    def _more_paths(self, step: Step, movers: tuple[str, ...], begun: int) -> Iterator[Step]:
        word = self.words.at(step.end)
        for made in self._path(step, movers):
            yield from self._more_paths(made, movers, begun)
        if word == "with":
            for names, end, context in self.words.noun_phrases(step.end + 1, step.context):
                taken = [said_of(saying, names[0]) for saying in step.said[begun:]]
                yield step.adding(taken, end, context)
        if word in ("and", ",", "then"):
            after = step.end + 1
            while self.words.at(after) in ("and", "then"):
                after += 1
            for made in self._path(step._replace(end=after), movers):
                yield from self._more_paths(made, movers, begun)
        yield step

    def _path(self, step: Step, movers: tuple[str, ...]) -> Iterator[Step]:
        verb, context = step.context.verb, step.context
        for match in self.words.matches(self.words.lexicon.paths, step.end, context):
            referents = self.words.referents(context)
            later = self.places.found(match.context, match.phrase, match.fillers)
            meaning = meaning_in(match.phrase, context.setting)
            if verb.arrives and isinstance(meaning, str):
                meaning = meaning.replace("reaches(", "enters(").replace("set_down(", "enters(")
            said = []
            for mover in movers:
                part = PhrasePart(meaning, {**referents, **match.fillers, "A": mover})
                said += self.teller.said(part, context, verb)
            yield step.adding(said, match.end, later)
        ends_there = verb.kind == "move" and self.words.at(step.end) in RESTING
        if verb.kind == "put" or ends_there:
            for located in self.places.all(step.end, context):
                said = self.teller.located(located, movers, verb)
                yield step.adding(said, located.end, located.context)

    def murmur(self, step: Step, at: int) -> Iterator[Step]:
        """The rest of a clause that says nothing of places; who is in it may be described."""
        word = self.words.at(at)
        if word in STOPS:
            yield step._replace(end=at)
            return
        sought = self.words.at(at - 1) in SOUGHT
        for names, end, context in self.words.noun_phrases(at, step.context, hole=True):
            if self.words.names.is_a(names[-1], "ground"):
                there = (self.places.there(names[-1]), names[-1])
                context = context._replace(grounds=(*context.grounds, *names), there=there)
            elif not sought:
                yield from self._described(step, names[-1:], end, context)
            yield from self.murmur(Step(step.said, end, context), end)
        if word != "with":
            for located in self.places.plain(at, step.context):
                after = Step(step.said, located.end, located.context)
                yield from self.murmur(after, located.end)
        if not word.startswith("@") and word in self.words.lexicon.known:
            yield from self.murmur(step, at + 1)

    def _described(
        self, step: Step, names: tuple[str, ...], end: int, context: Context
    ) -> Iterator[Step]:
        """Somebody, and where: the teacher on the roof."""
        if self.words.at(end) == "with":
            return
        for located in self.places.all(end, context):
            verb = context.verb._replace(denied=False)
            said = self.teller.located(located, names, verb)
            after = located.context._replace(mentioned=context.mentioned)
            yield from self.murmur(step.adding(said, located.end, after), located.end)


def _tense_of_having(seen: Sequence[str]) -> str:
    if len(seen) > 1:
        return tense_of(seen[:-1])
    return "past" if seen == ["had"] else "present"


def tense_of(words: Sequence[str]) -> str:
    """The tense that auxiliaries tell, or the verb itself."""
    if "has" in words or "have" in words:
        return "perfect"
    if any(word in PRESENT for word in words):
        return "present"
    verb = words[0] if words else ""
    if verb.endswith("s") and verb not in ("was", "does"):
        return "present"
    return "past"
