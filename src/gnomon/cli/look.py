"""Make knowledge of typical colours, relative sizes and heights from pictures.

Give a folder of photos, in which a detector then finds things, or annotations: Visual Genome
(region_descriptions.json with image_data.json, objects.json, region_graphs.json), COCO (instances,
captions), a folder of ADE20K or of YOLO labels, or scenes drawn by `gnomon scene`. The folder that
is written holds {names,subtypes,colour,size,elevation}.jsonl and page.html; what was skipped is in
troubles.jsonl. The same command continues where it was stopped.

examples:
  gnomon look photos -o knowledge
  gnomon look photos --colours hf:Salesforce/blip-vqa-base --limit 50 -o knowledge
  gnomon look instances.json --images photos --depth none -o knowledge
  gnomon look region_descriptions.json image_data.json -o knowledge
  gnomon look instances.json --mode code -o as-released
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.dispatch import tell
from gnomon.cli.options import refuse_settings
from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.look.pipeline import NameVocabulary, Pipeline
    from gnomon.look.readers import Sources
    from gnomon.look.records import AnnotatedPicture, Mode, Sighting
    from gnomon.look.sightings import LookModels, PictureSightings, Step, Subtypes

EMBEDDED_DEPTH = "fastdepth"
NONE = "none"
WORK = ".look"  # the folder, in that of the output, where results of stages are kept


def main(args: Namespace) -> int:
    """Run the stages and write the folder."""
    from gnomon.keep import Keep, locked
    from gnomon.look.records import mode_named

    _check(args)
    mode = mode_named(args.mode)
    args.output.mkdir(parents=True, exist_ok=True)
    with locked(args.output / WORK):
        store = Keep(args.output / WORK, needed=True)
        store.remove_torn()
        summary = _make(args, mode, store)
    if not args.quiet:
        print(summary)
    return 0


def _check(args: Namespace) -> None:
    refuse_settings(args.set, "look")
    for name in ("least", "least_name", "limit"):
        value = getattr(args, name)
        if value is not None and value < 0:
            shown = "--limit" if name == "limit" else name
            raise UsageError(f"{shown} cannot be {value}.", "Give a number above 0.")
    if args.limit == 0 or args.least_name == 0:
        raise UsageError("With 0 there is nothing to do.", "Give a number above 0.")
    if args.output.is_file():
        raise DataError("this is a file.", "Give a folder with -o.", file=args.output)


def _make(args: Namespace, mode: Mode, store: Any) -> str:
    from gnomon.cli.progress import staged_lines
    from gnomon.look.pipeline import Options, Pipeline, troubles_file
    from gnomon.look.readers import open_sources
    from gnomon.models.detectors import open_detector
    from gnomon.reports.knowledge import agreement, agreement_listing

    opened = partial(open_detector, args.detector)
    sources = open_sources(args.sources, args.images, store, args.detector, opened)
    needs_depth = any(reader.needs_depth for reader in sources.readers)
    eyes = _eyes(args, mode, needs_depth=needs_depth)
    if needs_depth and args.colours == "pixels" and not args.quiet:
        tell(
            "Colours by pixels are often wrong on photographs: "
            "give a model that sees with --colours MODEL, or leave them out with --colours none."
        )
    options = Options(mode, args.limit or 0, args.least_name)
    with staged_lines(quiet=args.quiet) as watch, troubles_file(args.output) as troubles:
        for trouble in sources.troubles:
            troubles.report(trouble)
        pipeline = Pipeline(sources.readers, options, eyes, store, troubles.report, watch)
        vocabulary = pipeline.vocabulary()
        pipeline.look(vocabulary)
        counts = _write(args, mode, pipeline, vocabulary)
    counts["troubles"] = troubles.count
    if not vocabulary.pictures:
        hint = f"What was wrong is in {args.output / 'troubles.jsonl'}."
        raise DataError("no picture was read.", hint, file=args.sources[0])
    agreed = agreement(str(args.output))
    _write_manifest(args, mode, eyes, sources, vocabulary, counts, agreed)
    _write_page(args.output)
    has_depth = bool(eyes.depth) or _has_true_depth(eyes, sources)
    summary = _summary(args.output, vocabulary, counts, has_depth=has_depth)
    if agreed:
        summary = f"{summary}\n\n{render(agreement_listing(agreed))}"
    return summary


def _write(
    args: Namespace, mode: Mode, pipeline: Pipeline, vocabulary: NameVocabulary
) -> dict[str, int]:
    """Write what was found; how many lines each file has."""
    from gnomon.look import findings
    from gnomon.look import pipeline as output

    least = findings.Least.usual(vocabulary.pictures, pair=args.least)
    every = {
        "names": output.name_findings(vocabulary),
        "subtypes": output.subtype_findings(vocabulary),
        "colour": findings.colour_findings(pipeline.pictures, mode, least),
        "size": findings.size_findings(pipeline.pictures, mode, least),
        "elevation": findings.elevation_findings(pipeline.pictures, mode, least),
    }
    named: set[str] = set()
    counts = {}
    for name, found in every.items():
        file = args.output / f"{name}.jsonl"
        counts[name] = output.write_findings(file, found, named)
    output.write_places(args.output / "regions.jsonl", pipeline.scenes(), frozenset(named))
    return counts


def _write_manifest(
    args: Namespace,
    mode: Mode,
    eyes: LookModels,
    sources: Sources,
    vocabulary: NameVocabulary,
    counts: dict[str, int],
    agreed: list[dict[str, Any]],
) -> None:
    """How the folder was made: nothing in it depends on when or how often it was begun."""
    from gnomon import __version__
    from gnomon.look.pipeline import write_manifest

    write_manifest(
        args.output,
        {
            "gnomon": __version__,
            "sources": [str(path) for path in args.sources],
            "kinds": [reader.kind for reader in sources.readers],
            "images": str(args.images or ""),
            "mode": mode.name,
            "switches": mode.describe(),
            "depth": eyes.depth or ("true" if _has_true_depth(eyes, sources) else "none"),
            "detector": args.detector,
            "encoder": args.encoder,
            "colours": args.colours,
            "limit": args.limit,
            "least": args.least,
            "least_name": args.least_name,
            "pictures": vocabulary.pictures,
            "regions": vocabulary.read,
            "lines": counts,
            "agreement": agreed,
        },
    )


def _has_true_depth(eyes: LookModels, sources: Sources) -> bool:
    return eyes.true_depth and any(reader.has_true_depth for reader in sources.readers)


def _write_page(folder: Path) -> None:
    """A page to look at; the knowledge is whole without it."""
    from gnomon.look.page import write_knowledge_page

    try:
        write_knowledge_page(folder)
    except GnomonError as error:
        tell(f"There is no page: {error}")


def _summary(
    folder: Path, vocabulary: NameVocabulary, counts: dict[str, int], *, has_depth: bool
) -> str:
    lines = [f"{vocabulary.read:,} regions in {vocabulary.pictures:,} pictures"]
    lines += [f"{counts[name]:>9,}  {name}.jsonl" for name in counts]
    if not counts["size"] and has_depth:
        lines.append("No pair was seen often enough to say which is larger.")
    elif not counts["size"]:
        lines.append("No sizes were compared, since nothing says how far away things are: --depth.")
    lines.append(f"in {folder}")
    return "\n".join(lines)


# Which models look: found by name, opened when they are needed.


def _eyes(args: Namespace, mode: Mode, *, needs_depth: bool) -> LookModels:
    """What the options ask for; without --depth, the embedded model if it can be had."""
    from gnomon.look.sightings import LookModels

    steps: list[tuple[str, Step]] = []
    if args.encoder != NONE:
        steps.append((f"encoder {args.encoder}", _subtypes(args.encoder, mode)))
    if args.colours != NONE:
        steps.append((f"colours {args.colours}", _colours(args.colours, mode)))
    name, opener = _depth(args.depth, needs_depth=needs_depth)
    return LookModels(
        depth=name, open_depth=opener, true_depth=args.depth is None, steps=tuple(steps)
    )


def _depth(spec: str | None, *, needs_depth: bool) -> tuple[str, Any]:
    from gnomon.models.detectors import open_depth

    if spec == NONE or (spec is None and not needs_depth):
        return "", lambda: None
    if spec is not None:
        opener = cache(partial(open_depth, spec))
        opener()  # what cannot be opened is said before anything else is done
        return spec, opener
    opener = cache(partial(open_depth, EMBEDDED_DEPTH))
    try:
        opener()
    except GnomonError as error:
        tell(f"Depth is not known, so there will be no sizes: {error}")
        return "", lambda: None
    return EMBEDDED_DEPTH, opener


def _colours(spec: str, mode: Mode) -> Step:
    """Who says the colours: pixels, or a model that sees."""
    from gnomon import registry
    from gnomon.look.colours import ask_colours, colours_by_pixels

    if spec == "pixels":
        return lambda scene, sightings, subtypes: colours_by_pixels(scene, sightings)
    opened = cache(registry.model(spec).open)

    def step(
        scene: AnnotatedPicture, sightings: Sequence[Sighting], subtypes: Subtypes
    ) -> PictureSightings:
        return ask_colours(scene, sightings, opened(), mode)

    return step


def _subtypes(spec: str, mode: Mode) -> Step:
    """A dual encoder that chooses subtypes."""
    from gnomon.look.subtypes import select_subtypes

    opened = cache(partial(_encoder, spec))

    def step(
        scene: AnnotatedPicture, sightings: Sequence[Sighting], subtypes: Subtypes
    ) -> PictureSightings:
        names = {name: list(kinds) for name, kinds in subtypes.items()}
        return select_subtypes(scene, sightings, names, opened(), mode)

    return step


def _encoder(spec: str) -> Any:
    from gnomon.models.similarity import Conse, similarities_of

    if spec == "conse":
        return Conse()
    from gnomon import registry

    return similarities_of(registry.model(spec).open())
