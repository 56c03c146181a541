"""From captions to names, subtypes and distributions: regions a second on one core, and memory.

    python bench/look.py --json                       # a made-up Visual Genome of a million regions
    python bench/look.py --json --regions 100000
    python bench/look.py --json --keep DIR            # keep the annotations and the results there

The captions are made up by rule (bench/genome.py): over nine tenths of a million are different.
Seconds are of CPU, of this process and of those in which spaCy runs, together.

    regions_per_second  of all text stages: names, subtypes, aggregation, reading included
    reading_per_second  of reading the annotations alone, once
    peak_mb             memory of both processes at their highest, added up
    seconds             of each stage; those of spaCy are all among names
    distinct_phrases    how many different captions there are
    asked_share         of the captions that spaCy read; the others were read before
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import genome
from gnomon.keep import Keep
from gnomon.look.findings import Least, colour_findings
from gnomon.look.pipeline import Options, Pipeline, name_findings, subtype_findings, write_findings
from gnomon.look.readers import open_sources
from gnomon.look.records import AnnotatedPicture, Sighting, mode_named
from gnomon.look.sightings import LookModels
from gnomon.vision.knowledge import COLOURS


def cpu() -> float:
    """Seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak() -> float:
    """Megabytes of this process and of the largest that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_maxrss for each in used) / 1024


class Clock:
    """CPU seconds of stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = cpu()

    def stop(self, stage: str) -> None:
        now = cpu()
        self.seconds[stage] = round(now - self._last, 2)
        self._last = now


def coloured(pictures: Iterator[list[Sighting]]) -> Iterator[list[Sighting]]:
    """Sightings with colours, as a model would give them: each object has two of its own."""
    from msgspec.structs import replace

    known: dict[str, tuple[str, str]] = {}
    rnd = random.Random(0)
    for number, sightings in enumerate(pictures):
        found = []
        for seen in sightings:
            own = known.get(seen.object)
            if own is None:
                own = known[seen.object] = (rnd.choice(COLOURS), rnd.choice(COLOURS))
            found.append(replace(seen, colours=own[number % 2 : number % 2 + 1]))
        yield found


def measure(folder: Path, distinct: int) -> dict[str, object]:
    out = folder / "knowledge"
    out.mkdir(exist_ok=True)
    store = Keep(out / ".look", needed=True)
    paths = [folder / "region_descriptions.json", folder / "image_data.json"]
    clock = Clock()
    sources = open_sources(paths, None, store, "ssd", lambda: None)
    clock.stop("sizes of pictures")
    regions = 0
    for seen in sources.readers[0].scenes():
        regions += len(seen.regions) if isinstance(seen, AnnotatedPicture) else 0
    clock.stop("reading once")
    mode = mode_named("right")
    pipeline = Pipeline(
        sources.readers, Options(mode), LookModels(), store, lambda trouble: None, lambda *how: None
    )
    vocabulary = pipeline.vocabulary()
    clock.stop("names")
    for name, found in (("names", name_findings), ("subtypes", subtype_findings)):
        write_findings(out / f"{name}.jsonl", found(vocabulary), set())
    clock.stop("subtypes")
    pipeline.look(vocabulary)
    clock.stop("sightings")
    made = colour_findings(
        lambda: coloured(pipeline.pictures()), mode, Least.usual(vocabulary.pictures)
    )
    objects = write_findings(out / "colour.jsonl", made, set())
    clock.stop("aggregation")
    text = sum(clock.seconds[stage] for stage in ("names", "subtypes", "aggregation"))
    most = peak()
    return {
        "regions": regions,
        "regions_per_second": round(regions / text),
        "reading_per_second": round(regions / clock.seconds["reading once"]),
        "peak_mb": round(most),
        "seconds": clock.seconds,
        "distinct_phrases": distinct,
        "asked_share": round(vocabulary.asked / regions, 4),
        "names": len(vocabulary.names),
        "objects_with_colours": objects,
    }


def make(folder: Path, regions: int) -> int:
    """Write the annotations; how many different captions there are."""
    return len({hash(phrase) for phrase in genome.write(folder, regions)})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--regions", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument(
        "--made",
        action="store_true",
        help="the annotations are in --keep already: do not count what making them takes",
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        # Made in a process of its own, so that its memory is not counted.
        sample = folder / "sample.json"
        if not args.made:
            import multiprocessing

            child = multiprocessing.get_context("spawn").Process(
                target=_make_all, args=(folder, args.regions)
            )
            child.start()
            child.join()
        distinct = json.loads(sample.read_text(encoding="utf-8"))
        started = time.time()
        found = measure(folder, distinct)
        found["wall_seconds"] = round(time.time() - started, 1)
    if args.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20} {value}")
    return 0


def _make_all(folder: Path, regions: int) -> None:
    (folder / "sample.json").write_text(json.dumps(make(folder, regions)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
