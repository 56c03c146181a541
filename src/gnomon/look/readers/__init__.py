"""Readers of annotations and pictures, and which one a path is for."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from gnomon.errors import DataError, path_hint
from gnomon.jsonstream import FaultError, JsonElement, JsonFile
from gnomon.keep import Keep
from gnomon.look.readers.coco import coco
from gnomon.look.readers.folders import ade20k, label_files, yolo
from gnomon.look.readers.scenes import PictureReader, photos, rendered
from gnomon.look.readers.visual_genome import read_sizes, visual_genome
from gnomon.look.records import Trouble
from gnomon.scenes.pictures import scene_in
from gnomon.vision.detection import ObjectFinder
from gnomon.vision.images import PICTURE_ENDINGS, PictureFolder, files_below

KNOWN = (
    "Give Visual Genome (region_descriptions, objects, region_graphs), COCO (instances, captions), "
    "ADE20K or YOLO annotations, a folder of photos, or scenes."
)


T = TypeVar("T")


class Sources(NamedTuple):
    """Where scenes come from, and what was wrong with what goes with them."""

    readers: list[PictureReader]
    troubles: list[Trouble]


def open_sources(
    paths: Sequence[Path],
    images: Path | None,
    store: Keep,
    detector: str,
    open_detector: Callable[[], ObjectFinder],
) -> Sources:
    """A reader for each path, by what is in it."""
    gallery = PictureFolder(images)
    troubles: list[Trouble] = []
    kinds = [(path, kind_of(path)) for path in paths]
    sizes = {}
    for path, kind in kinds:
        if kind == "image_data":
            sizes.update(read_sizes(path, troubles.append))

    def of_visual_genome(path: Path, kind: str) -> PictureReader:
        if not sizes and images is None:
            raise DataError(
                "its boxes are in pixels, and nothing says how large the pictures are.",
                "Give image_data.json as well, or the folder of the pictures with --images.",
                file=path,
            )
        return visual_genome(path, kind, sizes, gallery)

    opening: dict[str, Callable[[Path, str], PictureReader]] = {
        **dict.fromkeys(("region_descriptions", "objects", "region_graphs"), of_visual_genome),
        "coco": lambda path, _: coco(path, gallery),
        "ade20k": lambda path, _: ade20k(path, gallery),
        "yolo": lambda path, _: yolo(path, gallery),
        "photos": lambda path, _: photos(path, detector, open_detector, store),
        "scenes": lambda path, _: rendered(path, store),
    }
    readers = [opening[kind](path, kind) for path, kind in kinds if kind in opening]
    if not readers:
        raise DataError("image_data.json alone has no regions.", KNOWN, file=paths[0])
    return Sources(readers, troubles)


def kind_of(path: Path) -> str:
    """What a path holds, by its content.

    One of region_descriptions, objects, region_graphs, image_data, coco, ade20k, yolo, photos,
    scenes.
    """
    if not path.exists():
        hint = path_hint(path, "Check the path.")
        raise DataError("there is no such file or folder.", hint, file=path)
    if path.is_dir():
        return _kind_of_folder(path)
    if path.suffix.lower() in PICTURE_ENDINGS:
        return "scenes"
    return _kind_of_file(path)


def _kind_of_folder(folder: Path) -> str:
    has_photos = False
    for file in files_below(folder):
        if file.suffix == ".json":
            return "scenes" if b'"things"' in JsonFile(file).first_bytes(2**20) else "ade20k"
        if file.suffix.lower() in PICTURE_ENDINGS:
            if not has_photos and file.suffix == ".png" and scene_in(file) is not None:
                return "scenes"
            has_photos = True
    if label_files(folder):
        return "yolo"
    if has_photos:
        return "photos"
    raise DataError("the folder has neither pictures nor annotations.", KNOWN, file=folder)


def _kind_of_file(file: Path) -> str:
    source = JsonFile(file)
    head = source.first_bytes(2**16)
    if head.startswith(b"["):
        return _kind_of_array(source)
    if head.startswith(b"{"):
        if b'"things"' in head and b'"viewer"' in head:
            return "scenes"
        return "coco"
    _first(source)  # says what is wrong
    raise DataError("the file is no JSON.", KNOWN, file=file)


def _kind_of_array(source: JsonFile) -> str:
    first = _first(source)
    members = _as(first.text, dict[str, msgspec.Raw]) or {} if first else {}
    if "width" in members and "image_id" in members:
        return "image_data"
    if "objects" in members:
        return "objects"
    regions = _as(members.get("regions", b""), list[msgspec.Raw]) or []
    if regions and "objects" in (_as(regions[0], dict[str, msgspec.Raw]) or {}):
        return "region_graphs"
    if "regions" in members:
        return "region_descriptions"
    raise DataError("its elements are of no kind that is known.", KNOWN, file=source.file)


def _first(source: JsonFile) -> JsonElement | None:
    try:
        return next(source.elements(), None)
    except FaultError as fault:
        raise DataError(
            f"{fault.what} (byte {fault.byte}).",
            f"Fetch the file again, or give another. {KNOWN}",
            file=source.file,
        ) from None


def _as(text: bytes | msgspec.Raw, kind: type[T]) -> T | None:
    """JSON of a kind; none if it is something else."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
