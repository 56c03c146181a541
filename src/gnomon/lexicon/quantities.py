"""Amounts in plain text: digits and number words, fractions, ranges, and units of space.

"One and a half metres", 5'11", "3,5 m", "between 2 and 3 m": each becomes a lowest and a highest
value with the unit as written. A unit that is unknown is no unit; nothing is converted unasked.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from math import isfinite, pi
from typing import NamedTuple

import msgspec

from gnomon.files import package_data, read_yaml


class Unit(msgspec.Struct, frozen=True):
    """A unit: of what it measures, and how much of the first unit of that it is."""

    dimension: str
    size: float
    words: tuple[str, ...]


class QuantityWords(msgspec.Struct, frozen=True):
    """What is known of numbers and units (data/lexicon/quantities.yaml)."""

    numbers: dict[str, int]
    times: dict[str, int]
    counts: dict[str, int]
    parts: dict[str, float]
    elsewhere: dict[str, str]
    unspaced: dict[str, str]
    digits: dict[str, int]
    units: dict[str, Unit]
    plurals: dict[str, str]
    square: dict[str, int]
    labels: frozenset[str]
    hedges: frozenset[str]
    after: frozenset[str]
    bounds: frozenset[str]
    near: frozenset[str]


@cache
def quantity_words() -> QuantityWords:
    """All words that are known."""
    found = read_yaml(package_data("lexicon/quantities.yaml"))
    return msgspec.convert(found, QuantityWords, strict=False)


@cache
def _unit_words() -> dict[str, str]:
    """The name of the unit that each word means."""
    found: dict[str, str] = {}
    for name, unit in quantity_words().units.items():
        found |= dict.fromkeys((name, *unit.words), name)
    return found


def unit_named(word: str) -> str:
    """The name of the unit that a word means; empty if there is none.

    >>> unit_named("Metres"), unit_named("square feet"), unit_named("chairs")
    ('m', 'ft2', '')
    """
    tokens = _tokens(word.casefold())
    found = _unit(tokens, 0)
    return found[0] if found and found[1] == len(tokens) else ""


def unit_in_words(unit: str) -> str:
    """What people call a unit in which they are asked: "centimetres"."""
    return quantity_words().plurals.get(unit, unit)


def stray_units(text: str) -> list[tuple[str, str]]:
    """Units that stand in a text without a number, each with the word before it."""
    tokens = tokens_of(text)
    inside = {place for each in quantities(text) for place in range(each.start, each.end)}
    found = []
    for place, token in enumerate(tokens):
        if place in inside or len(token.text) < 2 or token.text in ("in", *COMMON):
            continue
        unit = _unit(tokens, place)
        if unit is not None:
            found.append((unit[0], _text(tokens, place - 1)))
    return found


def converted(value: float, unit: str, wanted: str) -> float | None:
    """A value in another unit of the same dimension; none if there is no such conversion.

    >>> converted(250, "cm", "m"), converted(5, "kg", "m")
    (2.5, None)
    """
    if unit == wanted:
        return value
    known = quantity_words().units
    if unit not in known or wanted not in known:
        return None
    one, other = known[unit], known[wanted]
    if one.dimension != other.dimension:
        return None
    return value * one.size / other.size


class Quantity(NamedTuple):
    """An amount that a text names, and where it stands among the tokens of the text."""

    low: float
    high: float
    unit: str = ""
    start: int = 0
    end: int = 0

    @property
    def middle(self) -> float:
        """What it amounts to: the middle of a range."""
        return (self.low + self.high) / 2


class Token(NamedTuple):
    """A number, a word or a sign of a text."""

    text: str
    number: float | None = None
    glued: bool = False  # whether it follows the token before it without a space


_VULGAR = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
_VULGAR_SIGN = re.compile(f"[{''.join(_VULGAR)}]")
_SUPERSCRIPT = str.maketrans({"²": "^2", "³": "^3", "′": "'", "’": "'", "″": '"', "”": '"'})
_DASHES = str.maketrans({"−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-"})
_QUOTED = re.compile(r"""(?<!\d)(["'])([^"'\n]{0,40}\d[^"'\n]{0,40})\1""")
_FEET = re.compile(r"""(?<![\d.])(\d{1,9})\s*'\s*(\d{1,9}(?:\.\d{1,9})?)\s*(?:"|''|(?!\w))""")
_FOOT_SIGN = re.compile(r"(?<=\d)\s*'(?!\w)")
_INCH_SIGN = re.compile(r"(?<=\d)\s*(?:\"|'')(?!\w)")
_OCLOCK = re.compile(r"o'?\s?clock\b")
_HYPHEN = re.compile(r"(?<=\w)-(?=[^\W\d])")
_TOLERANCE = re.compile(
    r"\s*(?:±|\+/-|\bplus or minus\b)\s*\d+(?:[.,]\d+)?|,?\s*\bgive or take\b[^.;\n]*"
)
_SHORT_UNIT = re.compile(r"\b(ft|in|yd|cm|mm|km)\.(?=\s*\d)")
# numbers in Chinese signs, where a unit or a word for counting stands behind them or nothing
_SIGNS = "[零〇一二两兩三四五六七八九十百]"
_UNIT_SIGNS = "(?:公里|千米|厘米|公分|米|公尺|公斤|キロ|センチ|ミリ|メートル|度)"
_COUNTED = rf"(?:{_UNIT_SIGNS}|[把个個张張只隻台人本枚つ脚]|\W*$)"
_HAN_NUMBER = re.compile(rf"{_SIGNS}{{1,6}}(?:[点點]{_SIGNS}{{1,4}})?(?={_COUNTED})")
_HAN_REST = re.compile(
    rf"(\d+|{_SIGNS}{{1,6}})({_UNIT_SIGNS})(半|\d{{1,2}}|{_SIGNS}{{1,2}})(?!\d|{_UNIT_SIGNS})"
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_PI = re.compile(
    r"(?:\b(\d+(?:\.\d+)?)\s*[*×]?\s*)?(?:π|\bpi\b)(?:\s*/\s*(\d{1,3}))?(?:\s*rad\w*)?"
)
_NUMBER = (
    r"\d{1,3}(?:[,.]\d{3})+(?:[.,]\d+)(?!\d)|\d{1,3}(?:,\d{3})+(?!\d)"
    r"|\d{1,3}(?: \d{3})+(?![\d.,]\d|\d)|\d+[.,]\d+(?:e[+-]?\d+)?|\.\d+|\d+(?:e[+-]?\d+)?"
)
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})|"
    r"(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?:\^?[23](?![\d.]))?)|"
    r"(?P<sign>[^\s\w])"
)
UNCLEAR = "?"  # the unit of an amount of which nobody can say what its parts are
LONGEST = 400  # digits or characters of a number: more is no amount
MOST_TOKENS = 20_000
COMMON = ("foot", "yard", "yards", "second", "min", "day", "days", "score", "pair")  # words too
ENDS = ("tall", "wide", "long", "high", "deep", "x")  # after the unit "in"


