"""The order in which a person is asked, and what is kept beside answers: extras and the link."""

import errno
import hmac
import os
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

import msgspec

from gnomon.durable import OWNER, log_records, remove_torn_line, replace_file, sync_folder
from gnomon.errors import DataError, RunError, UsageError
from gnomon.files import read_json
from gnomon.people.tasks import AnnotationTask, Option, question_of
from gnomon.records import Item

SlotKind = Literal["item", "repeat", "catch"]
INSTRUCTED = "This is to see whether items are read: please choose “{label}”."


class AskedSlot(NamedTuple):
    """One place in a person's order."""

    key: str  # names the slot whatever its place: item/3, repeat/3, catch/0
    kind: SlotKind
    number: int  # of the item in the run, or of the catch item
    item: Item


def slots_for(
    person: str,
    items: Sequence[Item],
    *,
    seed: int = 0,
    repeat: int = 0,
    catch: Sequence[Item] = (),
) -> tuple[AskedSlot, ...]:
    """All slots of a person, in order. A repeat comes at least half the set after its item.

    >>> item = Item(id="1", form="choice", text="?", choices=("no", "yes"))
    >>> [slot.key for slot in slots_for("ann", [item], repeat=1)]
    ['item/0', 'repeat/0']
    """
    draw = Random(f"{seed}\0{person}")
    total = len(items)
    numbers = list(range(total))
    draw.shuffle(numbers)

    placed: list[tuple[float, AskedSlot]] = []
    for place, number in enumerate(numbers):
        placed.append((place, AskedSlot(f"item/{number}", "item", number, items[number])))
    early = numbers[: most_repeats(total)]
    for number in draw.sample(early, min(repeat, len(early))):
        where = draw.uniform(numbers.index(number) + total / 2, total)
        placed.append((where, AskedSlot(f"repeat/{number}", "repeat", number, items[number])))
    for number, item in enumerate(catch):
        where = draw.uniform(0, total)
        placed.append((where, AskedSlot(f"catch/{number}", "catch", number, item)))

    placed.sort(key=lambda pair: pair[0])
    return tuple(slot for _, slot in placed)


def most_repeats(items: int) -> int:
    """How many items can come twice, at least half the set apart: those of the first half."""
    return (items + 1) // 2


def instructed(
    task: AnnotationTask, items: Sequence[Item], count: int, seed: int = 0
) -> list[Item]:
    """Catch items that say which answer to choose, on the pattern of some of the items."""
    if task.kind not in ("choose", "scale", "validate"):
        raise UsageError(
            f"Catch items of the task {task.kind} cannot be made up.",
            "Give a file of items with known answers: --set catch=FILE.jsonl",
        )
    draw = Random(f"{seed}\0catch")
    found = []
    for number in range(count):
        pattern = draw.choice(items)
        options = question_of(task, pattern).parts[0].options
        # those that stand for a choice: to ask for "makes no sense" would be odd
        option = draw.choice([each for each in options if _choice_of(task, each)])
        asked = msgspec.structs.replace(
            pattern,
            id=f"catch/{number}",
            text=INSTRUCTED.format(label=option.label),
            context="",
            gold=(_choice_of(task, option),),
        )
        found.append(asked)
    return found


def _choice_of(task: AnnotationTask, option: Option) -> str:
    return task.points[option.value].choice if task.points else option.value


# What a person's run holds beside answers: responses as given, comments, order, times, repeats.
#
# It is a file in the run's folder to which one line is added for each response, durable before
# the answer itself is logged. The last line on a slot counts, so nothing is doubled by a change
# of mind.


EXTRAS = "people.jsonl"
LARGEST = 2**28  # bytes of a file that is read
_encode = msgspec.json.Encoder().encode


class Extra(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One response of a person, as it was given."""

    slot: str  # item/3, repeat/3, catch/0
    kind: SlotKind
    item: str  # Item.id
    place: int  # in the person's order, from 0
    response: dict[str, str] = {}  # part -> value
    skipped: str = ""  # the reason
    comment: str = ""
    seconds: float | None = None
    at: datetime | None = None
    right: bool | None = None  # of a catch item


def read_extras(folder: Path) -> list[Extra]:
    """The last response to each slot, in the order in which slots were first answered."""
    return list(_last_lines(folder / EXTRAS).values())


class Extras:
    """The file, for writing. The run's lock sees to it that one process writes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / EXTRAS
        self.last = _last_lines(self._file)
        try:
            remove_torn_line(self._file)
            self._out = self._file.open("ab", buffering=0)
            sync_folder(folder)
        except OSError as error:
            raise _not_kept(self._file, error) from None

    def add(self, extra: Extra) -> None:
        """Write one response down for good."""
        line = _encode(extra) + b"\n"
        before = self._out.seek(0, os.SEEK_END)
        try:
            if self._out.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._out.fileno())
        except OSError as error:
            self._out.truncate(before)  # half a line would spoil the next one
            raise _not_kept(self._file, error) from None
        self.last[extra.slot] = extra

    def close(self) -> None:
        """Let go of the file."""
        self._out.close()


def _last_lines(file: Path) -> dict[str, Extra]:
    hint = "Remove the line, or restore the file from a copy."
    records = log_records(file, Extra, "a response", most=LARGEST, hint=hint)
    return {extra.slot: extra for _, extra in records}


def _not_kept(file: Path, error: OSError) -> RunError:
    return RunError(
        f"{file} cannot be written: {error.strerror or error}.",
        "Free some space or check the permissions, then start again: what was saved is kept.",
    )


# Personal links: a random token for each person, of which only the hash is kept.
#
# The link stands in the run's folder, so it goes when the person's run does. A link that is
# opened begins a session; the newest session counts, so that one link cannot be used by two at a
# time.


LINK = "link.json"


class Link(msgspec.Struct, kw_only=True):
    """What is known of a person's link."""

    key: str  # stands in the addresses of the person's pages, and opens nothing
    token: str = ""  # the hash of the secret in the link
    session: str = ""  # the hash of the secret in the cookie
    salt: str  # makes the ids of items opaque
    participant: str = ""  # who it is to a panel, such as Prolific


def new_link() -> Link:
    """A link without a token yet."""
    return Link(key=secrets.token_hex(6), salt=secrets.token_hex(16))


def new_secret() -> str:
    """A random token that fits into an address."""
    return secrets.token_urlsafe(24)


def hash_of(secret: str) -> str:
    """What is kept of a secret. It is random and long, so a plain hash cannot be guessed back."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def matches(secret: str, hashed: str) -> bool:
    """Whether a secret is the one that was hashed."""
    return bool(hashed) and hmac.compare_digest(hash_of(secret), hashed)


def opaque(salt: str, text: str) -> str:
    """A name for something that says nothing about it, the same for the same salt."""
    return hmac.new(salt.encode(), text.encode(), sha256).hexdigest()[:20]


def read_link(folder: Path, name: str = LINK) -> Link | None:
    """The link in a run's folder; none if there is none yet."""
    file = folder / name
    if not file.exists():
        return None
    found = read_json(file, Link, limit=2**16, hint="Remove it: the person then gets a new link.")
    if not (found.key and found.salt):
        raise DataError("the link is incomplete.", "Remove the file.", file=file)
    return found


def write_link(folder: Path, link: Link, name: str = LINK) -> None:
    """Keep a link, in one step."""
    replace_file(folder / name, msgspec.json.encode(link), mode=OWNER)
