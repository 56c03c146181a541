"""Fresh colours for ViPhy's questions, from our own table of things and their usual colours.

Every colour is right equally often, so no constant answer pays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from gnomon.benchmarks.viphy.files import Colours
from gnomon.benchmarks.viphy.items import color_item, prompt_of
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.records import Item
from gnomon.vision.knowledge import COLOURS

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


def fresh_color(*, seed: int = 0, each: int = 80, prompt: str = "cloze") -> Iterator[Item]:
    """Things with their usual colours, every colour right equally often.

    seed    draws the things
    each    for how many things each colour is right; 0 asks about every thing there is, and then
            some colours are right more often than others
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("color", prompt, fresh=True)
    for thing in drawn_things(seed, each):
        shares = dict.fromkeys(thing.colours, 1 / len(thing.colours))
        yield color_item(Colours(thing.name, shares), chosen, {}, thing.phrase)


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
