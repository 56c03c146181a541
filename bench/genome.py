"""A Visual Genome made up by rule: captions, boxes and sizes of pictures, the same for each seed.

Captions are drawn from a grammar over the nouns of the project's own tables, frequent and rare as
words are (Zipf), with plurals, parts, owners, counts, misspellings, and words that are a noun here
and a verb or adjective there. About two thirds of a million captions are different.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

DATA = Path(__file__).parents[1] / "src" / "gnomon" / "data"
COLOURS = "red orange yellow brown green blue purple pink white gray black tan beige silver".split()
ADJECTIVES = """large small big little tall short long wide narrow thick thin old new young dark light bright dirty clean wet
dry shiny rusty wooden metal plastic glass concrete brick stone leather striped spotted checkered round square oval flat
curved straight open closed empty full broken cracked parked painted folded stacked framed lit cloudy sunny grassy sandy
snowy leafy fluffy furry curly bald bearded smiling sliced cooked raw ripe fresh fried grilled baked chopped colorful
double single front back left right upper lower top bottom inner outer electric digital ornate decorative""".split()
VERBS = """standing sitting walking running wearing holding riding eating drinking looking watching playing hanging lying
leaning flying swimming jumping skiing surfing driving talking smiling carrying pulling pushing throwing catching hitting
swinging crossing reflecting growing covering facing showing pointing reading writing cutting grazing sleeping waiting
climbing floating sailing landing resting reaching touching using making cooking serving pouring""".split()
PREPOSITIONS = """on in under near beside behind above below at by with against over around along inside outside between
through across next_to in_front_of on_top_of""".split()
AMBIGUOUS = """light watch park stop play top back front orange glass metal brick stone water plant fly train ring block
cover dress drink drive fence fish handle harness iron lock mark mirror paint pitch plate plug rail rock roll row saddle
seat shade shadow shower sign slice smile snow spot stack stand step strap stripe surf switch tile tie track trim turn
wall walk wave whip wind yard clear cross cut""".split()
COMMON = """man woman person people child boy girl building tree window sky water shirt table grass ground sign cloud car
train plate dog giraffe bus cat snow street road pole leaf plane hair horse hand elephant head floor bird field clock boat
chair line door letter flower pizza sidewalk fence bench cow wheel pant truck shoe jacket wall fruit bag bowl bed hat
umbrella zebra roof ear eye leg tail nose foot arm face neck mouth mountain rock bush ball racket helmet glove board wave
beach ocean sand lamp pillow curtain counter sink toilet mirror shelf cabinet drawer handle box bottle cup glass fork knife
spoon napkin food cheese bread banana apple orange carrot broccoli cake""".split()
PARTS = """front back side top bottom edge corner part piece wheel door window handle roof leg tail head ear nose eye arm
wing seat cover lid base middle end pair bunch group row stack slice bowl plate cup""".split()
TEMPLATES = (
    (14, "D J N"),
    (8, "D N P D N"),
    (8, "N V P D N"),
    (6, "D N V D N"),
    (5, "D J N P D N"),
    (5, "D J C N"),
    (4, "C N P D N"),
    (4, "N is C"),
    (4, "the T of D N"),
    (3, "T of D C N"),
    (3, "N has J T"),
    (3, "D N has C N"),
    (3, "# Ns V P D N"),
    (3, "D J Ns P D J N"),
    (3, "D N 's C N"),
    (2, "N 's T"),
    (3, "C and C N"),
    (2, "D N V"),
    (3, "D N is V P D N"),
    (2, "there is D J N P D N"),
    (2, "Ns P D N"),
    (3, "N and N P D J N"),
    (3, "D A N P D N"),
    (2, "D A P D C N"),
    (2, "D N with D J N"),
    (2, "J N V C N"),
    (1, "# J Ns V D N P D J N"),
    (1, "D J J N V P D C N P D N"),
)


def nouns() -> list[str]:
    """Nouns of the project's tables, the common ones first: about three thousand."""
    found = dict.fromkeys(COMMON)
    files = [
        DATA / "objects.yaml",
        DATA / "viphy" / "subtypes.yaml",
        DATA / "viphy" / "elevations.yaml",
    ]
    files += sorted((DATA / "things").glob("*.yaml"))
    for file in files:
        text = re.sub(r"#.*", "", file.read_text(encoding="utf-8"))
        for name in re.findall(r"^ *([a-z][a-z -]{2,40}):", text, re.MULTILINE):
            found[name] = None
    text = re.sub(r"#.*", "", (DATA / "viphy" / "typical_colours.yaml").read_text(encoding="utf-8"))
    for name in re.findall(r"\b(?:an?|the) ([a-z][a-z -]{2,30})[,\]]", " ".join(text.split())):
        found[name] = None
    return [name for name in found if "of" not in name.split()]


