"""Folders with a file of annotations for each picture: JSON of ADE20K, text of YOLO."""

from collections.abc import Iterator
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError
from gnomon.files import first_bytes, read_lines, read_yaml
from gnomon.jsonstream import decoded
from gnomon.look.readers import scenes
from gnomon.look.records import Picture, Region, SideLength, Trouble
from gnomon.vision.images import PictureFolder, files_below

MOST_BYTES = 64 * 2**20  # of the file of one picture
VISIBLE = 255  # pixels of an instance mask that are seen; those that something hides are 128
SAME_SCENES = {"home_office": "office"}


class _Polygon(msgspec.Struct, gc=False):
    x: list[float]
    y: list[float]


class _Parts(msgspec.Struct, gc=False):
    ispartof: Any = None  # an id, or an empty list


class _Object(msgspec.Struct, gc=False):
    id: int
    polygon: _Polygon
    raw_name: str = ""
    name: str = ""
    parts: _Parts | None = None
    instance_mask: str = ""


class _Annotation(msgspec.Struct, gc=False):
    filename: str
    imsize: list[SideLength]  # height, width, channels
    object: list[msgspec.Raw]


class _File(msgspec.Struct, gc=False):
    annotation: _Annotation


OBJECTS = msgspec.json.Decoder(_Object)


def ade20k(folder: Path, gallery: PictureFolder) -> scenes.PictureReader:
    """All pictures below a folder."""
    files = [file for file in files_below(folder) if file.suffix == ".json"]
    return scenes.folder_reader("ADE20K", files, partial(_ade_scene, gallery))


def _ade_scene(gallery: PictureFolder, file: Path) -> Iterator[scenes.Seen]:
    try:
        annotation = msgspec.json.decode(_text_of(file), type=_File).annotation
    except DataError as error:
        yield Trouble(what=error.message, file=str(file))
        return
    except (msgspec.MsgspecError, RecursionError) as error:
        yield Trouble(what=f"the picture is skipped: {error}", file=str(file))
        return
    height, width = (*annotation.imsize, 0, 0)[:2]
    picture = Picture(id=file.stem, width=width, height=height, scene=scene_named(file))
    picture, trouble = _with_file(gallery, picture, annotation.filename, file)
    if trouble:
        yield trouble
    if picture.width <= 0 or picture.height <= 0:
        what = "the picture is skipped: its size is not known"
        yield Trouble(what=what, file=str(file), picture=picture.id)
        return
    yield from scenes.scene_of(picture, _ade_regions(annotation, picture, file))


def _with_file(
    gallery: PictureFolder, picture: Picture, name: str, file: Path
) -> tuple[Picture, Trouble | None]:
    """The picture that the gallery has, or the one beside its annotations."""
    if gallery.folder is not None:
        return scenes.with_file(gallery, picture, Path(name).name, picture.id)
    beside = _beside(file, name)
    if not beside:
        what = f"its picture {name} is missing"
        return picture, Trouble(what=what, picture=picture.id, file=str(file))
    return msgspec.structs.replace(picture, file=beside), None


def _ade_regions(
    annotation: _Annotation, picture: Picture, file: Path
) -> Iterator[Region | Trouble]:
    things = []
    for raw in annotation.object:
        thing = decoded(bytes(raw), OBJECTS)
        if isinstance(thing, str):
            yield scenes.trouble_with("", picture, file, f"an object is skipped: {thing}")
        else:
            things.append(thing)
    names = {}
    for thing in things:
        names[thing.id] = (thing.raw_name or thing.name.partition(",")[0]).strip().lower()
    for thing in things:
        id = f"{picture.id}/{thing.id}"
        points = scenes.polygon_of(thing.polygon.x, thing.polygon.y, picture)
        wrong = ""
        if not points:
            wrong = "its outline has too few points"
        elif scenes.box_around(points).area <= 0:
            wrong = "its outline has no area"
        elif not names[thing.id]:
            wrong = "it has no name"
        if wrong:
            yield scenes.trouble_with(id, picture, file, wrong)
            continue
        whole = thing.parts.ispartof if thing.parts else None
        yield Region(
            id=id,
            picture=picture.id,
            box=scenes.box_around(points),
            name=names[thing.id],
            whole=names.get(whole, "") if isinstance(whole, int) else "",
            outline=(points,),
            mask=_beside(file, thing.instance_mask),
            mark=VISIBLE,
        )


def scene_named(file: Path) -> str:
    """The scene that a picture's folder names.

    >>> scene_named(Path("training/home_or_hotel/home_office/ADE_train_00000001.json"))
    'office'
    """
    folder = file.parent.name
    return SAME_SCENES.get(folder, folder)


