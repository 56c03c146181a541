"""From a row of ViPhy's knowledge and a prompt of the paper's Table 2 to an item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gnomon.benchmarks.objects import everyday_namesakes
from gnomon.benchmarks.viphy.files import Colours, SizeComparison, frequency_band
from gnomon.errors import UsageError, check_known
from gnomon.files import package_data, read_yaml
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity
from gnomon.records import Form, Item, digest
from gnomon.vision.knowledge import COLOURS

if TYPE_CHECKING:
    from gnomon.benchmarks.contrasts import BandedPair
    from gnomon.benchmarks.objects import Namesakes
    from gnomon.benchmarks.viphy.sizes import Chain

NO_TAGS: Mapping[str, str] = MappingProxyType({})
FORMS: dict[str, Form] = {"cloze": "cloze", "question": "choice", "finetune": "choice"}


class TablePrompt(NamedTuple):
    """One prompt of Table 2, with the words for its labels."""

    name: str
    text: str
    labels: Mapping[str, str]

    @property
    def form(self) -> Form:
        """How an item with this prompt is put."""
        return FORMS[self.name]


def prompt_of(task: str, name: str, *, fresh: bool = False) -> TablePrompt:
    """A prompt of a task (color, size, spatial): cloze, question or finetune.

    The published ones are kept as they are; a fresh one may have its English put right.
    """
    check_known("prompt", name, FORMS)
    table = read_yaml(package_data("viphy/prompts.yaml"))[task]
    own_names = {colour: colour for colour in COLOURS}
    labels = table.get(f"{name}_labels") or table.get("labels") or own_names
    text = table[name]
    if fresh:
        labels = table.get(f"fresh_{name}_labels", labels)
        text = table.get(f"fresh_{name}", text)
    return TablePrompt(name, text, labels)


def with_levels(prompt: TablePrompt, levels: int) -> TablePrompt:
    """The prompt with three levels, or with above and below only."""
    if levels not in (2, 3):
        hint = "Give 3 (above, level, below) or 2 (above, below)."
        raise UsageError(f"The option levels must be 2 or 3, not {levels}.", hint)
    if levels == 3:
        return prompt
    labels = dict(prompt.labels)
    del labels["="]
    return prompt._replace(labels=labels)


def color_item(
    row: Colours, prompt: TablePrompt, tags: Mapping[str, str], phrase: str = ""
) -> Item:
    """An object and its typical colours as an item; PHRASE is its name with an article."""
    return Item(
        id=f"{prompt.name}/{_slug(row.object)}",
        form=prompt.form,
        choices=COLOURS,
        text=_filled(prompt, COLOURS, object=row.object, phrase=phrase),
        gold=tuple(sorted(row.shares, key=COLOURS.index)),
        group=row.object,
        tags={"task": "color", "object": row.object, "cardinality": str(len(row.shares)), **tags},
    )


def pair_item(
    task: str,
    row: SizeComparison,
    prompt: TablePrompt,
    tags: Mapping[str, str],
    number: int | None = None,
) -> Item:
    """Two objects and their typical relations as an item; NUMBER tells repeated pairs apart."""
    choices = tuple(prompt.labels.values())
    scene = row.scene.replace("_", " ")
    more = {
        "task": task,
        "obj_a": row.first,
        "obj_b": row.second,
        "relation": ",".join(row.typical),
        "cardinality": str(len(row.typical)),
        **tags,
    }
    if scene:
        more["scene"] = scene
    if row.counts:
        more["frequency"] = frequency_band(sum(row.counts.values()))

    name = [prompt.name]
    if task == "spatial" and "=" not in prompt.labels:
        name.insert(0, "2-levels")  # another question: it has one choice less
    if number is not None:
        name.append(f"{number:05d}")
    pair = sorted((row.first, row.second))
    a_first = with_article(row.first)
    if scene:
        name.append(scene)
        pair.insert(0, scene)
    return Item(
        id=_slug("/".join((*name, row.first, row.second))),
        form=prompt.form,
        choices=choices,
        text=_filled(
            prompt,
            choices,
            first=row.first,
            second=row.second,
            scene=_in_scene(row),
            a_first=a_first,
            A_first=a_first[0].upper() + a_first[1:],
            a_second=with_article(row.second),
        ),
        gold=tuple(prompt.labels[label] for label in prompt.labels if label in row.typical),
        group=" / ".join(pair),
        tags=more,
    )


def contrast_items(
    task: str, contrast: BandedPair, prompt: TablePrompt, tags: Mapping[str, str] = NO_TAGS
) -> Iterator[Item]:
    """Two objects of our lexicon both ways round."""
    kin = everyday_namesakes()
    for first, second, label in _both_ways(contrast.lesser, contrast.greater):
        row = SizeComparison(first, second, {}, (label,))
        more = {"band": contrast.band, **tags, **types(first, second, kin)}
        yield pair_item(task, row, prompt, more)


def chain_items(chain: Chain, prompt: TablePrompt) -> Iterator[Item]:
    """The first and the last of three things both ways round, after the premises."""
    told = digest(chain.premises, digits=8)
    group = f"{chain.kind}: {chain.low} / {chain.middle} / {chain.high}"
    kin = everyday_namesakes()
    for first, second, label in _both_ways(chain.low, chain.high):
        row = SizeComparison(first, second, {}, (label,))
        tags = {"premises": chain.kind, "via": chain.middle, **types(first, second, kin)}
        item = pair_item("transitive", row, prompt, tags)
        yield msgspec.structs.replace(
            item, id=f"{item.id}/{told}", context=chain.premises, group=group
        )


def _both_ways(lesser: str, greater: str) -> tuple[tuple[str, str, str], ...]:
    return (lesser, greater, "<"), (greater, lesser, ">")


def _in_scene(row: SizeComparison) -> str:
    if row.counts:  # a published row: the authors' code asks "in a office", "in a living_room"
        return f"a {row.scene}"
    return with_article(row.scene.replace("_", " "))


def types(first: str, second: str, kin: Namesakes) -> dict[str, str]:
    """The families of two names: who trains on items holds these apart, as our baselines do.

    >>> types("golf ball", "wardrobe", everyday_namesakes())
    {'type_a': 'ball', 'type_b': 'wardrobe', 'families': 'ball, wardrobe'}
    """
    families = kin.family(first), kin.family(second)
    both = ", ".join(dict.fromkeys(sorted(families)))
    return {"type_a": families[0], "type_b": families[1], "families": both}


def with_article(name: str) -> str:
    """A name with "a" or "an".

    >>> with_article("orca"), with_article("used golf ball"), with_article("English walnut")
    ('an orca', 'a used golf ball', 'an English walnut')
    """
    return f"{indefinite_article(Entity(name))} {name}"


def _filled(prompt: TablePrompt, choices: Iterable[str], **parts: str) -> str:
    lettered = zip("abcdefghijk", choices, strict=False)
    shown = " ".join(f"({letter}) {choice}" for letter, choice in lettered)
    return prompt.text.format(choices=shown, **parts)


def _slug(text: str) -> str:
    return text.replace(" ", "_")