class Captions:
    """Draws captions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._nouns = nouns()
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(len(self._nouns))))
        self._templates = list(accumulate(weight for weight, _ in TEMPLATES))

    def draw(self) -> str:
        """One caption."""
        rnd = self._random
        template = rnd.choices(TEMPLATES, cum_weights=self._templates)[0][1]
        words = [self._word(sign) for sign in template.split()]
        caption = " ".join(word for word in words if word).replace(" 's", "'s").replace("_", " ")
        if rnd.random() < 0.03:
            caption = _misspelt(caption, rnd)
        if rnd.random() < 0.2:
            caption = caption[:1].upper() + caption[1:] + ("." if rnd.random() < 0.5 else "")
        return caption

    def _word(self, sign: str) -> str:
        rnd = self._random
        lists = {
            "J": ADJECTIVES,
            "C": COLOURS,
            "V": VERBS,
            "P": PREPOSITIONS,
            "T": PARTS,
            "A": AMBIGUOUS,
        }
        if sign in lists:
            return rnd.choice(lists[sign])
        if sign == "D":
            return rnd.choice(("a", "the", "the", "a", "", "his"))
        if sign == "#":
            return rnd.choice(("two", "three", "several", "many", "some", "few"))
        if sign in ("N", "Ns"):
            noun = rnd.choices(self._nouns, cum_weights=self._weights)[0]
            return _plural(noun) if sign == "Ns" else noun
        return sign


def _plural(noun: str) -> str:
    irregular = {
        "man": "men",
        "woman": "women",
        "person": "people",
        "child": "children",
        "leaf": "leaves",
    }
    if noun in irregular:
        return irregular[noun]
    if noun.endswith(("s", "sh", "ch", "x")):
        return noun + "es"
    return noun + "s"


def _misspelt(caption: str, rnd: random.Random) -> str:
    place = rnd.randrange(len(caption))
    return caption[:place] + rnd.choice("abcdefghijklmnopqrstuvwxyz") + caption[place + 1 :]


def write(folder: Path, regions: int, seed: int = 0, each: int = 50) -> Iterator[str]:
    """Write region_descriptions.json and image_data.json; yields the captions."""
    rnd, captions = random.Random(seed + 1), Captions(seed)
    descriptions = (folder / "region_descriptions.json").open("w", encoding="utf-8")
    sizes = (folder / "image_data.json").open("w", encoding="utf-8")
    with descriptions, sizes:
        descriptions.write("[")
        sizes.write("[")
        for number in range(1, regions // each + 1):
            width, height = rnd.choice(((800, 600), (500, 375), (640, 480), (600, 800)))
            found = []
            for place in range(each):
                wide, high = rnd.randint(8, width // 2), rnd.randint(8, height // 2)
                phrase = captions.draw()
                yield phrase
                found.append(
                    {
                        "region_id": number * each + place,
                        "width": wide,
                        "height": high,
                        "image_id": number,
                        "phrase": phrase,
                        "y": rnd.randint(0, height - high),
                        "x": rnd.randint(0, width - wide),
                    }
                )
            end = ", " if number < regions // each else ""
            descriptions.write(json.dumps({"regions": found, "id": number}) + end)
            sizes.write(
                json.dumps({"width": width, "height": height, "image_id": number, "coco_id": None})
                + end
            )
        descriptions.write("]")
        sizes.write("]")
