"""Fresh colours for ViPhy's questions, from a list of undisputed ones.

No colour is right more often than another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from gnomon.benchmarks.viphy.files import Colours
from gnomon.benchmarks.viphy.items import color_item, prompt_of
from gnomon.files import package_data, read_yaml
from gnomon.records import Item
from gnomon.vision.knowledge import COLOURS

EACH_COLOUR = 20  # objects for which a colour is right


def fresh_color(*, seed: int = 0, prompt: str = "cloze") -> Iterator[Item]:
    """About 170 objects of undisputed colour, every colour right equally often.

    seed    draws the objects
    prompt  how to ask, as in Table 2: cloze, question or finetune
    """
    chosen = prompt_of("color", prompt, fresh=True)
    for row in object_colours(seed):
        yield color_item(row, chosen, {})


def object_colours(seed: int) -> list[Colours]:
    """Objects with their colours, every colour right for as many: no constant answer pays."""
    table: dict[str, list[str]] = read_yaml(package_data("viphy/typical_colours.yaml"))
    several: Mapping[str, Sequence[str]] = table.pop("several")  # type: ignore[assignment]
    draw = Random(f"{seed}/colour")
    chosen: dict[str, Sequence[str]] = {}
    taken: Counter[str] = Counter()
    for name in draw.sample(sorted(several), len(several)):
        if all(taken[colour] < EACH_COLOUR // 2 for colour in several[name]):
            chosen[name] = several[name]
            taken.update(several[name])
    for colour in COLOURS:
        names = draw.sample(sorted(table[colour]), EACH_COLOUR - taken[colour])
        chosen |= dict.fromkeys(names, (colour,))

    rows = []
    for name in draw.sample(sorted(chosen), len(chosen)):
        colours = sorted(chosen[name], key=COLOURS.index)
        rows.append(Colours(name, dict.fromkeys(colours, 1 / len(colours))))
    return rows
