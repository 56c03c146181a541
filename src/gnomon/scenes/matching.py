"""Questions of which one is the same: places from another side, plans, and turned shapes.

Four worlds that differ in one fact are each shown twice: as what is asked about, and among the four
that are offered. So every offer is right once, and no picture alone says which.
"""

from collections.abc import Sequence
from itertools import permutations, product
from math import cos, radians, sin
from random import Random

from gnomon.scenes.bodies import Body, plan_distance
from gnomon.scenes.pictures import viewer_of
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.worlds import (
    PlanView,
    Shown,
    ViewDials,
    ViewQuestion,
    choices_of,
    floor_distance,
    free_place,
    mirrored_things,
    moved_to,
    new_look,
    plan_legend,
    question_text,
    rounded,
    rounded_viewer,
    scattered,
    sees,
    spot_of,
    view_words,
)

Things = tuple[Placed, ...]


def four_of_four(
    rng: Random,
    text: str,
    asked: Sequence[Shown],
    offered: Sequence[Shown],
    tags: dict[str, str],
) -> list[ViewQuestion]:
    """Each of four worlds asked about, with all four on offer in an order of their own."""
    letters = choices_of("letters")
    around = rng.sample(range(4), 4)  # the order of the offers, which begins elsewhere each time
    places = rng.sample(range(4), 4)  # of the right one, for each world
    found = []
    for number, one in enumerate(asked):
        start = around.index(number) - places[number]
        order = [around[(start + step) % 4] for step in range(4)]
        shows = (one, *(offered[place] for place in order))
        found.append(ViewQuestion(text, letters, letters[places[number]], shows, tags))
    return found


# same and plan: a world, one thing moved, two exchanged, and all mirrored.


LEAST_MOVE = 1.0  # metres by which things are moved
LEAST_ASIDE = 0.6  # metres from the middle, of two things of a world that is mirrored
SIDES = (60, 90, 120)  # degrees between the two cameras


