"""Items with pictures for a model with eyes: those that show the same pictures are asked together.

In the text that a model reads, a sign stands for each picture, before the question. Pictures are
decoded ahead of the model, and no more of them are in memory than one item shows and a few to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from gnomon.grouped import grouped
from gnomon.models.chat import Messages, Writer
from gnomon.models.choices import contexts, take
from gnomon.models.llamacpp.eyes import PicturePath, Projector, UnshowableError
from gnomon.models.prompts.library import Prompt
from gnomon.records import Answer, Image, Item
from gnomon.vision.decoding import Pixels
from gnomon.vision.pictures import Seen, pixels, see

SIGN = "<__picture__>"
AHEAD = 2  # pictures that are decoded before the model asks for them
Answerer = Callable[[Sequence[Item], Sequence[PicturePath]], Sequence[Answer]]


def answer_seeing(items: Sequence[Item], eyes: Projector, answer: Answerer) -> list[Answer]:
    """An answer for each item; `answer` is given items that show the same pictures, and these.

    A picture that cannot be shown is the error of the items that show it.
    """
    groups = _by_pictures(items)
    opened = see((image for images in groups for image in images), pixels, ahead=AHEAD)
    found: dict[int, Answer] = {}
    for images, numbers in groups.items():
        seen = list(islice(opened, len(images)))
        alike = take(items, numbers)
        found.update(zip(numbers, _answer_alike(alike, seen, eyes, answer), strict=True))
    return [found[number] for number in range(len(items))]


def contexts_with_signs(
    prompt: Prompt,
    items: Sequence[Item],
    write: Writer | None,
    pictures: int,
    *,
    answered: bool = True,
) -> list[str]:
    """What the model reads before the answer of each item, with signs for so many pictures."""
    if not pictures:
        return contexts(prompt, items, write, answered=answered)
    if write is not None:
        return contexts(prompt, items, writer_with_signs(write, pictures), answered=answered)
    signs = SIGN * pictures

    found = []
    for item in items:
        prefix = prompt.prefix(item.form, prompt.shown_to(item))
        found.append(f"{prefix}{signs}\n{prompt.parts(item).before}")
    return found


def writer_with_signs(write: Writer, pictures: int) -> Writer:
    """A chat template for questions with so many pictures."""
    return _with_signs(write, SIGN * pictures) if pictures else write


def split_at_signs(text: str, pictures: int) -> list[str]:
    """What stands before, between and after the pictures.

    >>> split_at_signs("Look: <__picture__> A cat?", 1)
    ['Look: ', ' A cat?']
    """
    if not pictures:
        return [text]
    parts = text.split(SIGN)
    if len(parts) != pictures + 1:
        raise ValueError(f"the prompt has {len(parts) - 1} signs for {pictures} pictures")
    return parts


def _by_pictures(items: Sequence[Item]) -> dict[tuple[Image, ...], list[int]]:
    """The numbers of the items that show the same pictures."""
    return grouped(range(len(items)), lambda number: items[number].images)


def _answer_alike(
    items: Sequence[Item], seen: Sequence[Seen[Pixels]], eyes: Projector, answer: Answerer
) -> Sequence[Answer]:
    troubles = [each.trouble for each in seen if each.trouble]
    if troubles:
        return _failed(items, troubles[0])
    try:
        with eyes.showing(list(_shown(seen))) as pictures:
            return answer(items, pictures)
    except UnshowableError as error:
        return _failed(items, str(error))


def _shown(seen: Sequence[Seen[Pixels]]) -> Iterator[Pixels]:
    for each in seen:
        if each.made is not None:
            yield each.made


def _failed(items: Sequence[Item], trouble: str) -> list[Answer]:
    return [Answer(item=item.id, error=trouble) for item in items]


def _with_signs(write: Writer, signs: str) -> Writer:
    """A chat template with signs before the last question.

    Some templates read the parts of a message one by one and lose a message that is a plain text.
    """

    def write_with_signs(messages: Messages, begin: bool) -> str:
        marked = _marked(messages, signs)
        text = write(marked, begin)
        if signs in text:
            return text
        return write(_in_parts(marked), begin)

    return write_with_signs


def _marked(messages: Messages, signs: str) -> Messages:
    """The messages, the last one of the user begun with the signs."""
    last = max(place for place, turn in enumerate(messages) if turn["role"] == "user")
    question = {"role": "user", "content": signs + messages[last]["content"]}
    return [*messages[:last], question, *messages[last + 1 :]]


def _in_parts(messages: Messages) -> Messages:
    """Each message as a list of one part, as templates of models that see may want it."""
    found: list[dict[str, object]] = []
    for turn in messages:
        parts = [{"type": "text", "text": turn["content"]}]
        found.append({"role": turn["role"], "content": parts})
    return found  # type: ignore[return-value]  # a template takes both
