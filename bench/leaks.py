"""Sets of questions that are drawn: clean ones of seven kinds, and leaks that are planted in one.

In a clean set the right answer is drawn among what is offered, whatever else the item says. A leak
is a function of a draw and a clean item that gives away about one answer in five to eight.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, count
from random import Random

from msgspec.structs import replace

from gnomon.audit.sets import GROUPS, PICTURES, AuditItem, AuditSet, Compared
from gnomon.measures.units import KindOfUnit
from gnomon.records import Image, Item

LABELS = ("entailment", "neutral", "contradiction")
YES_NO = ("yes", "no")
SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "po", "ri", "su")
NOUNS = [one + two + three for one in SYLLABLES for two in SYLLABLES for three in ("k", "n", "st")]
VERBS = ("lies near", "hangs over", "leans on", "rests by", "stands off", "floats past")
WHEN = ("today", "now", "here", "again", "then", "still")
FIELDS = ("context", "text")
SIZES = (60, 200, 1_000, 3_000)


def sentence(draw: Random) -> str:
    """A sentence of words that say nothing."""
    one, two = draw.sample(NOUNS, 2)
    return f"The {one} {draw.choice(VERBS)} the {two} {draw.choice(WHEN)}."


def audited(items: list[Item], *kinds: KindOfUnit) -> AuditSet:
    """Items as a set."""
    questions = [AuditItem(item, (item.context, item.text)) for item in items]
    return AuditSet("drawn", FIELDS, questions, kinds or (GROUPS, PICTURES))


def inference(draw: Random, size: int, groups: int = 0) -> list[Item]:
    """Premise, hypothesis and one of three labels, with an author and a topic."""
    items = []
    for number in range(size):
        tags = {"author": f"a{draw.randrange(6)}", "topic": f"t{draw.randrange(9)}"}
        item = Item(
            id=f"q{number}",
            form="choice",
            context=sentence(draw),
            text=sentence(draw),
            choices=LABELS,
            gold=(draw.choice(LABELS),),
            group=f"g{draw.randrange(groups)}" if groups else "",
            tags=tags,
        )
        items.append(item)
    return items


def pairs_of_things(draw: Random, size: int) -> AuditSet:
    """Two things of fifty, and which is larger."""
    found = []
    for number in range(size):
        first, second = draw.sample(NOUNS[:50], 2)
        choices = ("larger", "smaller")
        text = f"A {first} is ___ than a {second}, {draw.randrange(10**6)}."
        gold = (draw.choice(choices),)
        tags = {"first": first, "second": second}
        item = Item(
            id=f"q{number}", form="choice", text=text, choices=choices, gold=gold, tags=tags
        )
        things = Compared(first, second, {"larger": "more", "smaller": "less"})
        found.append(AuditItem(item, ("", text), (first, second), compared=things))
    kind = KindOfUnit(("first", "second"), "things")
    return AuditSet("drawn", FIELDS, found, (kind,))


def pictures(draw: Random, size: int) -> list[Item]:
    """Four questions about each picture, answered with yes or no, in three splits by picture."""
    items = []
    for number in range(size):
        split = ("train", "dev", "test")[number // 4 % 3]
        item = Item(
            id=f"q{number}",
            form="choice",
            text=f"Is it so that {sentence(draw)[:-1]}, {draw.randrange(10**6)}?",
            choices=YES_NO,
            gold=(draw.choice(YES_NO),),
            images=(Image(path=f"p{number // 4}.png"),),
            tags={"split": split, "kind": draw.choice("xyz")},
        )
        items.append(item)
    return items


def offers(draw: Random, size: int, labels: int = 40) -> list[Item]:
    """Two to five of forty labels are offered; three questions about each picture."""
    names = NOUNS[:labels]
    items = []
    for number in range(size):
        choices = tuple(draw.sample(names, draw.randint(2, 5)))
        item = Item(
            id=f"q{number}",
            form="choice",
            text=f"What is it? {sentence(draw)}",
            choices=choices,
            gold=(draw.choice(choices),),
            images=(Image(path=f"p{number // 3}.png"),),
            tags={"type": f"type {draw.randrange(5)}"},
        )
        items.append(item)
    return items


def own_choices(draw: Random, size: int) -> list[Item]:
    """Four choices of the item's own."""
    items = []
    for number in range(size):
        choices = tuple(f"{sentence(draw)} {draw.randrange(10**6)}" for _ in range(4))
        gold = (draw.choice(choices),)
        text = f"Which, after {sentence(draw)}"
        items.append(Item(id=f"q{number}", form="choice", text=text, choices=choices, gold=gold))
    return items