def same(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Which picture shows the same place from another side."""
    worlds = _four_worlds(rng, dials)
    if worlds is None:
        return None
    side = dials.angle or SIDES[number % len(SIDES)]
    turn = rng.choice((-1, 1)) * side
    look = new_look(rng)
    asked = _seen_from(worlds, look, 0.0)
    offered = _seen_from(worlds, look, turn)
    if asked is None or offered is None:
        return None
    tags = {"angle": str(side)}
    return four_of_four(rng, question_text("same"), asked, offered, tags)


def plan(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Which plan fits a picture or, in turn, which picture fits a plan."""
    worlds = _four_worlds(rng, dials)
    if worlds is None:
        return None
    scenes = _seen_from(worlds, new_look(rng), 0.0)
    if scenes is None:
        return None
    plans = [PlanView(scene) for scene in scenes]
    legend = plan_legend(scenes[0])
    if number % 2:
        text = question_text("picture", legend=legend)
        return four_of_four(rng, text, plans, scenes, {"part": "picture of a plan"})
    text = question_text("plan", legend=legend)
    return four_of_four(rng, text, scenes, plans, {"part": "plan of a picture"})


def _four_worlds(rng: Random, dials: ViewDials) -> list[Things] | None:
    """A world and three that differ from it in one fact each."""
    count = dials.things or rng.randint(4, 5)
    standing = view_words()["standing"]
    names = rng.sample(standing, min(count, len(standing)))
    placed = scattered(rng, names, 1.7, gap=0.45)
    if placed is None:
        return None
    aside = [each for each in placed if abs(each.at[0]) >= LEAST_ASIDE]
    moved = _one_moved(rng, placed)
    swapped = _two_swapped(rng, placed)
    if len(aside) < 2 or moved is None or swapped is None:
        return None
    worlds = [tuple(placed), moved, swapped, mirrored_things(placed)]
    return rng.sample(worlds, 4)


def _one_moved(rng: Random, placed: list[Placed]) -> Things | None:
    number = rng.randrange(len(placed))
    mine = placed[number]
    others = [each for each in placed if each is not mine]
    for _ in range(40):
        free = free_place(rng, mine.thing, others, 1.7, 0.45)
        if free is None:
            return None
        if floor_distance(spot_of(free), spot_of(mine)) >= LEAST_MOVE:
            after = moved_to(mine, *spot_of(free))
            return (*placed[:number], after, *placed[number + 1 :])
    return None


def _two_swapped(rng: Random, placed: list[Placed]) -> Things | None:
    pairs = []
    for one, two in permutations(range(len(placed)), 2):
        if floor_distance(spot_of(placed[one]), spot_of(placed[two])) >= LEAST_MOVE:
            pairs.append((one, two))
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    things = list(placed)
    things[one] = moved_to(placed[one], *spot_of(placed[two]))
    things[two] = moved_to(placed[two], *spot_of(placed[one]))
    return tuple(things)


def _seen_from(worlds: Sequence[Things], look: int, turn: float) -> list[Scene] | None:
    """Every world from the same camera; none unless all things are seen in each."""
    everything = [placed for things in worlds for placed in things]
    viewer = rounded_viewer(viewer_of(everything, around=turn, above=30.0))
    found = []
    for things in worlds:
        scene = Scene(things=things, viewer=viewer, place="outdoors", look=look)
        if not sees(scene, [each.id for each in things], share=0.45, least=18):
            return None
        if not _stand_free(things):
            return None
        found.append(scene)
    return found


def _stand_free(things: Things) -> bool:
    """Whether no thing reaches into another."""
    bodies = [Body(each) for each in things]
    for number, body in enumerate(bodies):
        for other in bodies[number + 1 :]:
            if plan_distance(body, other) < 0.1:
                return False
    return True


# joint: shapes of cubes (Shepard and Metzler 1971), two of them and their mirror images.


Cells = frozenset[tuple[int, int, int]]
CUBE, PITCH = "block 0.19 x 0.19 x 0.19", 0.2  # metres; a small gap shows where cubes meet
TURNS = (30, 60, 90, 120, 150, 180)
COLOURS = ("amber", "pale blue", "lime", "rose", "cream")
LEAST_CUBE = 0.12  # the share of every cube that is seen


def joint(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Which shape is the same, turned: two shapes and their mirror images are on offer."""
    first, second = _arms(rng), _arms(rng)
    if first is None or second is None or len(first) != len(second):
        return None
    shapes = [first, _mirrored(first), second, _mirrored(second)]
    if len({_name(shape) for shape in shapes}) < 4:
        return None
    angle = dials.angle or TURNS[number % len(TURNS)]
    turn = rng.choice((-1, 1)) * angle
    look, colour = new_look(rng), rng.choice(COLOURS)
    start = rng.randrange(360)
    asked = [_scene_of_cells(shape, float(start), colour, look) for shape in shapes]
    offered = [_scene_of_cells(shape, float(start + turn), colour, look) for shape in shapes]
    for scene in (*asked, *offered):
        if not sees(scene, [each.id for each in scene.things], share=LEAST_CUBE, least=8):
            return None
    order = rng.sample(range(4), 4)
    asked = [asked[place] for place in order]
    offered = [offered[place] for place in order]
    tags = {"angle": str(angle)}
    return four_of_four(rng, question_text("joint"), asked, offered, tags)


def _arms(rng: Random) -> Cells | None:
    """Four arms of cubes, each at right angles to the one before; none if they touch."""
    place = (0, 0, 0)
    cells = [place]
    axis = rng.randrange(3)
    for length in rng.sample((1, 2, 2, 3), 4):
        axis = rng.choice([other for other in range(3) if other != axis])
        step = rng.choice((-1, 1))
        for _ in range(length):
            moved = list(place)
            moved[axis] += step
            place = (moved[0], moved[1], moved[2])
            cells.append(place)
    if len(set(cells)) < len(cells) or _touching(cells):
        return None
    return frozenset(cells)


def _touching(cells: list[tuple[int, int, int]]) -> bool:
    """Whether cubes meet that do not follow one another."""
    for number, one in enumerate(cells):
        for other in cells[number + 2 :]:
            if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1:
                return True
    return False


def _mirrored(cells: Cells) -> Cells:
    return frozenset((-x, y, z) for x, y, z in cells)


def _name(cells: Cells) -> tuple[tuple[int, int, int], ...]:
    """The same for a shape however it is turned, and another one for its mirror image."""
    return min(_sorted_from_zero(turned) for turned in turned_cells(cells))


def turned_cells(cells: Cells) -> list[list[tuple[int, int, int]]]:
    """A shape in the 24 ways in which a cube can be turned."""
    found = []
    for axes in permutations(range(3)):
        for signs in product((-1, 1), repeat=3):
            inversions = sum(axes[i] > axes[j] for i in range(3) for j in range(i + 1, 3))
            even = inversions % 2 == 0
            if (signs[0] * signs[1] * signs[2] > 0) is not even:
                continue  # a mirror image
            turned = []
            for cell in cells:
                x, y, z = (sign * cell[axis] for sign, axis in zip(signs, axes, strict=True))
                turned.append((x, y, z))
            found.append(turned)
    return found


def _sorted_from_zero(cells: list[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    low = [min(cell[n] for cell in cells) for n in range(3)]
    moved = [(x - low[0], y - low[1], z - low[2]) for x, y, z in cells]
    return tuple(sorted(moved))


def _scene_of_cells(cells: Cells, turn: float, colour: str, look: int) -> Scene:
    """The shape on its stand, turned about the vertical."""
    low = min(z for _, _, z in cells)
    middle = [sum(cell[n] for cell in cells) / len(cells) for n in range(2)]
    c, s = cos(radians(turn)), sin(radians(turn))
    things = []
    for number, (x, y, z) in enumerate(sorted(cells), start=1):
        u, v = (x - middle[0]) * PITCH, (y - middle[1]) * PITCH
        at = (rounded(u * c - v * s), rounded(u * s + v * c), rounded((z - low) * PITCH))
        cube = Placed(id=f"cube {number}", thing=CUBE, at=at, turn=turn % 360, colour=colour)
        things.append(cube)
    viewer = viewer_of(things, above=28.0, angle=32)
    return Scene(things=tuple(things), viewer=rounded_viewer(viewer), place="outdoors", look=look)
