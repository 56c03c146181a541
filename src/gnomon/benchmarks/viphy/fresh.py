"""Fresh colours and elevations for ViPhy's questions, from our own tables."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, combinations, permutations, product
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.objects import Namesakes
from gnomon.benchmarks.offering import offered
from gnomon.benchmarks.viphy.files import Colours, SizeComparison
from gnomon.benchmarks.viphy.items import color_item, pair_item, prompt_of, types, with_levels
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.records import Item
from gnomon.vision.knowledge import COLOURS

# Fresh colours for ViPhy's questions, from our own table of things and their usual colours.
#
# Every colour is right equally often, so no constant answer pays.


ARTICLES = ("a ", "an ", "the ")


class ColouredThing(NamedTuple):
    """A thing as it stands in a sentence ("an almond", "milk"), and the colours that are right."""

    phrase: str
    colours: Sequence[str]

    @property
    def name(self) -> str:
        """What it is called, without an article.

        >>> ColouredThing("an almond", ["brown"]).name
        'almond'
        """
        for article in ARTICLES:
            if self.phrase.startswith(article):
                return self.phrase.removeprefix(article)
        return self.phrase


def fresh_color(
    *, seed: int = 0, each: int = 80, prompt: str = "cloze", options: str = ""
) -> Iterator[Item]:
    """Things with their usual colours, every colour right equally often.

    seed    draws the things
    each    for how many things each colour is right; 0 asks about every thing there is, and then
            some colours are right more often than others
    prompt  how to ask, as in Table 2: cloze, question or finetune
    options  2 to 8, or a range such as 2-4: offer so many of the colours, one of them right, one
            item for each number
    """
    chosen = prompt_of("color", prompt, fresh=True)
    items = []
    for thing in drawn_things(seed, each):
        shares = dict.fromkeys(thing.colours, 1 / len(thing.colours))
        items.append(color_item(Colours(thing.name, shares), chosen, {}, thing.phrase))
    yield from offered(items, options)


def drawn_things(seed: int, each: int) -> list[ColouredThing]:
    """Things in random order, with every colour right for EACH of them; all things if 0."""
    if each < 0:
        raise UsageError(f"{each} is not a number of things.", "Give one or more, or 0 for all.")
    draw = Random(f"{seed}/colour")
    things = read_things()
    draw.shuffle(things)
    if each == 0:
        return things

    single, several = _divided(things)
    chosen: list[ColouredThing] = []
    taken: Counter[str] = Counter()
    # things of rare colours first: there may be too few that have no other colour
    several.sort(key=lambda thing: min(len(single[colour]) for colour in thing.colours))
    for thing in several:
        room_left = min(_most(each, single[colour]) - taken[colour] for colour in thing.colours)
        if room_left > 0:
            chosen.append(thing)
            taken.update(thing.colours)
    for colour, found in single.items():
        missing = each - taken[colour]
        if missing > len(found):
            hint = "Ask for fewer, or for every thing with each=0."
            raise UsageError(f"There are too few {colour} things for each={each}.", hint)
        chosen += found[:missing]
    draw.shuffle(chosen)
    return chosen


def _divided(
    things: Sequence[ColouredThing],
) -> tuple[dict[str, list[ColouredThing]], list[ColouredThing]]:
    """Things of one colour by colour, and those of several."""
    single: dict[str, list[ColouredThing]] = {colour: [] for colour in COLOURS}
    several = []
    for thing in things:
        if len(thing.colours) == 1:
            single[thing.colours[0]].append(thing)
        else:
            several.append(thing)
    return single, several


def _most(each: int, single: Sequence[ColouredThing]) -> int:
    """How many things of several colours may be of this one: half, or more if it is rare."""
    return max(each // 2, each - len(single))


def read_things() -> list[ColouredThing]:
    """All things of our table."""
    table: dict[str, list[str]] = read_yaml(package_data("viphy/typical_colours.yaml"))
    several: Mapping[str, Sequence[str]] = table.pop("several")  # type: ignore[assignment]
    things = [ColouredThing(phrase, colours) for phrase, colours in several.items()]
    for colour, phrases in table.items():
        for phrase in phrases:
            things.append(ColouredThing(phrase, [colour]))
    return things


# Fresh elevations for ViPhy's questions, from the heights at which things are in a room.
#
# Items come in towers: two things at one height, two at a clearly lower one and two at a clearly
# higher one, in one room. A tower asks of its three level pairs and of six others, both ways
# round: every label is right equally often, and nothing that is asked about is always above or
# below.


Span = Sequence[float]  # lowest and highest point
Rooms = Mapping[str, Mapping[str, Span]]
# Centimetres between the top of one thing and the foot of another that is clearly higher.
GAP = 25
# Centimetres: level things stand on one surface (or hang from one), and are about equally tall.
SAME_SURFACE = 2
SAME_EXTENT = 12
MOST_USES = 12  # towers of a room that one of its things may be in
LEAN = 4  # by how many pairs the longer name may be the higher one more often than the lower one
SMALL_WORDS = {"of"}


class _Question(NamedTuple):
    """Two things of a room: the first is level with the second, or clearly higher."""

    room: str
    first: str
    second: str
    label: str

    @property
    def leaning(self) -> int:
        """1 if the higher thing has the longer name, -1 if it has the shorter one, else 0."""
        if self.label == "=":
            return 0
        longer, shorter = len(self.first) > len(self.second), len(self.first) < len(self.second)
        return longer - shorter


class Level(NamedTuple):
    """Two level things of a room: the height of their feet and tops, the words of their names."""

    question: _Question
    foot: float
    top: float
    words: frozenset[str]

    @property
    def things(self) -> tuple[str, str]:
        """The names of the two."""
        return self.question.first, self.question.second


def fresh_spatial(
    *, seed: int = 0, blocks: int = 60, prompt: str = "cloze", levels: int = 3, options: str = ""
) -> Iterator[Item]:
    """Everyday things in many kinds of room, every label right equally often.

    seed    draws the blocks
    blocks  how many at most, 0 for all; each makes eighteen items about six things
    prompt  how to ask, as in Table 2: cloze, question or finetune
    levels  2 drops the pairs that are level; else 3
    options  2, 3 or 2-3: offer so many of the labels, one item for each number
    """
    chosen = with_levels(prompt_of("spatial", prompt, fresh=True), levels)
    kin = Namesakes(chain.from_iterable(rooms().values()))
    for row in elevations(seed, blocks):
        if set(row.typical) <= set(chosen.labels):
            item = pair_item("spatial", row, chosen, types(row.first, row.second, kin))
            yield from offered([item], options)


def elevations(seed: int, blocks: int) -> list[SizeComparison]:
    """Pairs of things in a room, each both ways round, with every label right equally often."""
    if blocks < 0:
        raise UsageError(f"{blocks} is not a number of blocks.", "Give one or more, or 0 for all.")
    rows = []
    draw = _Draw(rooms(), Random(f"{seed}/elevation"))
    for room, first, second, label in draw.questions(blocks):
        back = "<" if label == ">" else label
        rows.append(SizeComparison(first, second, {}, (label,), room))
        rows.append(SizeComparison(second, first, {}, (back,), room))
    return rows


@cache
def rooms() -> Rooms:
    """The heights of things in each kind of room."""
    found: Rooms = read_yaml(package_data("viphy/elevations.yaml"))
    return found


def relation_of(a: Span, b: Span) -> str:
    """ ">" if a is clearly above b, "=" if they are level, "" if it depends on how one looks.

    Stricter than the paper (appendix A.3: the lowest point above the other's centre), so that no
    label is in doubt: whether a bowl is above the table that it stands on is not asked.

    >>> relation_of([90, 110], [0, 60]), relation_of([90, 110], [90, 115])
    ('>', '=')
    """
    if a[0] - b[1] >= GAP:
        return ">"
    if b[0] - a[1] >= GAP:
        return "<"
    nearer, further = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    if nearer <= SAME_SURFACE and further <= SAME_EXTENT:
        return "="
    return ""


class _Draw:
    """Draws towers, and remembers what was asked.

    No pair is asked twice, every thing is used once before any is used again (by room), and the
    longer name is the higher thing's as often as the lower's.
    """

    def __init__(self, rooms: Rooms, draw: Random) -> None:
        self.draw = draw
        self.levels = _level_pairs(rooms)
        self.above: defaultdict[_Question, list[Level]] = defaultdict(list)
        self.below: defaultdict[_Question, list[Level]] = defaultdict(list)
        for higher, lower in _stacked(self.levels):
            self.above[lower.question].append(higher)
            self.below[higher.question].append(lower)
        self.asked: set[_Question] = set()
        self.uses: Counter[tuple[str, str]] = Counter()  # of a thing in a room
        self.lean = 0

    def questions(self, towers: int) -> list[_Question]:
        """Those of so many towers, of all there are if 0."""
        middles = self.draw.sample(self.levels, len(self.levels))
        questions: list[_Question] = []
        drawn = 0
        for limit in range(1, MOST_USES + 1):
            middles.sort(key=self._most_used)
            for middle in middles:
                tower = self._tower(middle, limit)
                if not tower:
                    continue
                questions += tower
                drawn += 1
                if drawn == towers:
                    return questions
        return questions

    def _tower(self, middle: Level, limit: int) -> list[_Question]:
        """The questions of a tower with this pair in the middle; none if there is no such tower."""
        if not self._is_free(middle, limit):
            return []
        upper = self._storey(middle, self.above[middle.question], limit)
        lower = self._storey(middle, self.below[middle.question], limit)
        if not upper or not lower:
            return []
        tower = [middle.question, *upper, *lower]
        for question in tower:
            self._take(question)
        return tower

    def _storey(self, middle: Level, others: Sequence[Level], limit: int) -> list[_Question]:
        """A question about one of the other pairs, and three about it and the middle.

        Three of four, so that a tower has twice as many of these as of level ones.
        """
        free = [other for other in others if self._is_free(other, limit)]
        for other in self.draw.sample(free, len(free)):
            between = self.draw.sample(_between(middle, other), 3)
            if self._fit(between):
                return [other.question, *between]
        return []

    def _most_used(self, pair: Level) -> int:
        return max(self.uses[pair.question.room, thing] for thing in pair.things)

    def _is_free(self, pair: Level, limit: int) -> bool:
        return pair.question not in self.asked and self._most_used(pair) < limit

    def _fit(self, questions: Iterable[_Question]) -> bool:
        lean = self.lean + sum(question.leaning for question in questions)
        return abs(lean) <= LEAN and self.asked.isdisjoint(questions)

    def _take(self, question: _Question) -> None:
        self.asked.add(question)
        self.lean += question.leaning
        if question.label == "=":  # each thing of a tower is in one of these
            self.uses[question.room, question.first] += 1
            self.uses[question.room, question.second] += 1


def _level_pairs(rooms: Rooms) -> list[Level]:
    pairs = []
    for room, things in rooms.items():
        for a, b in combinations(things, 2):
            if relation_of(things[a], things[b]) != "=" or not _words(a).isdisjoint(_words(b)):
                continue
            foot, top = min(things[a][0], things[b][0]), max(things[a][1], things[b][1])
            pairs.append(Level(_Question(room, a, b, "="), foot, top, _words(a) | _words(b)))
    return pairs


def _stacked(levels: Sequence[Level]) -> Iterator[tuple[Level, Level]]:
    """Pairs of level things of one room, the first clearly higher; no two names share a word."""
    rooms: defaultdict[str, list[Level]] = defaultdict(list)
    for pair in levels:
        rooms[pair.question.room].append(pair)
    for pairs in rooms.values():
        for higher, lower in permutations(pairs, 2):
            if higher.foot - lower.top >= GAP and higher.words.isdisjoint(lower.words):
                yield higher, lower


def _between(one: Level, other: Level) -> list[_Question]:
    higher, lower = sorted((one, other), key=lambda pair: pair.foot, reverse=True)
    room = one.question.room
    return [_Question(room, a, b, ">") for a, b in product(higher.things, lower.things)]


def _words(name: str) -> frozenset[str]:
    return frozenset(name.split()) - SMALL_WORDS
