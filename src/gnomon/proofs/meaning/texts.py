"""Texts to statements: premises and claims, sentence by sentence, over the names of one story."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import NamedTuple

from gnomon.proofs.meaning.clauses import (
    ClauseMeaning,
    Context,
    EitherMeaning,
    Sayings,
    StoryNames,
    Teller,
)
from gnomon.proofs.meaning.formulas import Formula, every
from gnomon.proofs.meaning.grammar import Parser
from gnomon.proofs.meaning.quantifiers import AGAINST, WAY, ways_of
from gnomon.proofs.meaning.relations.directions import COMPASS
from gnomon.proofs.meaning.stories import EARLIER, MOMENTS, NOW, START, SentenceReading, Story
from gnomon.proofs.meaning.vocabulary import (
    GrammarWords,
    NotUnderstoodError,
    grammar_words,
    is_number,
)
from gnomon.proofs.meaning.words import Words

MOST_WORDS = 80  # all ways to read a sentence are tried
PLACE = frozenset({"fixed", "ground", "hollow", "unsure"})
CHANGES = ("before(", "after(", "ever(", "midway(")
MOVING = ("after(", "changes_side(")  # told of an event
TURNING = ("turned(", "veers(")
HOLDING = ("inside(A, B)", "on(A, B)")  # what is in or on a thing goes with it
HEADINGS = ("facing(", "heads(", "heading(", "straight(", "turned(", "veers(", "sees(", "seen(")
HEADED = (*HEADINGS, "on_left(", "on_right(", "front(", "behind(")
PAST = ("was", "were", "did", "had")
LATER = ("then", "since")  # a sentence that begins so tells what came next
Kinds = Mapping[str, frozenset[str]]
Saying = ClauseMeaning | EitherMeaning


@dataclass(frozen=True)
class StatedText:
    """What premises and claims say, and of what kind those are whom they name."""

    premises: tuple[Sayings, ...]
    claims: tuple[Sayings, ...]
    kinds: Kinds

    def formulas(self, reading: SentenceReading) -> tuple[Story, list[Formula], list[Formula]]:
        """A story under a reading, with the formulas of premises and claims."""
        turning = _turning(self.premises)
        story = Story(self.kinds, reading, grammar_words().kinds_of_implied, turning)
        story.has_compass = _has_compass([*self.premises, *self.claims])
        story.moments = tuple(sorted({*MOMENTS, *_moments(self.premises)}))
        story.telling = True
        premises = [_formula(said, story) for said in self.premises]
        story.telling = False
        claims = [_formula(said, story) for said in self.claims]
        return story, premises, claims


def _turning(sentences: Sequence[Sayings]) -> set[str]:
    """Those whose heading is spoken of: their left and right are their own."""
    names: set[str] = set()
    for saying in chain.from_iterable(sentences):
        for way in _ways(saying):
            if _names(way.meaning, HEADINGS):
                names.update(name for name in way.fillers.values() if isinstance(name, str))
    return names


def _ways(saying: Saying) -> tuple[ClauseMeaning, ...]:
    """What is said, or one of which is said."""
    return saying.ways if isinstance(saying, EitherMeaning) else (saying,)


def _has_compass(sentences: Sequence[Sayings]) -> bool:
    for saying in chain.from_iterable(sentences):
        if any(_names(way.meaning, COMPASS) for way in _ways(saying)):
            return True
    return False


def _formula(said: Sayings, story: Story) -> Formula:
    return every(saying.formula(story) for saying in said)


def understood(
    premises: Sequence[list[list[str]]],
    claims: Sequence[list[list[str]]],
    kinds: Kinds,
    known: GrammarWords | None = None,
    *,
    free: bool = False,
) -> StatedText:
    """Premises and claims, each given as the words of its sentences, as statements."""
    known = known or grammar_words()
    names = StoryNames(kinds, known.kinds_of_implied)
    context = Context()
    told: list[Sayings] = []
    for number, sentences in enumerate(premises):
        others = [*premises[:number], *premises[number + 1 :]]
        teller = Teller(claim=False, shifted=any(map(_tells_later, others)))
        said: Sayings = ()
        for words in sentences:
            saying, context = _understood(Words(known, names, words), teller, context)
            said += saying
            context = context._replace(figure=_figure(saying, names) or context.figure)
        told.append(said)
    told = _in_order(told)
    if free and not any(map(_is_past, claims)):
        told = [tuple(map(_once, said)) for said in told]
    claimed: list[Sayings] = []
    teller = Teller(claim=True, shifted=any(map(_tells_change, told)))
    for sentences in claims:
        said = ()
        for words in sentences:
            said += _understood(Words(known, names, words), teller, context)[0]
        if not said:
            shown = " ".join(sentences[0]).replace("@", "")
            raise NotUnderstoodError(f"Nothing of '{shown}' is about where things are.", HINT)
        claimed.append(said)
    return StatedText(tuple(told), tuple(claimed), _with_places([*told, *claimed], kinds))


def _is_past(sentences: list[list[str]]) -> bool:
    return any(word in PAST for word in chain.from_iterable(sentences))


def _once(saying: Saying) -> Saying:
    """What was so and need not be so any more."""
    if isinstance(saying, ClauseMeaning) and saying.past and saying.at == NOW:
        return replace(saying, at=START)
    return saying


def _figure(said: Sayings, names: StoryNames) -> str:
    """The thing that a sentence was about; a person is called "he" or "she"."""
    for saying in said:
        figure = _ways(saying)[0].fillers.get("A")
        if isinstance(figure, str) and not names.is_a(figure, "person"):
            return figure
    return ""


# What comes before what: a premise that tells of a change comes after those before it.


class ToldChange(NamedTuple):
    """Whom a premise tells to have moved or turned, and how many changes of the same come later."""

    moved: set[str]
    turned: set[str]
    rank: int

    def ends(self, saying: ClauseMeaning) -> bool:
        """Whether something need not be so any more after it."""
        figure, ground = saying.fillers.get("A"), saying.fillers.get("B")
        if figure in self.moved:
            return True
        held = _names(saying.meaning, HOLDING) and not saying.denied
        if ground in self.moved and not held:
            return True
        return _names(saying.meaning, HEADED) and not self.turned.isdisjoint({figure, ground})


def _in_order(told: Sequence[Sayings]) -> list[Sayings]:
    """Premises with their moments, where later ones tell of changes.

    What is said to be so before a change goes on being so, unless it is changed.
    """
    found: list[Sayings] = []
    later: list[ToldChange] = []
    for said in reversed(told):
        moved, turned = _figures(said, MOVING), _figures(said, TURNING)
        placed: list[Saying] = []
        rank = 0
        if moved or turned:
            rank = max((_rank(saying, later) for saying in said), default=0)
            placed += [_told_at(saying, rank) for saying in said]
        else:
            for saying in said:
                placed += _lasting(saying, later)
        found.append(tuple(placed))
        if moved or turned:
            later.append(ToldChange(moved, turned, rank))
    return found[::-1]


def _rank(saying: Saying, later: Sequence[ToldChange]) -> int:
    """How many changes come after something was so and end it."""
    ranks = [0]
    for change in later:
        if any(map(change.ends, _ways(saying))):
            ranks.append(change.rank + 1)
    return max(ranks)


def _told_at(saying: Saying, rank: int) -> Saying:
    """Something said of the moment before so many changes."""
    if isinstance(saying, EitherMeaning):
        told = [_told_at(way, rank) for way in saying.ways]
        return EitherMeaning(tuple(way for way in told if isinstance(way, ClauseMeaning)))
    if saying.at not in (START, NOW):
        return saying
    return replace(saying, at=(NOW, START)[rank] if rank < 2 else EARLIER + rank - 2)


def _lasting(saying: Saying, later: Sequence[ToldChange]) -> Iterator[Saying]:
    """What a state says of the first moment, and of all others up to the change that ends it."""
    first = max((change.rank + 1 for change in later), default=0)
    if isinstance(saying, ClauseMeaning) and saying.meaning.startswith("before("):
        first = 0  # said of the start in any case
    is_timed = any(way.at != NOW for way in _ways(saying))
    last = first if is_timed else min(first, _rank(saying, later))
    if not first:
        yield saying
        return
    for rank in range(first, last - 1, -1):
        yield _told_at(saying, rank)


def _names(meaning: str, words: Sequence[str]) -> bool:
    """Whether a meaning speaks of one of some relations or times."""
    return any(word in meaning for word in words)


def _figures(said: Sayings, words: Sequence[str]) -> set[str]:
    """Those of whom a premise says something with one of some words."""
    found: set[str] = set()
    for saying in said:
        for way in _ways(saying):
            figure = way.fillers.get("A")
            if isinstance(figure, str) and _names(way.meaning, words):
                found.add(figure)
    return found


def _moments(premises: Sequence[Sayings]) -> set[int]:
    """The moments before the start of the story that premises tell of."""
    found = set()
    for saying in chain.from_iterable(premises):
        found |= {way.at for way in _ways(saying) if way.at >= EARLIER}
    return found


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
    ways = chain.from_iterable(map(_ways, said))
    return any(_names(way.meaning, CHANGES) for way in ways)


def _tells_later(sentences: list[list[str]]) -> bool:
    words = [*chain.from_iterable(sentences), ""]
    return words[0] in LATER or "has" in words or "have" in words


def _understood(words: Words, teller: Teller, context: Context) -> tuple[Sayings, Context]:
    if words.at(0) == "#":
        _, noun, rest, limit, *numbers = words.words
        meaning = f"count({noun!r}, {rest!r}, {limit!r}, {', '.join(numbers)})"
        return (ClauseMeaning(meaning, {}),), context
    if words.at(0) == WAY:
        return _one_of_ways(words, teller, context)
    if len(words) > MOST_WORDS:
        raise NotUnderstoodError(
            f"A sentence has {len(words)} words; {MOST_WORDS} are read at most.", "Divide it."
        )
    parser = Parser(words, teller)
    step = parser.parse(context)
    if step is not None:
        return step.said, step.context
    raise NotUnderstoodError(_complaint(words.words, parser.reached), HINT)


def _one_of_ways(words: Words, teller: Teller, context: Context) -> tuple[Sayings, Context]:
    """What a sentence says that stands for one way or another; some of them may be denied."""
    against: list[ClauseMeaning] = []
    choices: list[Sayings] = []
    for way in ways_of(words.words):
        denied = way[0] == AGAINST
        plain = Words(words.lexicon, words.names, way[1:] if denied else way)
        said, context = _understood(plain, teller, context)
        if not denied:
            choices.append(said)
            continue
        for saying in said:
            if isinstance(saying, EitherMeaning):
                raise NotUnderstoodError("A denial of one thing or another is not read.", HINT)
            against.append(replace(saying, denied=not saying.denied))
    found: list[Saying] = []
    for chosen in product(*choices):
        together = chain.from_iterable(map(_ways, chosen))
        found.append(EitherMeaning((*against, *together)))
    return tuple(found), context


HINT = "docs/proofs.md lists the words that are known; say it with these."


def _complaint(words: list[str], reached: int) -> str:
    shown = " ".join(words).replace("@", "").replace(" ,", ",").replace(" 's", "'s")
    strange = []
    for word in words:
        is_known = word in grammar_words().known or is_number(word)
        if not word.startswith("@") and not is_known:
            strange.append(f"'{word}'")
    if strange:
        return f"The lexicon does not have {', '.join(dict.fromkeys(strange))} (in: {shown})."
    rest = " ".join(words[reached:]).replace("@", "")
    return f"The grammar cannot read '{rest}' (in: {shown})."
