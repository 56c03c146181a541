"""The points of a picture that a reply gives, in pixels.

Coordinates are pixels, shares of the picture (0 to 1), thousandths of it, or percentages; some
models name the row first. What a reply does not tell is taken as the setting `points` says, and
without one by size: at most 1 and written with a decimal mark are shares, within the picture
pixels, up to 1000 thousandths.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gnomon.errors import check_known
from gnomon.lexicon.relations import phrase
from gnomon.models.reading.segments import without_thoughts

AUTO = "auto"
SCALES = ("pixels", "share", "thousand", "percent")
SETTINGS = (AUTO, *SCALES, *(f"{scale}-yx" for scale in SCALES))
MOST_POINTS = 100
LONGEST = 20_000  # characters that are looked at, from the end
_STATED = {"1": "share", "100": "percent", "1000": "thousand"}
ACROSS = ("x", "column", "col", "left", "right")


class Spot(NamedTuple):
    """Coordinates as a reply writes them: across and down, in a scale if that is told."""

    x: float
    y: float
    scale: str = ""


class PointReading(NamedTuple):
    """The points that were read, in pixels, and by which rule; none if there are none."""

    points: tuple[tuple[float, float], ...]
    rule: str


def check_points(setting: str) -> None:
    """Refuse a way of writing coordinates that is not known."""
    if setting:
        check_known("way to write points", setting, SETTINGS)


def read_points(reply: str, size: tuple[int, int], setting: str = "") -> PointReading:
    """The points that a reply gives in a picture of this width and height.

    >>> read_points('<point x="50.0" y="25.0" alt="cup">cup</point>', (640, 480)).points
    ((320.0, 120.0),)
    """
    text = phrase("mark_of_a_list").sub("", without_thoughts(reply)[-LONGEST:])
    if ";" in text:
        text = phrase("decimal_comma").sub(".", text)
    scaled = phrase("stated_scale").search(text)
    if scaled and not setting.removeprefix(AUTO):
        setting = _STATED[scaled[1] or scaled[2]]
        text = text[: scaled.start()] + text[scaled.end() :]
    for rule, look in READERS.items():
        spots = look(text, setting)[:MOST_POINTS]
        if spots:
            return _placed(spots, size, setting, rule)
    return PointReading((), "none")


def _placed(spots: Sequence[Spot], size: tuple[int, int], setting: str, rule: str) -> PointReading:
    """The spots as pixels; none where one of them lies outside the picture."""
    scale = spots[0].scale or setting.removesuffix("-yx").removeprefix(AUTO)
    scale = scale or _scale_of(spots, size)
    if not scale:
        return PointReading((), "outside")
    width, height = size
    across, down = {
        "pixels": (1.0, 1.0),
        "share": (width, height),
        "thousand": (width / 1000, height / 1000),
        "percent": (width / 100, height / 100),
    }[scale]
    found = []
    for spot in spots:
        x, y = spot.x * across, spot.y * down
        if not (0 <= x <= width and 0 <= y <= height):
            return PointReading((), "outside")
        found.append((x, y))
    return PointReading(tuple(found), rule)


def _scale_of(spots: Sequence[Spot], size: tuple[int, int]) -> str:
    """The scale that the numbers themselves tell; empty if they fit none."""
    numbers = [number for spot in spots for number in spot[:2]]
    if min(numbers) < 0:
        return ""
    below_one = [number for number in numbers if number <= 1]
    if len(below_one) == len(numbers):
        return "share"
    if any(not number.is_integer() for number in below_one):
        return ""  # a share beside a pixel
    if all(spot.x <= size[0] and spot.y <= size[1] for spot in spots):
        return "pixels"
    return "thousand" if max(numbers) <= 1000 else ""


def _sign(sign: str | None) -> str:
    if not sign:
        return ""
    return "percent" if sign == "%" else "pixels"


def _pair(said: Sequence[str], setting: str) -> Spot:
    """A pair of numbers with their signs, the row first if the setting says so."""
    first, sign, second, other = said
    one, two = float(first), float(second)
    if setting.endswith("-yx"):
        one, two = two, one
    return Spot(one, two, _sign(sign or other))


def _tagged(text: str, setting: str) -> list[Spot]:
    """Molmo's tags: <point x="51.2" y="33.1">, <points x1=... y1=... x2=...>, in percent."""
    found = []
    for tag in phrase("point_tag").finditer(text):
        places: dict[str, dict[str, float]] = {}
        for axis, number, value in phrase("tag_coordinate").findall(tag[1]):
            places.setdefault(number, {})[axis] = float(value)
        for place in places.values():
            if len(place) == 2:
                scale = "" if setting.removeprefix(AUTO) else "percent"
                found.append(Spot(place["x"], place["y"], scale))
    return found


