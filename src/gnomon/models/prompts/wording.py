"""How items of one form are put: a template with fields, answer words, worked examples.

`{answer}` marks where the answer goes: what stands before it is the context that the model reads,
what stands after it closes every answer, and the space before it belongs to the answer, as the
tokenizers of most models want it. A template without `{answer}` is a question whose answer is a
text of its own (encoder-decoder models). `{tag:NAME}` is what a tag names, with the article that
the item's own text gives it.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Annotated, NamedTuple, cast

import msgspec

from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.forms.numbers import unit_of
from gnomon.lexicon.quantities import unit_in_words
from gnomon.records import FORMS, MASK, WRITTEN, Form, Item, letter_of, problem

FIELDS = ("context", "text", "before", "after", "blank", "options", "unit", "answer")
OPTION_FIELDS = ("letter", "LETTER", "choice")
BLANK = "____"
_FIELD = re.compile(r"\{(\w+|tag:[^{}\n]+)\}")
_SENTENCE_END = re.compile(r"[.!?:]\s+$|\n\s*$")
_Word = Annotated[str, msgspec.Meta(min_length=1)]
_Words = Annotated[tuple[_Word, ...], msgspec.Meta(min_length=1)]


class WorkedExample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worked example: an item of our own with its right label."""

    text: str
    answer: str | tuple[str, ...]  # several make up a set or an order
    context: str = ""
    choices: tuple[str, ...] = ()  # default: the labels that the form's `words` name


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How items of one form are put."""

    # pieces that mention {context} are left out where an item has none
    template: str | tuple[str, ...]
    # the template of items that are shown with pictures, where that is another
    seeing: str | tuple[str, ...] = ""
    # the answer as the decoder writes it, where the template has no {answer}
    target: str = "{answer}"
    words: dict[str, _Word | _Words] = {}  # label -> its answer word(s)
    letters: bool = False  # answer with the letter of the option
    examples: tuple[WorkedExample, ...] = ()

    @property
    def pieces(self) -> tuple[str, ...]:
        """The template as a sequence of pieces."""
        return (self.template,) if isinstance(self.template, str) else self.template

    def pieces_for(self, item: Item) -> tuple[str, ...]:
        """The template of an item, which may be another where it has pictures."""
        if not item.images or not self.seeing:
            return self.pieces
        return (self.seeing,) if isinstance(self.seeing, str) else self.seeing

    def answer_words(self, choice: str) -> tuple[str, ...]:
        """What may be said for a label; a label that has no words stands for itself."""
        found = self.words.get(choice, self.words.get(choice.lower(), choice))
        return (found,) if isinstance(found, str) else found


class OptionStyle(NamedTuple):
    """How {options} lists the choices."""

    option: str
    separator: str

    @property
    def capitals(self) -> bool:
        """Whether the letters are capitals."""
        return "{LETTER}" in self.option


class ItemParts(NamedTuple):
    """An item laid out: `before`, `lead`, one of the answers, `after`."""

    before: str  # what the model reads
    lead: str  # what opens every answer: a space, or what the target has before {answer}
    answers: tuple[tuple[str, ...], ...]  # for each choice its answer word(s)
    after: str  # what closes every answer: the rest of the sentence
    inline: bool  # the answer stands in the same text, not in one of its own


def lay_out(item: Item, wording: Wording, style: OptionStyle) -> ItemParts:
    """The filled-in template; an item's own text is never read as one."""
    fields = _field_values(item, wording, style)
    pieces = []
    for piece in wording.pieces_for(item):
        if fields["context"] or "{context}" not in piece:
            pieces.append(piece)
    template, inline, closing = "".join(pieces).partition("{answer}")
    tags = [field.removeprefix(TAG) for field in tags_in(template + closing)]
    for tag, value in mentions(item, tags).items():
        fields[TAG + tag] = value
    text = _fill(template, fields, opens=True)
    answers = _answers(item, wording, style)
    if not inline:
        lead, _, after = wording.target.partition("{answer}")
        return ItemParts(text, lead, answers, after, inline=False)
    before = text.rstrip(" ")
    in_place = item.form == "cloze" and "{before}{answer}" in "".join(wording.pieces)
    if in_place and item.text.lstrip().startswith(MASK):  # it opens the item's own sentence
        answers = tuple(tuple(map(_capitalised, words)) for words in answers)
    return ItemParts(before, text[len(before) :], answers, _fill(closing, fields), inline=True)


def as_item(form: str, wording: Wording, example: WorkedExample) -> Item:
    """A worked example as the item that it is."""
    return Item(
        id="example",
        form=cast(Form, form),  # was checked on loading
        text=example.text,
        context=example.context,
        choices=example.choices or tuple(wording.words),
        gold=(example.answer,) if isinstance(example.answer, str) else example.answer,
    )


def wording_problem(form: str, wording: Wording) -> str:
    """What is wrong with the wording of a form, in a few words; empty if nothing is."""
    if form not in FORMS:
        return f"there is no such form; known: {', '.join(FORMS)}"
    for template in ("".join(wording.pieces), "".join(wording.seeing)):
        odd = unknown_field(template, (*FIELDS, *tags_in(template)))
        if odd:
            return f"the template names {{{odd}}}; known: {', '.join(FIELDS)}, tag:NAME"
        if template.count("{answer}") > 1 or wording.target.count("{answer}") != 1:
            return "{answer} must stand at most once in the template and exactly once in the target"
    for example in wording.examples:
        if form in WRITTEN:
            wrong = problem(as_item(form, wording, example))
            if wrong:
                return f"the example {example.text[:80]!r}: {wrong}"
        elif example.answer not in (example.choices or tuple(wording.words)):
            return (
                f"the example {example.text[:80]!r} has the answer {example.answer[:80]!r}, "
                "which is not one of its choices"
            )
    return ""


