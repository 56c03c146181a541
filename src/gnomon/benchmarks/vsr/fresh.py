"""VSR's question with pictures that nobody has seen: contrastive quads of scenes with known truth.

One world is asked in three forms: as a picture, described in words, and as a prompt for image
synthesis. The tag `fact` is the same in all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from gnomon.benchmarks.illustrating import draw_pictures
from gnomon.benchmarks.offering import offered
from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.files import CHOICES, category
from gnomon.benchmarks.vsr.quads import Quad, make_quads, quads_in_turn, wanted_by
from gnomon.benchmarks.vsr.ways import chosen_ways, in_ways
from gnomon.errors import UsageError, check_known
from gnomon.records import Image, Item
from gnomon.scenes.contrasts import truth_in
from gnomon.scenes.descriptions import describe_scene
from gnomon.scenes.drawing import picture_name
from gnomon.scenes.layouts import Frames, Roles
from gnomon.scenes.pictures import check_size
from gnomon.scenes.relations import relations as rules
from gnomon.scenes.things import things

FORMS = ("caption", "text", "scene")
LOOKS = ("shapes", "meshes")
CONTROLS = ("no", "yes", "only")
OFFERED_GRADES = ("a", "b")  # of relations that are offered among others
LEAST_WRONG = 5
PROBED = ("unstated", "viewer", "own")  # whose left and right a caption means


def fresh(
    *,
    seed: int = 0,
    quads: int = 60,
    form: str = "caption",
    frames: str = "clear",
    relations: str = "",
    grades: str = "ab",
    controls: str = "no",
    distractors: int = 6,
    visible: float = 0.6,
    least: float = 0.4,
    distance: float = 1.0,
    size: int = 512,
    look: str = "shapes",
    ways: str = "",
    options: str = "",
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
    distractors  at most so many other things in a picture, and at least half as many, 0 to 6
    visible      the least share of each thing that nothing hides, 0 to 1
    least        the least share of the picture that each thing fills, in percent
    distance     of the viewer; at 2 everything is half as large as at 1
    size         pixels of a picture's side
    look         shapes, or meshes: the same scenes with models (gnomon data get things)
    ways         other ways to put each fact: converse, negation, mirror (of the picture), with
                 commas between them, or all
    options      2 to 6, or a range such as 2-4: ask which of so many relations a picture shows,
                 one item for each number
    """
    wanted = wanted_by(
        seed=seed,
        quads=quads,
        frames=frames,
        relations=relations,
        grades=grades,
        distractors=distractors,
        visible=visible,
        least=least,
        distance=distance,
    )
    _check_asked(form, controls, look)
    check_size(size)
    others = chosen_ways(ways, form)
    if options:
        _check_offer(form, frames, controls, others)
        for quad in quads_in_turn(wanted):
            yield from offered(_which_items(quad, form, size), options)
        return
    absent = absent_things(make_quads(wanted), seed) if controls != "no" else []
    for number, quad in enumerate(quads_in_turn(wanted)):
        if controls != "only":
            asked = _asked(quad, form, wanted.frames, size)
            yield from _in_ways(quad, asked, others, beside_controls=controls == "yes")
        if controls != "no":
            yield from in_ways(control_items(quad, absent[number], form, size), others)


def _check_asked(form: str, controls: str, look: str) -> None:
    check_known("form", form, FORMS)
    check_known("choice of controls", controls, CONTROLS)
    check_known("look", look, LOOKS)
    if controls != "no" and form == "scene":
        raise UsageError("A prompt has no controls.", "Leave --set controls out.")


def _check_offer(form: str, frames: str, controls: str, ways: Sequence[str]) -> None:
    if form == "scene" or frames == "probe" or controls != "no" or ways:
        raise UsageError(
            "So many relations can only be offered of a picture or a description, in clear frames.",
            "Leave out --set controls and ways, form=scene and frames=probe, or options.",
        )


