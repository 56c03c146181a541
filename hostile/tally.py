"""What came of an attack: how much was tried, and which faults were found."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

FAULTS = {
    "lost": "something that was there or paid for is gone",
    "doubled": "something was asked twice",
    "wrong": "something is wrong, and nothing was said",
    "traceback": "an error that is not meant for people",
    "hang": "it took too long",
    "memory": "it took too much memory",
    "died": "the process ended",
    "leaked": "a key or a password was written, printed or sent elsewhere",
    "unclear": "a message steers the terminal, or is too long to be read",
    "failed": "the next try did not work",
}
LONGEST_NOTE = 400
KEPT = "gnomon-hostile-kept-"  # how folders with inputs that had a fault begin
MOST_NOTES = 20  # that are printed of one attack


def no_faults() -> dict[str, int]:
    """Each kind of fault, none found."""
    return dict.fromkeys(FAULTS, 0)


@dataclass
class Tally:
    """What was found by one attack."""

    tried: int = 0
    read: int = 0
    refused: int = 0
    peak: int = 0  # MB of memory above the start, at most
    faults: dict[str, int] = field(default_factory=no_faults)
    notes: list[str] = field(default_factory=list)

    def fault(self, kind: str, text: str) -> None:
        """Count a fault, with a note on where it was found."""
        self.faults[kind] += 1
        self.notes.append(f"{kind}: {text}"[:LONGEST_NOTE])

    @property
    def faulty(self) -> int:
        """How many faults there are, of all kinds."""
        return sum(self.faults.values())

    def add(self, other: Tally) -> None:
        """Count what another attack found as well."""
        self.tried += other.tried
        self.read += other.read
        self.refused += other.refused
        self.peak = max(self.peak, other.peak)
        self.notes += other.notes
        for kind, count in other.faults.items():
            self.faults[kind] += count


def tell(tallies: Iterable[tuple[str, Tally]], *, as_json: bool) -> bool:
    """Print what was found, for people as it comes or for `loaded` at the end; whether all is well."""
    found = {}
    for name, tally in tallies:
        found[name] = tally
        if not as_json:
            print(_line(name, tally), flush=True)
    if as_json:
        print(json.dumps({name: asdict(tally) for name, tally in found.items()}))
    return not any(tally.faulty for tally in found.values())


def loaded(printed: str) -> dict[str, Tally]:
    """What `tell` printed for a program."""
    return {name: Tally(**fields) for name, fields in json.loads(printed).items()}


def _line(name: str, tally: Tally) -> str:
    counts = [f"{tally.tried:>6} tried"]
    if tally.read or tally.refused:
        counts += [f"{tally.read:>6} read", f"{tally.refused:>6} refused"]
    counts += [f"{count:>4} {kind}" for kind, count in tally.faults.items() if count]
    notes = [f"\n    {note}" for note in different(tally.notes)]
    return f"{name:<34}{' '.join(counts)}{''.join(notes)}"


def told_with_place(error: BaseException) -> str:
    """An error that should not have come, and the last place in Gnomon on its way."""
    frames = list(traceback.extract_tb(error.__traceback__))
    ours = [frame for frame in frames if "/gnomon/" in frame.filename]
    last = (ours or frames)[-1]
    place = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
    return f"{type(error).__name__}: {str(error)[:120]!r} at {place}"


def different(notes: list[str]) -> list[str]:
    """A note of each fault: of those at one place in the code, the first."""
    first: dict[str, str] = {}
    for note in notes:
        place = note.rpartition(" at ")[2].partition(" (")[0]
        first.setdefault(place, note)
    found = list(first.values())
    if len(found) <= MOST_NOTES:
        return found
    return [*found[:MOST_NOTES], f"and {len(found) - MOST_NOTES} more"]