def spelled_plainly(text: str) -> str:
    """A text with one sign for each thing: fractions, feet and inches, minus, o'clock.

    >>> spelled_plainly("5'11\\", 2½ m²")
    '5 ft 11 in, 2 1/2 m^2'
    """
    text = _in_english(text)
    if not text.isascii():
        text = _VULGAR_SIGN.sub(lambda sign: f" {_VULGAR[sign[0]]}", text)
        text = text.translate(_SUPERSCRIPT).translate(_DASHES)
    text = _SHORT_UNIT.sub(r"\1 ", _TOLERANCE.sub("", text))
    if "π" in text or "pi" in text:
        text = _PI.sub(_radians, text)
    if "'" in text or '"' in text:
        text = _OCLOCK.sub("oclock", text)
        text = _QUOTED.sub(r"\2", text)
        text = _FEET.sub(r"\1 ft \2 in", text)
        text = _INCH_SIGN.sub(" in ", text)
        text = _FOOT_SIGN.sub(" ft ", text)
        text = text.replace('"', " ")
    return text.strip()


def _in_english(text: str) -> str:
    """A text with the numbers and units of other languages as English has them.

    >>> _in_english("anderthalb Meter"), _in_english("一米五").split()
    ('1.5 Meter', ['1.5', 'm'])
    """
    pattern, words = _foreign_words()
    text = pattern.sub(lambda match: words.get(match[0].lower(), match[0]), text)
    if not _HAN.search(text):
        return text
    text = unicodedata.normalize("NFKC", text)
    text = _HAN_REST.sub(_with_han_rest, text)
    text = _HAN_NUMBER.sub(lambda match: _han_value(match[0]), text)
    known = quantity_words().unspaced
    for word in sorted(known, key=len, reverse=True):
        text = text.replace(word, f" {known[word]} ")
    return re.sub(r"(?<=\d)(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])(?=\d)", " ", text)


@cache
def _foreign_words() -> tuple[re.Pattern[str], dict[str, str]]:
    words = quantity_words().elsewhere
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?i)\b(?:{'|'.join(longest_first)})\b"), words


