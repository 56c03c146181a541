"""What people note about a run: kept beside it in notes.json, never in its answers or manifest.

Each change reads the file, changes one thing and writes it back under a lock, so that two windows
or two processes lose nothing.
"""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gnomon.durable import replace_file
from gnomon.errors import RunError
from gnomon.records import Item, digest

NOTES, NOTES_LOCK = "notes.json", "notes.lock"
FORMAT = 1  # of the file; a newer one is refused rather than overwritten
LARGEST = 16 * 2**20  # bytes of the file
LONGEST = 4_000  # characters of a note or a comment
PATIENCE = 10.0  # seconds to wait for another process that is writing


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A remark on a run."""

    id: str
    text: str
    at: datetime


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """A mark on an item whose label is doubtful."""

    item: str
    wording: str  # a digest of what was asked: the same id may stand for other words elsewhere
    at: datetime
    comment: str = ""


class Notes(msgspec.Struct, kw_only=True):
    """All that was noted about a run."""

    format: int = FORMAT
    hidden: bool = False  # left out of the viewer's lists; nothing else goes by it
    notes: list[Note] = []
    doubts: dict[str, Doubt] = {}  # by the item's id

    def add_note(self, text: str) -> None:
        """Add a remark."""
        text = _checked(text)
        if text:
            self.notes.append(Note(id=secrets.token_hex(6), text=text, at=datetime.now(UTC)))

    def remove_note(self, name: str) -> None:
        """Remove the remark of that id, if it is still there."""
        self.notes = [note for note in self.notes if note.id != name]

    def doubt(self, item: Item, comment: str = "", *, seen: str = "") -> None:
        """Mark an item's label as doubtful.

        `seen` is the comment that stood there when this one was written: one that came from
        another window meanwhile is kept before it.
        """
        comment = _checked(comment)
        before = self.doubts.get(item.id)
        if before and before.comment not in ("", seen, comment):
            comment = _checked(f"{before.comment}\n{comment}".strip())
        self.doubts[item.id] = Doubt(
            item=item.id, wording=wording_of(item), comment=comment, at=datetime.now(UTC)
        )

    def trust(self, item: str) -> None:
        """Take the mark off an item."""
        self.doubts.pop(item, None)


def wording_of(item: Item) -> str:
    """A digest of what an item asks, to tell it from another of the same id."""
    return digest(item.context, item.text)


def read_notes(folder: Path) -> Notes:
    """What was noted about the run in a folder; nothing where there is no such file."""
    from gnomon.files import read_json

    file = folder / NOTES
    if not file.exists():
        return Notes()
    hint = "Restore the file from a copy, or move it elsewhere."
    found = read_json(file, Notes, limit=LARGEST, hint=hint)
    if found.format > FORMAT:
        raise RunError(
            f"{file} was written by a newer Gnomon (format {found.format}).",
            "Upgrade Gnomon to read it.",
        )
    return found


def change_notes(folder: Path, change: Callable[[Notes], None]) -> Notes:
    """Change what is noted about a run; when this returns, it is on disk."""
    from filelock import FileLock, Timeout

    from gnomon.runs.manifest import MANIFEST

    if not (folder / MANIFEST).is_file():
        raise RunError(f"{folder} is not a run: it has no {MANIFEST}.", "Nothing was noted.")
    try:
        with FileLock(folder / NOTES_LOCK, timeout=PATIENCE):
            notes = read_notes(folder)
            change(notes)
            content = msgspec.json.format(msgspec.json.encode(notes), indent=2)
            if len(content) >= LARGEST:
                raise RunError(f"{folder / NOTES} would be too large.", "Remove some notes first.")
            replace_file(folder / NOTES, content + b"\n")
    except Timeout:
        raise RunError(
            f"Another process is writing the notes of {folder}.", "Try again in a moment."
        ) from None
    except OSError as error:
        raise RunError(
            f"The notes of {folder} cannot be written: {error.strerror}.",
            "Check the folder's permissions and the room on its disk.",
        ) from None
    return notes


def _checked(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        raise RunError(f"A note may have {LONGEST:,} characters.", "Shorten it.")
    return text
