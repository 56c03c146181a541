"""From sources to a folder of knowledge: runs the stages one after the other.

    read -> names -> subtypes -> sightings -> colour, size, elevation

Scenes are taken in chunks, so that memory does not grow with their number. What a stage makes of a
chunk, and what a model sees in a picture, is kept in the store by its content: a program that was
killed at any point, given again, does what is left and writes the same bytes.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from gnomon.items.writing import atomic_file
from gnomon.keep import Keep, key_of
from gnomon.look import captions
from gnomon.look.captions import MODEL, NamedPictures, Namer, Singulars, Tagger
from gnomon.look.readers.scenes import PictureReader
from gnomon.look.records import AnnotatedPicture, Mode, Region, RegionPlace, Sighting, Trouble
from gnomon.look.sightings import Chunk, LookModels, sightings_of
from gnomon.look.subtypes import Minima, candidates
from gnomon.vision.knowledge import PropertyFinding

CHUNK = 4096  # regions that are worked on together, or a few more
EXAMPLES = 12  # regions that are remembered for a name
MOST_IN_PICTURE = 2000  # regions: each is compared with each other one

T = TypeVar("T")
Watch = Callable[[str, int, int], None]  # the stage, how much is done, of how much


class Options(NamedTuple):
    """What was asked for."""

    mode: Mode
    limit: int = 0  # pictures; 0 is all
    least_name: int = 5  # how often a name from captions occurs


class NameVocabulary(NamedTuple):
    """The names that are kept, with counts and examples, and the subtypes of each."""

    names: dict[str, int]
    examples: dict[str, list[str]]
    subtypes: dict[str, dict[str, int]]
    read: int  # regions
    pictures: int
    asked: int  # phrases that spaCy read


class _Part(NamedTuple):
    """Scenes of one source, and the troubles met on the way to them."""

    scenes: list[AnnotatedPicture]
    troubles: list[Trouble]
    are_clean: bool  # whether their names need no check


class Pipeline:
    """The stages of one run. `report` is told every trouble, in order."""

    def __init__(
        self,
        readers: Sequence[PictureReader],
        options: Options,
        eyes: LookModels,
        store: Keep,
        report: Callable[[Trouble], None],
        watch: Watch,
    ) -> None:
        self._readers, self._options, self._eyes = readers, options, eyes
        self._store, self._report, self._watch = store, report, watch
        self._named: list[str] = []  # keys of chunks whose regions have names
        self._seen: list[str] = []  # keys of chunks of sightings

    def vocabulary(self) -> NameVocabulary:
        """Read everything and give regions their names."""
        with closing(Tagger()) as tagger:
            return self._vocabulary(tagger)

    def _vocabulary(self, tagger: Tagger) -> NameVocabulary:
        namer = Namer(tagger, Singulars(tagger if captions.is_installed() else None))
        noisy: Counter[str] = Counter()
        clean: Counter[str] = Counter()
        examples: dict[str, list[str]] = {}
        regions = pictures = 0
        for part in self._parts():
            for trouble in part.troubles:
                self._report(trouble)
            named = self._name(part.scenes, namer)
            (clean if part.are_clean else noisy).update(named.counts)
            for scene in named.scenes:
                pictures += 1
                regions += len(scene.regions)
                _remember(scene.regions, examples)
        least = self._options.least_name
        words = captions.candidate_words(noisy, least)
        known = dict.fromkeys(words, True)
        if words and captions.is_installed():
            known = dict(zip(words, tagger.are_known(words), strict=True))
        kept = clean + Counter(captions.kept_names(noisy, known, least))
        names = dict(sorted(kept.items(), key=lambda pair: (-pair[1], pair[0])))
        hyponyms = not self._options.mode.has("no_hyponyms")
        found = candidates(names, Minima.usual(sum(names.values())), hyponyms=hyponyms)
        return NameVocabulary(names, examples, found, regions, pictures, tagger.asked)

    def _name(self, scenes: list[AnnotatedPicture], namer: Namer) -> NamedPictures:
        key = key_of("names", MODEL, scenes)
        self._named.append(key)
        return self._store.kept(key, NamedPictures, lambda: namer.name(scenes))

    def look(self, vocabulary: NameVocabulary) -> None:
        """See what each region says about its thing; `pictures` gives it afterwards."""
        names = key_of("vocabulary", list(vocabulary.names), vocabulary.subtypes)
        for number, key in enumerate(self._named):
            self._watch("sightings", number, len(self._named))
            named = self._find(key, NamedPictures)
            scenes = [_renamed(scene, vocabulary.names) for scene in named.scenes]
            chunk = self._sightings(scenes, names, vocabulary)
            for trouble in chunk.troubles:
                self._report(trouble)
        self._watch("sightings", len(self._named), len(self._named))

    def _sightings(
        self, scenes: list[AnnotatedPicture], names: str, vocabulary: NameVocabulary
    ) -> Chunk:
        mode = self._options.mode
        key = key_of("sightings", scenes, names, sorted(mode.switches), self._eyes.names())
        self._seen.append(key)
        look = partial(sightings_of, scenes, mode, self._eyes, vocabulary.subtypes, self._store)
        return self._store.kept(key, Chunk, look)

    def scenes(self) -> Iterator[AnnotatedPicture]:
        """All scenes again, with the names that regions were given."""
        for key in self._named:
            yield from self._find(key, NamedPictures).scenes

    def pictures(self) -> Iterator[list[Sighting]]:
        """The sightings of one picture after the other."""
        for key in self._seen:
            yield from self._find(key, Chunk).pictures

    def _find(self, key: str, type: type[T]) -> T:
        kept = self._store.read(key)
        assert kept is not None, "what was kept is there"
        return msgspec.msgpack.decode(kept, type=type)

    def _parts(self) -> Iterator[_Part]:
        """The scenes of all sources in chunks; a chunk is of one source."""
        left = self._options.limit or sys.maxsize
        total = sum(reader.total for reader in self._readers)
        before = 0
        for reader in self._readers:
            for part in _chunks(reader.scenes(), left, reader.names_are_clean):
                left -= len(part.scenes)
                self._watch("names", before + reader.done, total)
                yield part
            before += reader.total
            self._watch("names", before, total)


def _chunks(
    seen: Iterable[AnnotatedPicture | Trouble], most: int, are_clean: bool
) -> Iterator[_Part]:
    """At most so many scenes, and the troubles between them."""
    part = _Part([], [], are_clean)
    regions = 0
    for each in seen:
        if isinstance(each, Trouble):
            part.troubles.append(each)
            continue
        if most <= 0:
            break
        most -= 1
        if len(each.regions) > MOST_IN_PICTURE:
            what = f"of its {len(each.regions):,} regions the first {MOST_IN_PICTURE:,} are used"
            part.troubles.append(Trouble(what=what, picture=each.picture.id))
            each = msgspec.structs.replace(each, regions=each.regions[:MOST_IN_PICTURE])
        part.scenes.append(each)
        regions += len(each.regions) + len(each.captions) + 1
        if regions >= CHUNK:
            yield part
            part = _Part([], [], are_clean)
            regions = 0
    if part.scenes or part.troubles:
        yield part


def _remember(regions: Iterable[Region], examples: dict[str, list[str]]) -> None:
    for region in regions:
        known = examples.setdefault(region.name, [])
        if len(known) < EXAMPLES:
            known.append(region.id)


def _renamed(scene: AnnotatedPicture, names: dict[str, int]) -> AnnotatedPicture:
    """A scene whose regions go by names that are kept."""
    regions = []
    for region in scene.regions:
        name = captions.shortened(region.name, names)
        if name != region.name:
            region = msgspec.structs.replace(region, name=name)
        regions.append(region)
    return AnnotatedPicture(picture=scene.picture, regions=tuple(regions))


# The folder of knowledge: what was found as JSON lines, what was skipped, and how it was made.
#
# Each file takes its place whole or not at all, and holds nothing that another run would change.


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