def _han_value(signs: str) -> str:
    """What a number in Chinese signs is worth: 一百五十 is 150, 十二 is 12."""
    digits = quantity_words().digits
    whole, point, decimals = signs.replace("點", "点").partition("点")
    if point:
        return f"{_han_value(whole)}.{''.join(str(digits.get(sign, 0)) for sign in decimals)}"
    if len(whole) > 1 and digits.keys() >= set(whole):
        return signs  # 两三 is two or three
    value, digit = 0, 0
    for place, sign in enumerate(whole):
        if sign in digits:
            digit = digits[sign]
            continue
        times = 100 if sign == "百" else 10
        value += (digit if digit or place else 1) * times
        digit = 0
    return str(value + digit)


def _with_han_rest(match: re.Match[str]) -> str:
    """A length with what stands behind its unit: 一米五 is 1.5 m, 1米80 is 1.8 m."""
    number, unit, rest = match.groups()
    digits = quantity_words().digits
    decimals = "5" if rest == "半" else "".join(str(digits.get(sign, sign)) for sign in rest)
    whole = number if number.isdigit() else _han_value(number)
    return f"{whole}.{decimals}{unit}"


def _radians(match: re.Match[str]) -> str:
    """A multiple of pi, which is an angle whether that is said or not."""
    return f"{float(match[1] or 1) * pi / (int(match[2] or 1) or 1):.8g} rad"


def _tokens(text: str) -> list[Token]:
    found = []
    end = -1
    for match in _TOKEN.finditer(_HYPHEN.sub(" ", text)):
        glued = match.start() == end
        end = match.end()
        number = _value(match[0]) if match.lastgroup == "number" else None
        found.append(Token(match[0], number, glued))
        if len(found) == MOST_TOKENS:
            break
    return found


def _value(text: str) -> float | None:
    """What digits are worth: "1,200" is 1200, "3,5" and "3.5" are 3.5, "1.234,5" is 1234.5."""
    if len(text) > LONGEST:
        return None
    plain = text.replace(" ", "")
    marks = [sign for sign in plain if sign in ".,"]
    if len(set(marks)) == 2:  # the last one is the decimal mark
        plain = plain.replace(marks[0], "").replace(marks[-1], ".")
    elif len(marks) > 1 or (marks == [","] and re.fullmatch(r"[1-9]\d{0,2},\d{3}", plain)):
        plain = plain.replace(marks[0], "")
    value = float(plain.replace(",", "."))
    return value if isfinite(value) else None


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All amounts of a text, in its order.

    >>> [(each.middle, each.unit) for each in quantities("between 2 and 3 m, or half a foot")]
    [(2.5, 'm'), (0.5, 'ft')]
    """
    return tuple(_quantities(tokens_of(text)))


@lru_cache(maxsize=64)
def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, among which quantities have their places."""
    return _tokens(spelled_plainly(text.casefold()))


def _quantities(tokens: Sequence[Token]) -> Iterator[Quantity]:
    place = 0
    while place < len(tokens):
        found = _range(tokens, place)
        if found is None:
            place += 1
            continue
        other = _range(tokens, found.end + 1) if _text(tokens, found.end) == "or" else None
        if other is not None and not found.unit:
            found = found._replace(unit=other.unit)  # "3 or 4 metres"
        yield found
        place = found.end


def _range(tokens: Sequence[Token], place: int) -> Quantity | None:
    """An amount, or two of them: "2-3 m", "2 to 3 m", "between 2 m and 3 m"."""
    between = _text(tokens, place) == "between"
    first = _measured(tokens, place + between)
    if first is None:
        return None
    link = _text(tokens, first.end)
    if link not in ("-", "to", "and") or (link == "and" and not between):
        return first._replace(start=place)
    second = _measured(tokens, first.end + 1)
    if second is None:
        return first._replace(start=place)
    unit = second.unit or first.unit
    low: float | None = first.low
    if first.unit and second.unit:
        low = converted(first.low, first.unit, unit)
    if low is None or low > second.high:
        return first._replace(start=place)
    return Quantity(low, second.high, unit, place, second.end)