def _which_items(quad: Quad, form: str, size: int) -> Iterator[Item]:
    """Which relation each picture shows: that of its caption, among others that it does not show.

    The wrong words are those that geometry denies, so that no other answer is right.
    """
    if several_role(quad):
        return
    for picture in (0, 1):
        number = 0 if quad.is_true(0, picture) else 1
        right, against = quad.relations[number], quad.relations[1 - number]
        wrong = [against]
        for word, rule in rules().items():
            clear = rule.grade in OFFERED_GRADES and word not in (right, against)
            if clear and truth_in(quad.scenes[picture], quad.roles, word) is False:
                wrong.append(word)
        if len(wrong) < LEAST_WRONG:
            continue
        fact = _fact(quad, number, "", picture)
        words = [right, *wrong]
        Random(f"{fact}/words").shuffle(words)
        item = Item(
            id=fact,
            form="choice",
            text=wording.which(quad.subject, quad.ground),
            choices=tuple(words),
            gold=(right,),
            group=quad.id,
            tags=_tags(quad, number, "") | {"fact": fact, "pair": _pair(quad, number, "")},
        )
        yield shown(item, quad, picture, form, size, which=True)


def _asked(quad: Quad, form: str, frames: Frames, size: int) -> Iterator[Item]:
    stated = PROBED if frames == "probe" else ("",)
    for frame in stated:
        for number in (0, 1):
            if form == "scene":
                yield _prompt_item(quad, number, frame)
                continue
            for picture in (0, 1):
                yield _statement_item(quad, number, picture, frame, form, size)


def _in_ways(
    quad: Quad, asked: Iterable[Item], ways: Sequence[str], *, beside_controls: bool
) -> Iterator[Item]:
    """The items of a quad in several ways, as far as geometry decides; marked as no controls."""
    for item in in_ways(asked, ways, drawn=True):
        if not _is_certain(quad, item):
            continue
        if beside_controls:
            item = replace(item, tags=item.tags | {"control": "no"})
        yield item


def _is_certain(quad: Quad, item: Item) -> bool:
    """Whether geometry decides a converse, and in both pictures, so that its answers balance."""
    if item.tags.get("way") != "converse":
        return True
    turned = Roles(quad.grounds, quad.subjects)
    truths = [truth_in(scene, turned, item.tags["relation"]) for scene in quad.scenes]
    return None not in truths


def _statement_item(
    quad: Quad, number: int, picture: int, frame: str, form: str, size: int
) -> Item:
    """A caption of a picture, or of the scene in words."""
    true = quad.is_true(number, picture)
    text = wording.framed(_caption(quad, number), frame, quad.ground)
    tags = _tags(quad, number, frame)
    if frame:
        tags |= {"viewer": truth_word(true), "own": truth_word(not true)}
        true = true != (frame == "own")
    fact = _fact(quad, number, frame, picture)
    item = Item(
        id=fact,
        form="caption",
        text=text,
        choices=CHOICES,
        gold=(truth_word(true),),
        group="/".join(part for part in (quad.id, frame) if part),
        tags=tags | {"fact": fact, "pair": _pair(quad, number, frame)},
    )
    return shown(item, quad, picture, form, size)


def _prompt_item(quad: Quad, number: int, frame: str) -> Item:
    """A caption to be painted: the picture that should come out is the one it is true of.

    A judge says which of the quad's two relations it shows. The two prompts of a quad name its
    things in either order.
    """
    picture = 0 if quad.is_true(number, 0) else 1
    fact = _fact(quad, number, frame, picture)
    text = wording.framed(_caption(quad, number), frame, quad.ground)
    several = several_role(quad)
    things = {"thing_a": quad.subject, "thing_b": quad.ground}
    return Item(
        id=f"{fact}/scene",
        form="scene",
        text=wording.prompt(quad.subject, quad.ground, text, several=several, turned=number == 1),
        choices=tuple(quad.relations),
        gold=(quad.relations[number],),
        group="/".join(part for part in (quad.id, frame) if part),
        tags=_tags(quad, number, frame) | {"fact": fact} | things,
    )


def _caption(quad: Quad, number: int) -> str:
    relation = quad.relations[number]
    return wording.caption(quad.subject, relation, quad.ground, several=several_role(quad))


def _fact(quad: Quad, number: int, frame: str, picture: int) -> str:
    """A caption of a picture."""
    return f"{_pair(quad, number, frame)}-{picture + 1}"


def _pair(quad: Quad, number: int, frame: str) -> str:
    """A caption of both pictures."""
    parts = (quad.id, frame, str(number + 1))
    return "/".join(part for part in parts if part)


