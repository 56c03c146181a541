"""Questions of depth and number: camera motion, metres, which is nearer, and how many."""

from math import atan, cos, hypot, radians, sin, tan
from random import Random

from msgspec.structs import replace

from gnomon.scenes import worlds
from gnomon.scenes.bodies import dot, minus
from gnomon.scenes.pictures import survey
from gnomon.scenes.scenes import Placed, Scene, Viewer
from gnomon.scenes.things import thing_named
from gnomon.scenes.worlds import ViewDials, ViewQuestion

# motion: every motion from the same start, and back.


INVERSE = {
    "moved left": "moved right",
    "moved right": "moved left",
    "moved forward": "moved backward",
    "moved backward": "moved forward",
    "moved up": "moved down",
    "moved down": "moved up",
    "turned left": "turned right",
    "turned right": "turned left",
}
STEPS = {  # right, forward and up, in steps
    "moved left": (-1, 0, 0),
    "moved right": (1, 0, 0),
    "moved forward": (0, 1, 0),
    "moved backward": (0, -1, 0),
    "moved up": (0, 0, 1),
    "moved down": (0, 0, -1),
}
DEEP = 1.5  # how many times as far as the nearest thing the farthest one must be
LEAST_SEEN = 3  # things that every picture shows


def motion(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Pairs of pictures from the same start, one for each motion, and each the other way round."""
    scene = _deep_world(rng, dials, mirrored=bool(number % 2))
    if scene is None:
        return None
    turn = float(rng.randint(13, 19))
    found = []
    for name in worlds.choices_of("motion"):
        after = replace(scene, viewer=moved_camera(scene.viewer, name, turn))
        if not _sees_some(after):
            return None
        for first, second, answer in ((scene, after, name), (after, scene, INVERSE[name])):
            found.append(
                ViewQuestion(
                    worlds.question_text("motion"),
                    worlds.choices_of("motion"),
                    answer,
                    (first, second),
                    {"motion": "turn" if name.startswith("turned") else "move"},
                    text_in_words=worlds.question_text("motion in words"),
                    context=_before_and_after(first, second),
                )
            )
    return found


def _deep_world(rng: Random, dials: ViewDials, *, mirrored: bool) -> Scene | None:
    look = worlds.new_look(rng)
    names = worlds.some_standing(rng, look, dials.things or rng.randint(5, 7))
    placed = worlds.scattered(rng, names, 2.2)
    if placed is None:
        return None
    things = worlds.mirrored_things(placed) if mirrored else tuple(placed)
    above, distance = rng.uniform(16, 24), rng.uniform(1.0, 1.35)
    viewer = worlds.camera_on(things, above=above, angle=60, distance=distance)
    ways = [worlds.floor_distance(worlds.eye_of(viewer), worlds.spot_of(each)) for each in things]
    if max(ways) < DEEP * min(ways):
        return None
    return worlds.seen_world(things, viewer, look, share=0.4)


def moved_camera(viewer: Viewer, motion: str, turn: float) -> Viewer:
    """A camera after one motion; a turn and a step aside shift the middle of a picture alike."""
    way = [to - start for start, to in zip(viewer.eye, viewer.at, strict=True)]
    flat = hypot(way[0], way[1])
    ahead = (way[0] / flat, way[1] / flat)
    if motion in STEPS:
        step = flat * tan(radians(turn))
        aside, forward, up = STEPS[motion]
        rise = min(0.7 * step, viewer.eye[2] - 0.3)
        x = step * (aside * ahead[1] + forward * ahead[0])
        y = step * (-aside * ahead[0] + forward * ahead[1])
        shift = (x, y, rise * up)
        eye = tuple(value + shift[n] for n, value in enumerate(viewer.eye))
        at = tuple(value + shift[n] for n, value in enumerate(viewer.at))
        return worlds.rounded_viewer(replace(viewer, eye=eye, at=at))
    angle = radians(turn if motion == "turned left" else -turn)
    x = viewer.eye[0] + way[0] * cos(angle) - way[1] * sin(angle)
    y = viewer.eye[1] + way[0] * sin(angle) + way[1] * cos(angle)
    return worlds.rounded_viewer(replace(viewer, at=(x, y, viewer.at[2])))


def _sees_some(scene: Scene) -> bool:
    if scene.viewer.eye[2] < 0.25:
        return False
    return len(worlds.seen_ids(scene, share=0.4)) >= LEAST_SEEN


def _before_and_after(first: Scene, second: Scene) -> str:
    """Both views in words: where each thing is for the camera, on the floor."""
    lines = []
    for name, scene in (("First", first), ("Second", second)):
        lines.append(f"{name} view, camera {100 * scene.viewer.eye[2]:.0f} cm above the floor:")
        eye = worlds.eye_of(scene.viewer)
        way = minus((scene.viewer.at[0], scene.viewer.at[1]), eye)
        ahead = (way[0] / hypot(*way), way[1] / hypot(*way))
        for placed in scene.things:
            offset = minus(worlds.spot_of(placed), eye)
            right = dot(offset, (ahead[1], -ahead[0]))
            side = "right" if right >= 0 else "left"
            far = f"{100 * dot(offset, ahead):.0f} cm ahead"
            lines.append(f"- {placed.id}: {far}, {100 * abs(right):.0f} cm to the {side}")
    return "\n".join(lines)


# distance: metres, and which is closer although the picture may show it farther.


def distance(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """In turn: metres between things and to the camera, and which of two is closer to a third."""
    if number % 2:
        return _closer(rng, dials)
    return _metres(rng, dials)


def _metres(rng: Random, dials: ViewDials) -> list[ViewQuestion] | None:
    """Two pictures with a thing at the same column and at different distances."""
    look = worlds.new_look(rng)
    names = worlds.some_standing(rng, look, dials.things or rng.randint(3, 5))
    a, b, known = names[:3]
    placed = worlds.scattered(rng, names, 1.6)
    if placed is None:
        return None
    viewer = worlds.camera_on(placed, above=rng.uniform(18, 28), angle=50, distance=1.2)
    eye = worlds.eye_of(viewer)
    way = minus(worlds.spot_of(placed[1]), eye)
    farther = rng.choice((0.72, 1.4))
    other = worlds.moved_to(placed[1], eye[0] + way[0] * farther, eye[1] + way[1] * farther)
    if not worlds.keeps_clear(other, [placed[0], *placed[2:]], 0.3):
        return None
    found = []
    apart = []
    for mine in (placed[1], other):
        scene = worlds.seen_world((placed[0], mine, *placed[2:]), viewer, look, (a, b, known))
        if scene is None:
            return None
        height = f"{thing_named(known).size[2]:.2f}"
        apart.append(worlds.floor_distance(worlds.spot_of(placed[0]), worlds.spot_of(mine)))
        away = worlds.floor_distance(eye, worlds.spot_of(mine))
        for name, length, first in (("apart", apart[-1], a), ("away", away, b)):
            text = worlds.question_text(name, known=known, height=height, a=first, b=b)
            gold = f"{length:.2f} m"
            tags = {"part": name, "metres": metres_band(length)}
            found.append(ViewQuestion(text, (), gold, (scene,), tags, scene))
    if max(apart) < worlds.RATIO * min(apart):
        return None
    return found


def metres_band(length: float) -> str:
    """A band of lengths for tables.

    >>> metres_band(2.4)
    '2-3 m'
    """
    return f"{int(length)}-{int(length) + 1} m"


def _closer(rng: Random, dials: ViewDials) -> list[ViewQuestion] | None:
    """Two things and a third: closer in the picture and closer in truth, or only in the picture."""
    look = worlds.new_look(rng)
    a, b, known = worlds.some_standing(rng, look, 3)
    ratio = dials.ratio or rng.choice((1.3, 1.6, 2.0))
    side = rng.choice((-1, 1))
    aside = rng.uniform(0.95, 1.25)
    middle = worlds.placed_at(rng, known)
    spots = {  # of the closer and of the farther thing
        "consistent": ((side * 0.25 * aside, 0.97 * aside), (-side * aside * ratio, 0.0)),
        "counter": ((-side * aside, 0.0), (side * 0.25 * aside, 0.97 * aside * ratio)),
    }
    one, two = worlds.placed_at(rng, a), worlds.placed_at(rng, b)
    above = rng.uniform(13, 18)
    found = []
    for cue, (near, far) in spots.items():
        for first, second, gold in ((near, far, a), (far, near, b)):
            things = [middle, worlds.moved_to(one, *first), worlds.moved_to(two, *second)]
            scene = worlds.seen_world(things, worlds.camera_on(things, above=above), look)
            if scene is None or not worlds.keeps_clear(things[1], [middle, things[2]], 0.3):
                return None
            text = worlds.question_text("closer", a=a, b=b, known=known)
            tags = {"cue": cue, "ratio": f"{ratio:g}", "part": "closer"}
            found.append(ViewQuestion(text, (a, b), gold, (scene,), tags, scene))
    return found


# far-up: lower in the picture is nearer, or it is not.


STAND = "block 0.36 x 0.36 x "
LIFT = 0.12  # of the picture's height, by which one thing appears above the other


def far_up(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Two things on stands: the nearer one is lower in the picture in half of them."""
    a, b = rng.sample(worlds.view_words()["raised"], 2)
    ratio = dials.ratio or rng.choice((1.3, 1.5, 1.8))
    near = rng.uniform(2.4, 3.2)
    height = rng.uniform(1.5, 1.8)
    side = rng.choice((-1, 1))
    viewer = Viewer(eye=(0.0, -near, height), at=(0.0, 0.0, 0.75), angle=50)
    viewer = worlds.rounded_viewer(viewer)
    look = worlds.new_look(rng)
    found = []
    for cue in ("consistent", "counter"):
        for first, second, gold in ((near, near * ratio, a), (near * ratio, near, b)):
            raised = _stands(cue, first < second, height, near, ratio)
            things: list[Placed] = []
            for name, away, up, where in (
                (a, first, raised[0], side),
                (b, second, raised[1], -side),
            ):
                at = (worlds.rounded(where * 0.17 * away), worlds.rounded(away - near))
                things += _on_stand(name, at, up)
            scene = worlds.seen_world(things, viewer, look, (a, b), share=0.9, least=16)
            if scene is None:
                return None
            text = worlds.question_text("nearer", a=a, b=b)
            tags = {"cue": cue, "ratio": f"{ratio:g}"}
            found.append(ViewQuestion(text, (a, b), gold, (scene,), tags, scene))
    return found


def _stands(
    cue: str, first_is_near: bool, height: float, near: float, ratio: float
) -> tuple[float, float]:
    """How high the two stands are: the same two heights, for the one or for the other thing.

    Low is a stand from which a thing at the far place appears below one that stands high near by.
    """
    low = 0.06
    angle = atan((height - low) / (near * ratio)) - radians(50 * LIFT)
    high = height - near * tan(angle)
    near_up, far_up = (high, low) if cue == "counter" else (low, high)
    return (near_up, far_up) if first_is_near else (far_up, near_up)


def _on_stand(name: str, at: tuple[float, float], up: float) -> list[Placed]:
    """A thing and the stand that carries it."""
    up = round(up, 2)
    stand = Placed(
        id=f"stand of the {name}",
        thing=f"{STAND}{up:.2f}",
        at=(at[0], at[1], 0.0),
        colour="pale grey",
    )
    return [Placed(id=name, thing=name, at=(at[0], at[1], up)), stand]


# count: so many on either side, with and without others around.


def count(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """How many of a kind are to the left of something: two numbers, with and without clutter."""
    look, above = worlds.new_look(rng), rng.uniform(34, 42)
    counted = worlds.view_words()["counted"]
    many = rng.choice(worlds.fitting(look, counted))
    clutter = dials.things or 3
    standing = [
        name for name in worlds.fitting(look, worlds.view_words()["standing"]) if name != many
    ]
    b, *others = rng.sample(standing, 1 + min(clutter, len(standing) - 1))
    left, right = rng.sample(range(1, 6), 2)
    found = []
    for extra in (0, clutter):
        for here, there in ((left, right), (right, left)):
            placed = [worlds.placed_at(rng, b)]
            sides = [-1] * here + [1] * there
            for copy, side in enumerate(sides, start=1):
                free = _beside(rng, many, f"{many} {copy}", placed, side)
                if free is None:
                    return None
                placed.append(free)
            for name in others[:extra]:
                free = worlds.free_place(rng, name, placed, 2.0, 0.2)
                if free is None:
                    return None
                placed.append(free)
            viewer = worlds.camera_on(placed, above=above)
            scene = worlds.seen_world(placed, viewer, look, share=0.45, least=14)
            if scene is None or not _are_apart(scene, many, b):
                return None
            text = worlds.question_text("count", many=counted[many], b=b)
            tags = {"clutter": str(extra)}
            found.append(ViewQuestion(text, (), str(here), (scene,), tags, scene))
    return found


def _beside(rng: Random, name: str, id: str, others: list[Placed], side: int) -> Placed | None:
    """A free place well to one side of the middle."""
    for _ in range(40):
        free = worlds.free_place(rng, name, others, 2.0, 0.2)
        if free is None:
            return None
        if side * free.at[0] >= 0.45:
            return replace(free, id=id)
    return None


def _are_apart(scene: Scene, many: str, b: str) -> bool:
    """Whether each of many is clearly to one side of a thing in the picture, too."""
    boxes = survey(scene, worlds.SURVEY).boxes
    mark = boxes[b]
    if mark is None:
        return False
    middle = (mark[0] + mark[2]) / 2
    for placed in scene.things:
        box = boxes[placed.id]
        if placed.thing != many or box is None:
            continue
        column = (box[0] + box[2]) / 2
        same_side = (column - middle) * placed.at[0] > 0
        if not same_side or abs(column - middle) < 5:
            return False
    return True