def _measured(tokens: Sequence[Token], place: int) -> Quantity | None:
    """A number with its unit, and with a smaller part after it: 5 ft 11 in, 1 m 80."""
    start = place
    sign = 1
    if _text(tokens, place) in ("-", "minus", "negative") and not _joins(tokens, place):
        sign = -1
        place += 1
    amount = _amount(tokens, place)
    if amount is None:
        return None
    value, place = amount
    unit = _unit(tokens, place)
    if unit is None:
        name = UNCLEAR if _words(tokens, place) else ""  # "sixty fifteen"
        return Quantity(sign * value, sign * value, name, start, place)
    name, place = unit
    value, place = _with_rest(tokens, place, value, name)
    amount = _amount(tokens, place)
    if amount is not None and _unit(tokens, amount[1]) is None:
        name = UNCLEAR  # "1 m 4": of what?
    return Quantity(sign * value, sign * value, name, start, place)


def _joins(tokens: Sequence[Token], place: int) -> bool:
    """Whether a dash joins or subtracts rather than negates: "2 - 3", "route-66"."""
    if not place or tokens[place].text != "-":
        return False
    before = tokens[place - 1]
    if tokens[place].glued and before.text[-1].isalnum():
        return True
    return before.number is not None or before.text in _unit_words() or before.text == ")"


def _with_rest(tokens: Sequence[Token], place: int, value: float, unit: str) -> tuple[float, int]:
    """A value with what follows its unit: "and a half", "11 in", "80"."""
    if _text(tokens, place) == "and":
        part = _part(tokens, place + 1)
        if part is not None:
            return value + part[0], part[1]
    joined = place + (_text(tokens, place) in (",", "and"))
    amount = _amount(tokens, joined)
    if amount is None:
        return value, place
    more, end = amount
    smaller = _unit(tokens, end)
    if smaller is not None:
        added = converted(more, smaller[0], unit)
        if added is not None and smaller[0] != unit and 0 < added < 1:
            return value + added, smaller[1]
        return value, place
    ends = end >= len(tokens) or tokens[end].text in ".,;:!?)("
    if joined != place or not ends or not float(more).is_integer():
        return value, place
    if unit == "ft" and 0 < more < 12:
        return value + more / 12, end
    if unit == "m" and 10 <= more < 100 and float(value).is_integer():
        return value + more / 100, end
    return value, place


def _amount(tokens: Sequence[Token], place: int) -> tuple[float, int] | None:
    """A number in digits or words, with its fraction and its power of ten; and where it ends."""
    words = quantity_words()
    token = _text(tokens, place)
    found = _part(tokens, place)
    if found is None and token in ("a", "an"):
        after = _text(tokens, place + 1)
        if after in words.counts:
            found = (1.0, place + 1)
        elif _unit(tokens, place + 1) is not None and after != "in":
            return 1.0, place + 1
    if found is None:
        found = _digits(tokens, place) or _words(tokens, place)
    if found is None:
        return None
    value, end = found
    return _multiplied(tokens, *_with_fraction(tokens, value, end))


def _digits(tokens: Sequence[Token], place: int) -> tuple[float, int] | None:
    """Digits; 3D and A4 are none, nor is "image 2"."""
    if place >= len(tokens) or tokens[place].number is None:
        return None
    value = tokens[place].number
    assert value is not None
    before = tokens[place - 1] if place else None
    if before is not None and before.text in quantity_words().labels:
        return None
    in_a_word = tokens[place].glued and before is not None and before.text[0].isalpha()
    if in_a_word and before is not None and before.text not in _unit_words():
        return None
    end = place + 1
    after = tokens[end] if end < len(tokens) else None
    is_word = after is not None and after.glued and after.text[0].isalpha()
    known = ("x", "k")
    if is_word and after is not None and after.text not in (*_unit_words(), *known):
        return None
    if value == 10 and _text(tokens, end) == "^" and _is_whole(tokens, end + 1):
        power = tokens[end + 1].number or 0.0
        return 10.0 ** min(power, 300), end + 2
    if _text(tokens, end) in ("/", "⁄") and _is_whole(tokens, end + 1):
        below = tokens[end + 1].number
        if below:
            return value / below, end + 2
    return value, end


def _is_whole(tokens: Sequence[Token], place: int) -> bool:
    number = tokens[place].number if place < len(tokens) else None
    return number is not None and number.is_integer()


def _words(tokens: Sequence[Token], place: int) -> tuple[float, int] | None:
    """Number words: "two hundred and fifty", "one point five"."""
    words = quantity_words()
    total = part = 0.0
    end = place
    if _text(tokens, place) in ("a", "an") and _text(tokens, place + 1) in words.times:
        part = 1.0
        end += 1
    while end < len(tokens):
        word = tokens[end].text
        if word in words.numbers:
            value = words.numbers[word]
            if end > place and part % 100 and not (part % 10 == 0 and value < 10):
                break  # "two three" is two numbers
            part += value
        elif word in words.times and end > place:
            part = (part or 1) * words.times[word]
            if words.times[word] > 100:
                total, part = total + part, 0.0
        elif word == "and" and _goes_on(tokens, end, place):
            pass
        elif word == "point" and end > place and _text(tokens, end + 1) in words.numbers:
            return _with_decimals(tokens, total + part, end + 1)
        else:
            break
        end += 1
    return (total + part, end) if end > place else None