def _tags(quad: Quad, number: int, frame: str) -> dict[str, str]:
    relation = quad.relations[number]
    rule = rules()[relation]
    found = {
        "relation": relation,
        "category": category(relation),
        "grade": rule.grade,
        "frame": frame or rule.frame,
        "subj": quad.subject,
        "obj": quad.ground,
        "against": quad.relations[1 - number],
        "things": str(len(quad.scenes[0].things)),
    }
    several = several_role(quad)
    if several:
        found["several"] = several
    return found


# How a quad is shown: as a picture, or as the scene in words.


def shown(
    item: Item, quad: Quad, picture: int, form: str, size: int, *, which: bool = False
) -> Item:
    """The item with its picture, or with a description in place of it."""
    scene = quad.scenes[picture]
    if form == "caption":
        image = Image(path=picture_name(scene, size), width=size, height=size)
        return replace(item, images=(image,))
    return replace(
        item,
        id=f"{item.id}/text",
        form="choice",
        text=item.text if which else wording.question(item.text),
        context=describe_scene(scene, int(quad.id, 16)),
    )


def several_role(quad: Quad) -> str:
    """The role of which there are several: subject, ground or, if there is none, nothing."""
    if len(quad.subjects) > 1:
        return "subject"
    return "ground" if len(quad.grounds) > 1 else ""


def truth_word(true: bool) -> str:
    """The label of a statement that is true or false."""
    return "true" if true else "false"


# Controls: is a thing in the picture at all? They tell not seeing from not knowing where.


RELATION, CATEGORY = "there is", "Recognition"  # of a control
MOST_SHUFFLES = 20


def control_items(quad: Quad, absent: Sequence[str], form: str, size: int) -> Iterator[Item]:
    """Of each picture one statement that is true and one that is not."""
    several = several_role(quad)
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
                gold=(truth_word(true),),
                group=f"{quad.id}/control",
                tags={
                    "control": "yes",
                    "relation": RELATION,
                    "category": CATEGORY,
                    "subj": thing,
                    "obj": thing,  # one thing alone is spoken of
                    "fact": fact,
                },
            )
            yield shown(item, quad, picture, form, size)


def absent_things(quads: Sequence[Quad], seed: int) -> list[tuple[str, str]]:
    """For each picture a thing that is not in it; each as often as in the true statements."""
    rng = Random(f"controls {seed}")
    names = []
    for quad in quads:
        names += [quad.subject, quad.ground]
    for _ in range(MOST_SHUFFLES):
        rng.shuffle(names)
        if _swap_what_is_there(quads, names):
            break
    for slot in range(len(names)):
        if not _is_absent(quads, slot, names[slot]):  # too few quads to change with
            names[slot] = rng.choice([name for name in things() if _is_absent(quads, slot, name)])
    return list(zip(names[::2], names[1::2], strict=True))


def _swap_what_is_there(quads: Sequence[Quad], names: list[str]) -> bool:
    """Let names change places until none is of a thing that is there; whether that succeeds."""
    for slot in range(len(names)):
        if _is_absent(quads, slot, names[slot]):
            continue
        for other in range(len(names)):
            fits = _is_absent(quads, slot, names[other]) and _is_absent(quads, other, names[slot])
            if fits:
                names[slot], names[other] = names[other], names[slot]
                break
        else:
            return False
    return True


def _is_absent(quads: Sequence[Quad], slot: int, name: str) -> bool:
    """Whether a picture, two to a quad, has no such thing and could have it."""
    scene = quads[slot // 2].scenes[slot % 2]
    if any(placed.thing == name for placed in scene.things):
        return False
    return things()[name].place in (scene.place, "both")


def illustrate(items: Iterable[Item], **options: Any) -> Iterator[Item]:
    """Draw the pictures of items, if they are asked of pictures."""
    if options["form"] != "caption":
        yield from items
        return
    items = list(items)
    missing = {image.path for item in items for image in item.images}
    scenes = {}
    for quad in quads_in_turn(wanted_by(**options)):
        for scene in quad.scenes:
            scenes[picture_name(scene, options["size"])] = scene
        missing -= scenes.keys()
        if not missing:
            break
    yield from draw_pictures(items, scenes, meshes=options["look"] == "meshes", **options)
