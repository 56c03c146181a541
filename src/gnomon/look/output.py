"""The folder of knowledge: what was found as JSON lines, what was skipped, and how it was made.

Each file takes its place whole or not at all, and holds nothing that another run would change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gnomon.items.writing import atomic_file
from gnomon.look.pipeline import NameVocabulary
from gnomon.look.records import AnnotatedPicture, RegionPlace, Trouble
from gnomon.vision.knowledge import PropertyFinding

_encode = msgspec.json.Encoder().encode


class Troubles:
    """Writes down what was skipped, and counts it."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.count = 0
        self._write = write

    def report(self, trouble: Trouble) -> None:
        """Write down one more."""
        self.count += 1
        self._write(_encode(trouble) + b"\n")


@contextmanager
def troubles_file(folder: Path) -> Iterator[Troubles]:
    """Where troubles are written while a run goes on."""
    with atomic_file(folder / "troubles.jsonl") as part, part.open("wb") as stream:
        yield Troubles(stream.write)


def write_findings(file: Path, findings: Iterable[PropertyFinding], named: set[str]) -> int:
    """Write findings as JSON lines and return how many; `named` gets the regions they name."""
    count = 0
    with atomic_file(file) as part, part.open("wb", buffering=2**20) as stream:
        for finding in findings:
            stream.write(_encode(finding) + b"\n")
            named.update(finding.regions)
            for regions in finding.examples.values():
                named.update(regions)
            count += 1
    return count


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write how the folder was made."""
    text = msgspec.json.format(_encode(content), indent=1)
    with atomic_file(folder / "manifest.json") as part:
        part.write_bytes(text + b"\n")


def write_places(file: Path, scenes: Iterable[AnnotatedPicture], wanted: frozenset[str]) -> None:
    """Write where the wanted regions are, for those whose pictures are at hand."""
    with atomic_file(file) as part, part.open("wb", buffering=2**20) as stream:
        for scene in scenes:
            if not scene.picture.file:
                continue
            for region in scene.regions:
                if region.id not in wanted:
                    continue
                place = RegionPlace(
                    id=region.id,
                    name=region.name,
                    picture=scene.picture.id,
                    file=scene.picture.file,
                    width=scene.picture.width,
                    height=scene.picture.height,
                    box=region.box,
                )
                stream.write(_encode(place) + b"\n")


def name_findings(vocabulary: NameVocabulary) -> Iterator[PropertyFinding]:
    """Every name that is kept, with its count."""
    for name, count in vocabulary.names.items():
        yield PropertyFinding(
            what=name,
            property="name",
            objects=(name,),
            counts={name: count},
            regions=tuple(vocabulary.examples.get(name, ())),
        )


def subtype_findings(vocabulary: NameVocabulary) -> Iterator[PropertyFinding]:
    """Every object that has subtypes, with their counts."""
    for name, kinds in vocabulary.subtypes.items():
        if len(kinds) < 2:
            continue
        total = sum(kinds.values())
        shares = {kind: round(count / total, 6) for kind, count in kinds.items()}
        yield PropertyFinding(
            what=name,
            property="subtype",
            objects=(name,),
            counts=kinds,
            distribution=shares,
            regions=tuple(vocabulary.examples.get(name, ())),
        )