def _goes_on(tokens: Sequence[Token], place: int, start: int) -> bool:
    """Whether an "and" stands within a number: "two hundred and fifty"."""
    words = quantity_words()
    if place == start or tokens[place - 1].text not in words.times:
        return False
    return _text(tokens, place + 1) in words.numbers


def _with_decimals(tokens: Sequence[Token], value: float, place: int) -> tuple[float, int]:
    known = quantity_words().numbers
    decimals = ""
    while _text(tokens, place) in known and len(decimals) < LONGEST:
        decimals += str(known[tokens[place].text])
        place += 1
    return value + float(f"0.{decimals}"), place


def _part(tokens: Sequence[Token], place: int) -> tuple[float, int] | None:
    """A part of one: "half a", "a quarter of a", "three quarters of an"."""
    words = quantity_words()
    times = 1.0
    if _text(tokens, place) in ("a", "an"):
        place += 1
    elif _text(tokens, place) in words.numbers and _text(tokens, place + 1) in words.parts:
        times = words.numbers[tokens[place].text]
        place += 1
    if _text(tokens, place) not in words.parts:
        return None
    value = times * words.parts[tokens[place].text]
    place += 1
    if _text(tokens, place) == "of":
        place += 1
    if _text(tokens, place) in ("a", "an"):
        place += 1
    return value, place


def _with_fraction(tokens: Sequence[Token], value: float, place: int) -> tuple[float, int]:
    """A number with what is added to it: "2 1/2", "two and a half"."""
    first = place + (_text(tokens, place) in ("and", "-"))
    if value.is_integer() and _is_whole(tokens, first):
        below = tokens[first + 2].number if _is_whole(tokens, first + 2) else None
        above = tokens[first].number
        if _text(tokens, first + 1) in ("/", "⁄") and below and above and above < below:
            return value + above / below, first + 3
    if _text(tokens, place) == "and":
        part = _part(tokens, place + 1)
        if part is not None:
            return value + part[0], part[1]
    return value, place


def _multiplied(tokens: Sequence[Token], value: float, place: int) -> tuple[float, int]:
    """A number times what stands after it: "1.5 million", "two dozen", "1.5 × 10^3"."""
    words = quantity_words()
    word = _text(tokens, place)
    if word in words.times:
        return value * words.times[word], place + 1
    if word in words.counts:
        place += 1
        return value * words.counts[word], place + (_text(tokens, place) == "of")
    if word in ("×", "x", "*") and _text(tokens, place + 1) == "10":
        end = place + 2 + (_text(tokens, place + 2) == "^")
        sign = -1 if _text(tokens, end) == "-" else 1
        end += sign < 0
        power = tokens[end].number if _is_whole(tokens, end) else None
        if power is not None and power < 300 and end > place + 2:
            return value * 10.0 ** (sign * power), end + 1
    return value, place


def _unit(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The unit at a place, and where it ends: "m", "(m)", "square feet", "feet squared"."""
    if _text(tokens, place) in ("(", "["):
        within = _bare_unit(tokens, place + 1)
        if within is not None and _text(tokens, within[1]) in (")", "]"):
            return within[0], within[1] + 1
        return None
    return _bare_unit(tokens, place)


def _bare_unit(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    words = quantity_words()
    power = words.square.get(_text(tokens, place), 0)
    if power:
        place += 1 + (_text(tokens, place + 1) == ".")
    name = _unit_words().get(_text(tokens, place), "")
    if not name or (name == "in" and not power and not _is_inch(tokens, place)):
        return None
    place += 1
    after = words.square.get(_text(tokens, place), 0)
    if after and not power:
        power = after
        place += 1
    if power:
        name = f"{name}{power}"
    return (name, place) if name in words.units else None


def _is_inch(tokens: Sequence[Token], place: int) -> bool:
    """Whether "in" is the unit: "6 in.", but not "3 in total"."""
    if tokens[place].text != "in":
        return True
    after = _text(tokens, place + 1)
    return not after or after in ".,;:!?)(]" or after in ENDS


def _text(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].text if 0 <= place < len(tokens) else ""