def tags_in(template: str) -> list[str]:
    """The fields of a template that name tags of items, such as tag:obj_a, each once.

    >>> tags_in("{tag:obj_a} is {answer} than {tag:obj_b}.")
    ['tag:obj_a', 'tag:obj_b']
    """
    fields = dict.fromkeys(_FIELD.findall(template))
    return [field for field in fields if field.startswith(TAG)]


def unknown_field(template: str, known: tuple[str, ...]) -> str:
    """The first field that a template names and that is not known; empty if there is none."""
    for field in _FIELD.findall(template):
        if field not in known:
            return str(field)
    return ""


def _field_values(item: Item, wording: Wording, style: OptionStyle) -> dict[str, str]:
    text = item.text
    if "{options}" in "".join(wording.pieces):
        text = _without_list(item)
    before, after = text, ""
    if item.form == "cloze":
        before, _, after = text.partition(MASK)
    return {
        "context": item.context.strip(),
        "text": text,
        "before": before,
        "after": after,
        "blank": text.replace(MASK, BLANK),
        "options": _options(item, wording, style),
        "unit": _asked_unit(item),
    }


def _asked_unit(item: Item) -> str:
    """In which unit a number is asked for: " in cm"; empty for a count."""
    unit = unit_of(item.gold) if item.form == "number" else ""
    return f" in {unit_in_words(unit)}" if unit else ""


@cache
def written_wordings() -> dict[str, tuple[Wording, ...]]:
    """How any prompt puts items whose answers are written, where it does not say it itself."""
    raw = read_yaml(package_data("wordings.yaml"))
    return msgspec.convert(raw, dict[str, tuple[Wording, ...]])


def _without_list(item: Item) -> str:
    """An item's text without the list of its choices at the end, for prompts that list them.

    >>> _without_list(Item(id="1", form="choice", text="Is it wet? (a) no (b) yes",
    ...                    choices=("no", "yes"), gold=("no",)))
    'Is it wet?'
    """
    listed = []
    for place, choice in enumerate(item.choices):
        listed.append(f" ({letter_of(place)}) {choice}")
    return item.text.removesuffix("".join(listed))


def _options(item: Item, wording: Wording, style: OptionStyle) -> str:
    shown = []
    for place, choice in enumerate(item.choices):
        letter = letter_of(place)
        word = wording.answer_words(choice)[0]
        fields = {"letter": letter, "LETTER": letter.upper(), "choice": word}
        shown.append(_fill(style.option, fields))
    return style.separator.join(shown)


def _answers(item: Item, wording: Wording, style: OptionStyle) -> tuple[tuple[str, ...], ...]:
    if not wording.letters:
        return tuple(wording.answer_words(choice) for choice in item.choices)
    letters = [letter_of(place) for place in range(len(item.choices))]
    if style.capitals:
        letters = [letter.upper() for letter in letters]
    return tuple((letter,) for letter in letters)


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


def _fill(template: str, fields: dict[str, str], *, opens: bool = False) -> str:
    """The template with its fields; what a tag names has a capital where it opens a sentence."""
    text = ""
    end = 0
    for match in _FIELD.finditer(template):
        text += template[end : match.start()]
        end = match.end()
        value = fields[match[1]]
        begins = bool(_SENTENCE_END.search(text)) if text.strip() else opens
        text += _capitalised(value) if begins and match[1].startswith(TAG) else value
    return text + template[end:]


# --- what an item's tags name, as its own text mentions it ---------------------------------------


TAG = "tag:"  # {tag:obj_a} in a template
DETERMINER = r"(?:(?:an?|the|some)\s+(?:pair\s+of\s+)?)?"


def mentions(item: Item, tags: Iterable[str]) -> dict[str, str]:
    """For each tag its value as the text has it, with its article; the bare value if it has not.

    >>> item = Item(id="1", form="cloze", text="A bus is [MASK] than a bus shelter.",
    ...             tags={"obj_a": "bus", "obj_b": "bus shelter"})
    >>> mentions(item, ["obj_a", "obj_b"])
    {'obj_b': 'a bus shelter', 'obj_a': 'a bus'}
    """
    values = {tag: _value(item, tag) for tag in tags}
    text = item.text
    found = {}
    for tag, value in longest_first(values):
        match = mention_of(value).search(text)
        if match is None:
            found[tag] = value
            continue
        found[tag] = match[1].lower() + value
        # "bus" must not be found again within "bus shelter"
        text = text[: match.start()] + "\0" + text[match.end() :]
    return found


def mention_of(value: str) -> re.Pattern[str]:
    """A pattern that finds a name in a text, with its article as the first group."""
    return re.compile(rf"(?<!\w)({DETERMINER}){re.escape(value)}(?!\w)", re.IGNORECASE)


def longest_first(values: dict[str, str]) -> list[tuple[str, str]]:
    """Tags and their values, those first whose value may hold another's."""
    return sorted(values.items(), key=lambda pair: -len(pair[1]))


def _value(item: Item, tag: str) -> str:
    value = item.tags.get(tag, "")
    if not value:
        known = ", ".join(item.tags) or "none"
        raise UsageError(
            f"The prompt names the tag '{tag}', which the item '{item.id}' does not have.",
            f"Use tags that all items have: {known}.",
        )
    return value