def _beside(file: Path, name: str) -> str:
    """A file that annotations name, which is beside or below them; empty if it is not there."""
    if not name or "\0" in name or ".." in Path(name).parts or Path(name).is_absolute():
        return ""
    try:
        found = file.parent / name
        return str(found) if found.is_file() else ""
    except OSError:  # a name that no file can have
        return ""


def _text_of(file: Path) -> str:
    content = first_bytes(file, MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        most = MOST_BYTES // 2**20
        raise DataError(f"the file has more than {most} MB.", "Leave it out.", file=file)
    for encoding in ("utf-8-sig", "windows-1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise DataError("the text is neither UTF-8 nor windows-1252.", "Write it as UTF-8.", file=file)


# YOLO: a text file for each picture, a line for each thing: class and box, or class and polygon.
#
# Everything is in shares of the picture. What the classes are called stands in data.yaml (names),
# classes.txt or obj.names, in the folder of the text files or one above.


LISTS = ("classes.txt", "obj.names", "labels.txt")
ABOVE = 3  # folders up in which the names of the classes are looked for
UNIT = Picture(id="", width=1, height=1)  # shares are pixels of a picture of one by one


def yolo(folder: Path, gallery: PictureFolder) -> scenes.PictureReader:
    """All text files below a folder."""
    names = class_names(folder)

    def read(file: Path) -> Iterator[scenes.Seen]:
        picture, trouble = scenes.with_file(gallery, Picture(id=file.stem), file.stem)
        if trouble:
            yield trouble
        yield from scenes.scene_of(picture, _yolo_regions(file, picture, names))

    needs_depth = gallery.folder is not None
    return scenes.folder_reader("YOLO", label_files(folder), read, needs_depth=needs_depth)


def _yolo_regions(
    file: Path, picture: Picture, names: dict[int, str]
) -> Iterator[Region | Trouble]:
    try:
        for number, line in read_lines(file):
            id = f"{file.stem}/{number}"
            region = _yolo_region(line.split(), id, picture, names)
            if isinstance(region, str):
                yield scenes.trouble_with(id, picture, file, region)
            else:
                yield region
    except DataError as error:
        yield Trouble(what=error.message, file=str(file), picture=picture.id)


def _yolo_region(
    fields: list[str], id: str, picture: Picture, names: dict[int, str]
) -> Region | str:
    """A line as a region, or what is wrong with it."""
    try:
        label, *numbers = int(fields[0]), *map(float, fields[1:])
    except ValueError:
        return "the line is not a class and its numbers"
    if label not in names:
        return f"class {label} has no name"
    if not isfinite(sum(numbers)):
        return "the line has a figure that is no number"
    region = partial(Region, id=id, picture=picture.id, name=names[label])
    if len(numbers) >= 6 and len(numbers) % 2 == 0:
        outline = tuple(min(1.0, max(0.0, number)) for number in numbers)
        if scenes.box_around(outline).area <= 0:
            return "its outline has no area"
        return region(box=scenes.box_around(outline), outline=(outline,))
    if len(numbers) not in (4, 5):
        return f"the line has {len(numbers)} numbers, neither a box nor an outline"
    across, down, width, height = numbers[:4]
    box, wrong = scenes.box_of(across - width / 2, down - height / 2, width, height, UNIT)
    if box is None:
        return wrong
    return region(box=box, confidence=(*numbers, 1.0)[4])  # how sure a detector was


def label_files(folder: Path) -> list[Path]:
    """The text files of a folder that are no lists of names."""
    found = []
    for file in files_below(folder):
        if file.suffix == ".txt" and file.name not in LISTS:
            found.append(file)
    return found


def class_names(folder: Path) -> dict[int, str]:
    """What the classes are called."""
    for place in (folder, *folder.absolute().parents[:ABOVE]):
        for file in sorted(place.glob("*.yaml")):
            names = _names_in(read_yaml(file))
            if names:
                return names
        for name in LISTS:
            if (place / name).is_file():
                lines = [line.strip() for _, line in read_lines(place / name)]
                return dict(enumerate(lines))
    raise DataError(
        "nothing says what the classes of these YOLO files are called.",
        "Put data.yaml or classes.txt beside them.",
        file=folder,
    )


def _names_in(content: Any) -> dict[int, str]:
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, list):
        return {number: str(name) for number, name in enumerate(names)}
    if isinstance(names, dict):
        return {int(number): str(name) for number, name in names.items() if str(number).isdigit()}
    return {}