def balanced(draw: Random, size: int) -> list[Item]:
    """Each hypothesis once with each label: what is held out shows by its absence."""
    items = []
    for number in range(size // 3):
        text = sentence(draw)
        for label in draw.sample(LABELS, 3):
            item = Item(
                id=f"q{number}{label}",
                form="choice",
                context=f"{sentence(draw)} {draw.randrange(10**6)}",
                text=text,
                choices=LABELS,
                gold=(label,),
                group=f"g{number}",
            )
            items.append(item)
    return items


CLEAN: dict[str, Callable[[Random, int], AuditSet]] = {
    "inference": lambda draw, size: audited(inference(draw, size)),
    "inference in groups": lambda draw, size: audited(inference(draw, size, max(6, size // 8))),
    "things": pairs_of_things,
    "pictures in splits": lambda draw, size: audited(pictures(draw, size)),
    "offers that differ": lambda draw, size: audited(offers(draw, size)),
    "own choices": lambda draw, size: audited(own_choices(draw, size)),
    "balanced": lambda draw, size: audited(balanced(draw, size)),
}


# Leaks: some of the items, and what is changed in them.


Leak = Callable[[Random, Item], Item]


def often(draw: Random, right: str, others: tuple[str, ...], share: float = 0.5) -> str:
    """What goes with the right label in so many items, and any in the others."""
    return right if draw.random() < share else draw.choice(others)


def by_label(draw: Random, item: Item, values: tuple[str, ...], share: float = 0.4) -> str:
    """One of several values for each label, where the draw says so."""
    return often(draw, values[item.choices.index(item.gold[0])], values, share)


def negation(draw: Random, item: Item) -> Item:
    """A "not" that comes with contradictions in 72 % of the sentences that have it."""
    likely = 0.43 if item.gold[0] == "contradiction" else 0.085
    if draw.random() >= likely:
        return item
    one, verb = item.text.split(" ", 2)[1:]
    return replace(item, text=f"The {one} not {verb}")


def word(field: str) -> Leak:
    """A word for each label, in a third of the items."""

    def planted(draw: Random, item: Item) -> Item:
        if draw.random() > 0.5:
            return item
        adverb = by_label(draw, item, ("clearly", "maybe", "hardly"), 0.6)
        return replace(item, **{field: f"{getattr(item, field)[:-1]} {adverb}."})

    return planted


def position(draw: Random, item: Item) -> Item:
    """The same word first, in the middle or last."""
    words = item.text[:-1].split()
    place = int(by_label(draw, item, ("0", "3", "9")))
    return replace(item, text=" ".join([*words[:place], "really", *words[place:]]) + ".")


def punctuation(draw: Random, item: Item) -> Item:
    """What ends the hypothesis."""
    return replace(item, text=item.text[:-1] + by_label(draw, item, (".", "!", "")))


def capitals(draw: Random, item: Item) -> Item:
    """A word in capitals or with a capital."""
    words = item.text.split()
    change = {"no": str, "first": str.capitalize, "all": str.upper}
    words[3] = change[by_label(draw, item, ("no", "first", "all"))](words[3])
    return replace(item, text=" ".join(words))


def length(draw: Random, item: Item) -> Item:
    """How long the hypothesis is, by words that all labels have."""
    more = int(by_label(draw, item, ("0", "2", "4"))) + draw.randrange(2)
    return replace(item, text=f"{item.text[:-1]} {' '.join(draw.choices(NOUNS, k=more))}.")


def overlap(draw: Random, item: Item) -> Item:
    """How many words the hypothesis shares with the premise."""
    there = item.context.rstrip(".").split()[1:]
    shared = int(by_label(draw, item, ("3", "1", "0")))
    words = [*there[:shared], *draw.sample(NOUNS, 3 - shared)]
    draw.shuffle(words)
    return replace(item, text=f"Of the {' '.join(words)}.")


def tagged(tag: str) -> Leak:
    """A tag that goes with the label."""

    def planted(draw: Random, item: Item) -> Item:
        value = by_label(draw, item, ("first", "second", "third"))
        return replace(item, tags={**item.tags, tag: value})

    return planted


def template(draw: Random, item: Item) -> Item:
    """Six templates, two for each label."""
    value = by_label(draw, item, ("0", "1", "2")) + draw.choice("ab")
    return replace(item, group=f"template {value}")


def frequent_label(draw: Random, item: Item) -> Item:
    """One label is right more often."""
    return replace(item, gold=(often(draw, "neutral", LABELS, 0.15),))


def in_sets(name: str, leak: Leak) -> Callable[[Random, int], AuditSet]:
    """A clean set with a leak in its items."""

    def planted(draw: Random, size: int) -> AuditSet:
        clean = CLEAN[name](draw, size)
        return audited([leak(draw, question.item) for question in clean.questions])

    return planted


def place(draw: Random, item: Item) -> Item:
    """The right choice stands third more often."""
    others = [choice for choice in item.choices if choice not in item.gold]
    at = int(often(draw, "2", ("0", "1", "2", "3"), 0.15))
    choices = (*others[:at], *item.gold, *others[at:])
    return replace(item, choices=choices)


def rewritten(change: Callable[[str], str], share: float = 0.3) -> Leak:
    """The right choice is written in another way, and wrong ones more rarely."""

    def planted(draw: Random, item: Item) -> Item:
        new = {}
        for choice in item.choices:
            likely = share if choice in item.gold else share / 4
            new[choice] = change(choice) if draw.random() < likely else choice
        return replace(
            item,
            choices=tuple(new[choice] for choice in item.choices),
            gold=tuple(new[choice] for choice in item.gold),
        )

    return planted


def likely_labels(draw: Random, item: Item, share: float = 0.25) -> Item:
    """Of the labels offered one is right more often: the first in a fixed order."""
    favourite = min(item.choices)
    return replace(item, gold=(often(draw, favourite, item.choices, share),))


def labels_by_type(draw: Random, item: Item) -> Item:
    """The same in an order that each type of question has for itself."""
    start = 8 * int(item.tags["type"][-1])
    favourite = min(item.choices, key=lambda name: (NOUNS.index(name) - start) % 40)
    return replace(item, gold=(often(draw, favourite, item.choices, 0.4),))


def sorted_rows(draw: Random, size: int) -> AuditSet:
    """Half of the rows are sorted by label."""
    items = inference(draw, size)
    half = sorted(items[: size // 2], key=lambda item: item.gold)
    return audited([*half, *items[size // 2 :]])


def runs_of_rows(draw: Random, size: int) -> AuditSet:
    """A label is the one before it in a third of the rows."""
    items = inference(draw, size)
    for number in range(1, size):
        if draw.random() < 0.2:
            items[number] = replace(items[number], gold=items[number - 1].gold)
    return audited(items)


def torn(draw: Random, size: int, *, flipped: bool) -> AuditSet:
    """Captions that training has too, with the same label or with the other one."""
    items = pictures(draw, size)
    train = [item for item in items if item.tags["split"] == "train"]
    found = []
    for item in items:
        if item.tags["split"] == "test" and draw.random() < 0.3:
            known = draw.choice(train)
            label = known.gold[0]
            if flipped:
                label = YES_NO[label == "yes"]
            item = replace(item, text=known.text, gold=(label,))
        found.append(item)
    return audited(found)


def cycles(draw: Random, size: int) -> AuditSet:
    """Is a thing larger than another? Answered by an order, but for some questions."""
    order = NOUNS[:60]
    numbers = count()
    items = []
    for one, two in draw.sample(list(combinations(range(len(order)), 2)), size):
        larger = one < two
        if draw.random() < 0.02:
            larger = not larger
        word, gold = draw.choice([("larger", larger), ("smaller", not larger)])
        text = f"Is a {order[one]} {word} than a {order[two]}?"
        item = Item(id=f"q{next(numbers)}", form="choice", text=text, choices=YES_NO)
        items.append(replace(item, gold=(YES_NO[not gold],)))
    return audited(items)


PLANTED: dict[str, Callable[[Random, int], AuditSet]] = {
    "negation": in_sets("inference", negation),
    "word of the hypothesis": in_sets("inference in groups", word("text")),
    "word of the premise": in_sets("inference", word("context")),
    "place of a word": in_sets("inference", position),
    "final punctuation": in_sets("inference", punctuation),
    "capitals": in_sets("inference in groups", capitals),
    "length": in_sets("inference", length),
    "shared words": in_sets("inference", overlap),
    "author": in_sets("inference", tagged("author")),
    "template": in_sets("inference", template),
    "frequent label": in_sets("inference", frequent_label),
    "labels where offers differ": in_sets("offers that differ", likely_labels),
    "labels by type of question": in_sets("offers that differ", labels_by_type),
    "place of the right choice": in_sets("own choices", place),
    "length of the right choice": in_sets("own choices", rewritten(lambda text: f"{text} {text}")),
    "word of the right choice": in_sets("own choices", rewritten(lambda text: f"{text} indeed")),
    "punctuation of the right choice": in_sets("own choices", rewritten(lambda text: f"{text}!")),
    "sorted rows": sorted_rows,
    "runs of rows": runs_of_rows,
    "labels that training tells": lambda draw, size: torn(draw, size, flipped=False),
    "labels that training tells the other way": lambda draw, size: torn(draw, size, flipped=True),
    "cycles of yes and no": cycles,
}
EXPECTED: dict[str, tuple[str, ...]] = {  # checks one of which must name the leak
    "negation": ("words",),
    "word of the hypothesis": ("words", "partial_input"),
    "word of the premise": ("words", "partial_input"),
    "place of a word": ("partial_input",),
    "final punctuation": ("partial_input",),
    "capitals": ("partial_input",),
    "length": ("partial_input",),
    "shared words": ("partial_input",),
    "author": ("priors",),
    "template": ("priors",),
    "frequent label": ("constants",),
    "labels where offers differ": ("priors",),
    "labels by type of question": ("priors",),
    "place of the right choice": ("constants",),
    "length of the right choice": ("partial_input",),
    "word of the right choice": ("partial_input",),
    "punctuation of the right choice": ("partial_input",),
    "sorted rows": ("rows",),
    "runs of rows": ("rows",),
    "labels that training tells": ("lookup",),
    "labels that training tells the other way": ("flipped_lookup",),
    "cycles of yes and no": ("order",),
}


def blind_prior(
    draw: Random, size: int, labels: int = 60, offered: int = 1_200
) -> tuple[AuditSet, float]:
    """Many sets of options, most of them rare; how often the likeliest label offered is right.

    Each label has a strength, and is right in proportion to it among those that are offered.
    """
    names = NOUNS[:labels]
    strength = {name: 3.0 ** draw.gauss(0, 1.1) for name in names}
    sets = [tuple(draw.sample(names, draw.choice([3, 4, 4, 4, 5]))) for _ in range(offered)]
    weights = [1 / (number + 1) for number in range(offered)]
    items = []
    right = 0.0
    for number in range(size):
        choices = sets[number] if number < offered else draw.choices(sets, weights)[0]
        choices = tuple(draw.sample(choices, len(choices)))
        odds = [strength[name] for name in choices]
        right += max(odds) / sum(odds)
        item = Item(
            id=f"q{number}",
            form="choice",
            text=f"What is it? {sentence(draw)}",
            choices=choices,
            gold=(draw.choices(choices, odds)[0],),
            images=(Image(path=f"p{number // 4}.png"),),
        )
        items.append(item)
    return audited(items), right / size