def _boxes(text: str, setting: str) -> list[Spot]:
    """The middle of boxes: Gemini's box_2d has rows first, in thousandths."""
    found = []
    for match in phrase("box_by_name").finditer(text):
        a, b, c, d = map(float, match.groups()[1:])
        if match[1] == "box_2d":
            found.append(Spot((b + d) / 2, (a + c) / 2, "thousand"))
        else:
            found.append(Spot((a + c) / 2, (b + d) / 2))
    for match in phrase("box_tokens").finditer(text):
        a, b, c, d = map(float, match.groups())
        found.append(Spot((a + c) / 2, (b + d) / 2, "thousand"))
    return found or _unnamed_boxes(text)


def _unnamed_boxes(text: str) -> list[Spot]:
    """Four numbers in brackets, or x1, y1, x2 and y2 by name: two corners."""
    found = []
    for match in phrase("box_in_brackets").finditer(text):
        a, b, c, d = map(float, match.groups())
        if a < c and b < d:
            found.append(Spot((a + c) / 2, (b + d) / 2))
    sides = {axis + end: float(value) for axis, end, value in phrase("box_sides").findall(text)}
    if not found and len(sides) == 4:
        found.append(Spot((sides["x1"] + sides["x2"]) / 2, (sides["y1"] + sides["y2"]) / 2))
    return found


def _clicked(text: str, setting: str) -> list[Spot]:
    """A pair alone between two tags: <click>77, 441</click>."""
    return [_pair(found[1:], setting) for found in phrase("pair_in_a_tag").findall(text)]


def _portions(text: str, setting: str) -> list[Spot]:
    """75% of the width and 50% of the height."""
    return [
        Spot(float(x), float(y), "percent") for x, y in phrase("shares_of_the_sides").findall(text)
    ]


def _marked(text: str, setting: str) -> list[Spot]:
    """Qwen's own tokens around a point, in thousandths."""
    return [Spot(float(x), float(y), "thousand") for x, y in phrase("point_tokens").findall(text)]


def _rows_first(text: str, setting: str) -> list[Spot]:
    """Gemini's {"point": [y, x]}, in thousandths unless all are shares."""
    pairs = [(float(y), float(x)) for y, x in phrase("point_row_first").findall(text)]
    if setting.removeprefix(AUTO):
        if not setting.endswith("-yx"):
            pairs = [(x, y) for y, x in pairs]
        return [Spot(x, y) for y, x in pairs]
    small = all(max(pair) <= 1 for pair in pairs)
    return [Spot(x, y, "share" if small else "thousand") for y, x in pairs]


def _named(text: str, setting: str) -> list[Spot]:
    """x=320, y=240; row 240, column 320."""
    found = []
    for one, first, sign, two, second, other in phrase("named_coordinates").findall(text):
        across = one in ACROSS
        if across == (two in ACROSS):
            continue
        x, y = (first, second) if across else (second, first)
        found.append(Spot(float(x), float(y), _sign(sign or other)))
    return found


def _from_edges(text: str, setting: str) -> list[Spot]:
    """50% from the left and 25% from the top."""
    said = phrase("from_an_edge").findall(text)
    if len(said) != 2:
        return []
    found = {}
    for value, sign, edge in said:
        number = float(value)
        if edge in ("right", "bottom"):
            if sign != "%":
                return []
            number = 100 - number
        found["x" if edge in ACROSS else "y"] = number
    if len(found) != 2:
        return []
    return [Spot(found["x"], found["y"], _sign(said[0][1]))]


def _bracketed(text: str, setting: str) -> list[Spot]:
    """Pairs in brackets; of a reply that changes its mind, those after that."""
    said = list(phrase("pair_in_brackets").finditer(text))
    changes = [change.start() for change in phrase("mind_changed").finditer(text)]
    later = [match for match in said if changes and match.start() > changes[-1]]
    return [_pair(match.groups(), setting) for match in later or said]


def _bare(text: str, setting: str) -> list[Spot]:
    """Two numbers and nothing else, or after a colon."""
    said = list(phrase("bare_pair").finditer(text))
    if len(said) != 1:
        return []
    before = text[: said[0].start()].strip()
    after = text[said[0].end() :].strip(" .\n*`")
    if after or (before and not before.endswith((":", "is", "at", "*"))):
        return []
    return [_pair(said[0].groups(), setting)]


def _last_answer(text: str, setting: str) -> list[Spot]:
    """What follows the last "answer" of a reply that thinks aloud, where that has points."""
    for mark in reversed(list(phrase("answer_of_points").finditer(text))[-5:]):
        spots = _bracketed(text[mark.end() :], setting)
        if spots:
            return spots
    return []


READERS: dict[str, Callable[[str, str], list[Spot]]] = {
    "tag": _tagged,
    "marked": _marked,
    "box": _boxes,
    "row first": _rows_first,
    "named": _named,
    "edges": _from_edges,
    "portions": _portions,
    "clicked": _clicked,
    "announced": _last_answer,
    "pair": _bracketed,
    "whole": _bare,
}
