"""VSR's question with pictures that nobody has seen: contrastive quads of scenes with known truth.

One world is asked in three forms: as a picture, described in words, and as a prompt for image
synthesis. The tag `fact` is the same in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

from msgspec.structs import replace

from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.categories import CHOICES, category
from gnomon.benchmarks.vsr.quads import Quad, Wanted, make_quads
from gnomon.errors import UsageError, unknown
from gnomon.fetching.catalogue import cache_folder
from gnomon.records import Image, Item
from gnomon.space.contrasting import Dials, Frames
from gnomon.space.describing import describe_scene
from gnomon.space.drawing import draw_missing, keep_within, picture_name
from gnomon.space.pictures import check_size
from gnomon.space.relations import relations
from gnomon.space.scenes import Scene
from gnomon.space.things import things
from gnomon.vision.images import describe

FORMS = ("caption", "text", "scene")
CONTROLS = ("no", "yes", "only")
PROBED = ("unstated", "viewer", "own")  # whose left and right a caption means
FIRST_BATCH, BATCH = 32, 512  # items whose pictures are drawn before the first of them is given
MOST_BYTES = 2**30  # of pictures in the cache
Truth = Literal["false", "true"]


def fresh(
    *,
    seed: int = 0,
    quads: int = 60,
    form: str = "caption",
    frames: str = "clear",
    relations: str = "",
    grades: str = "ab",
    controls: str = "no",
    distractors: int = 1,
    visible: float = 0.6,
    least: float = 0.4,
    distance: float = 1.0,
    size: int = 384,
) -> Iterator[Item]:
    """Contrastive quads: two pictures and two captions, each caption true of one picture.

    seed         draws scenes and captions
    quads        how many; each has four items
    form         caption (a picture is shown), text (the scene is described) or scene (a prompt
                 for image synthesis)
    frames       clear (true or false in every frame) or probe (the viewer's frame and the
                 ground's own differ: which one does a model assume?)
    relations    only these, with commas between them
    grades       of relations: a (geometry decides), b (things too), c (debatable wording)
    controls     yes adds statements such as "There is a bench.", only asks nothing else
    distractors  other things in each picture, 0 to 6
    visible      the least share of each thing that nothing hides, 0 to 1
    least        the least share of the picture that each thing fills, in percent
    distance     of the viewer; at 1 the things fill the picture, at 2 they are half as large
    size         pixels of a picture's side
    """
    wanted = _wanted(
        seed=seed,
        quads=quads,
        frames=frames,
        relations=relations,
        grades=grades,
        dials=Dials(distractors, visible, least / 100, distance),
    )
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    if controls not in CONTROLS:
        raise unknown("choice of controls", controls, CONTROLS)
    if controls != "no" and form == "scene":
        raise UsageError("A prompt has no controls.", "Leave --set controls out.")
    check_size(size)
    made = make_quads(wanted)
    absent = _absent_things(made, seed) if controls != "no" else []
    for number, quad in enumerate(made):
        if controls != "only":
            yield from _asked(quad, form, wanted.frames, size)
        if controls != "no":
            yield from _controls(quad, absent[number], form, size)


def illustrate(
    items: Iterable[Item],
    *,
    folder: Path | None = None,
    processes: int = 0,
    watch: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Iterator[Item]:
    """Draw the pictures of items that are not there yet, and say where they are."""
    if options["form"] != "caption":
        yield from items
        return
    scenes = _scenes_by_name(options)
    place = folder or cache_folder() / "pictures"
    if folder is None:
        keep_within(place, MOST_BYTES, scenes)
    total = len(scenes)
    done: dict[str, Scene] = {}
    stream = iter(items)
    count = FIRST_BATCH
    while batch := list(islice(stream, count)):
        count = BATCH
        names = {image.path for item in batch for image in item.images}
        new = {name: scenes[name] for name in sorted(names - done.keys())}
        draw_missing(
            new,
            place,
            options["size"],
            processes=processes,
            watch=_counted(watch, len(done), total),
        )
        done |= new
        for item in batch:
            yield replace(item, images=tuple(_found(place, image) for image in item.images))


def _counted(
    watch: Callable[[int, int], None] | None, before: int, total: int
) -> Callable[[int, int], None] | None:
    if watch is None:
        return None
    return lambda done, _: watch(before + done, total)


def _found(folder: Path, image: Image) -> Image:
    file = folder / image.path
    os.utime(file)  # it was used now, and is the last to be removed
    return describe(file)


def _scenes_by_name(options: dict[str, Any]) -> dict[str, Scene]:
    least = options["least"] / 100
    wanted = _wanted(
        seed=options["seed"],
        quads=options["quads"],
        frames=options["frames"],
        relations=options["relations"],
        grades=options["grades"],
        dials=Dials(options["distractors"], options["visible"], least, options["distance"]),
    )
    found = {}
    for quad in make_quads(wanted):
        for scene in quad.scenes:
            found[picture_name(scene, options["size"])] = scene
    return found


def _wanted(
    *, seed: int, quads: int, frames: str, relations: str, grades: str, dials: Dials
) -> Wanted:
    if frames not in get_args(Frames):
        raise unknown("choice of frames", frames, get_args(Frames))
    chosen: Frames = "probe" if frames == "probe" else "clear"
    names = [name.strip() for name in relations.split(",")]
    asked = tuple(name for name in names if name)
    return Wanted(seed, quads, chosen, asked, "".join(sorted(set(grades))), dials)


# Items about relations.


def _asked(quad: Quad, form: str, frames: Frames, size: int) -> Iterator[Item]:
    stated = PROBED if frames == "probe" else ("",)
    for frame in stated:
        for number in (0, 1):
            if form == "scene":
                yield _prompt_item(quad, number, frame)
                continue
            for picture in (0, 1):
                yield _statement_item(quad, number, picture, frame, form, size)


def _statement_item(
    quad: Quad, number: int, picture: int, frame: str, form: str, size: int
) -> Item:
    """A caption of a picture, or of the scene in words."""
    true = quad.is_true(number, picture)
    text = wording.framed(_caption(quad, number), frame, quad.ground)
    tags = _tags(quad, number, frame)
    if frame:
        tags |= {"viewer": _truth(true), "own": _truth(not true)}
        true = true != (frame == "own")
    fact = _fact(quad, number, picture, frame)
    item = Item(
        id=fact,
        form="caption",
        text=text,
        choices=CHOICES,
        gold=(_truth(true),),
        group="/".join(part for part in (quad.id, frame) if part),
        tags=tags | {"fact": fact},
    )
    return _shown(item, quad, picture, form, size)


def _prompt_item(quad: Quad, number: int, frame: str) -> Item:
    """A caption to be painted: the picture that should come out is the one it is true of."""
    picture = 0 if quad.is_true(number, 0) else 1
    fact = _fact(quad, number, picture, frame)
    text = wording.framed(_caption(quad, number), frame, quad.ground)
    return Item(
        id=f"{fact}/scene",
        form="scene",
        text=wording.prompt(quad.subject, quad.ground, text, several=_several(quad)),
        group="/".join(part for part in (quad.id, frame) if part),
        tags=_tags(quad, number, frame) | {"fact": fact},
    )


def _shown(item: Item, quad: Quad, picture: int, form: str, size: int) -> Item:
    """The item with its picture, or with a description in place of it."""
    scene = quad.scenes[picture]
    if form == "caption":
        image = Image(path=picture_name(scene, size), width=size, height=size)
        return replace(item, images=(image,))
    return replace(
        item,
        id=f"{item.id}/text",
        form="choice",
        text=wording.question(item.text),
        context=describe_scene(scene, int(quad.id, 16)),
    )


def _caption(quad: Quad, number: int) -> str:
    relation = quad.relations[number]
    return wording.caption(quad.subject, relation, quad.ground, several=_several(quad))


def _several(quad: Quad) -> str:
    if len(quad.subjects) > 1:
        return "subject"
    return "ground" if len(quad.grounds) > 1 else ""


def _truth(true: bool) -> Truth:
    return "true" if true else "false"


def _fact(quad: Quad, number: int, picture: int, frame: str) -> str:
    parts = (quad.id, frame, f"{number + 1}-{picture + 1}")
    return "/".join(part for part in parts if part)


def _tags(quad: Quad, number: int, frame: str) -> dict[str, str]:
    relation = quad.relations[number]
    rule = relations()[relation]
    return {
        "relation": relation,
        "category": category(relation),
        "grade": rule.grade,
        "frame": frame or rule.frame,
        "subj": quad.subject,
        "obj": quad.ground,
        "against": quad.relations[1 - number],
        "things": str(len(quad.scenes[0].things)),
    }


# Controls: is a thing there at all?


def _controls(quad: Quad, absent: Sequence[str], form: str, size: int) -> Iterator[Item]:
    """Of each picture one statement that is true and one that is not."""
    several = _several(quad)
    present = ((quad.subject, several == "subject"), (quad.ground, several == "ground"))
    for picture in (0, 1):
        name, many = present[picture]
        asked = ((name, many, True), (absent[picture], False, False))
        for thing, plural, true in asked:
            fact = f"{quad.id}/{picture + 1}/{thing.replace(' ', '_')}"
            item = Item(
                id=fact,
                form="caption",
                text=wording.presence(thing, several=plural),
                choices=CHOICES,
                gold=(_truth(true),),
                group=f"{quad.id}/control",
                tags={"control": "yes", "subj": thing, "fact": fact},
            )
            yield _shown(item, quad, picture, form, size)


def _absent_things(quads: Sequence[Quad], seed: int) -> list[tuple[str, str]]:
    """For each picture a thing that is not in it; each as often as in the true statements."""
    rng = Random(f"controls {seed}")
    names = []
    for quad in quads:
        names += [quad.subject, quad.ground]
    rng.shuffle(names)
    for slot in range(len(names)):
        if _is_absent(quads, slot, names[slot]):
            continue
        for other in range(len(names)):
            fits = _is_absent(quads, slot, names[other]) and _is_absent(quads, other, names[slot])
            if fits:
                names[slot], names[other] = names[other], names[slot]
                break
        else:  # too few quads to change with
            names[slot] = rng.choice([name for name in things() if _is_absent(quads, slot, name)])
    return list(zip(names[::2], names[1::2], strict=True))


def _is_absent(quads: Sequence[Quad], slot: int, name: str) -> bool:
    """Whether a picture, two to a quad, has no such thing and could have it."""
    scene = quads[slot // 2].scenes[slot % 2]
    if any(placed.thing == name for placed in scene.things):
        return False
    return things()[name].place in (scene.place, "both")
