"""Questions of which one fits: places from another side, plans, turned shapes and pieces.

Four worlds that differ in one fact are each shown twice: as what is asked about, and among the four
that are offered. So every offer is right once, and no picture alone says which.
"""

from collections.abc import Iterable, Sequence
from itertools import permutations, product
from math import cos, radians, sin
from random import Random

from gnomon.scenes import worlds
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.worlds import PlanView, Shown, ViewDials, ViewQuestion

Things = tuple[Placed, ...]


def four_of_four(
    rng: Random,
    text: str,
    asked: Sequence[Shown],
    offered: Sequence[Shown],
    tags: dict[str, str],
) -> list[ViewQuestion]:
    """Each of four places asked about, with all four on offer in an order of their own."""
    letters = worlds.choices_of("letters")
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
    look = worlds.new_look(rng)
    places = _four_worlds(rng, dials, look)
    if places is None:
        return None
    side = dials.angle or SIDES[number % len(SIDES)]
    turn = rng.choice((-1, 1)) * side
    asked = _seen_from(places, look, 0.0)
    offered = _seen_from(places, look, turn)
    if asked is None or offered is None:
        return None
    tags = {"angle": str(side)}
    return four_of_four(rng, worlds.question_text("same"), asked, offered, tags)


def plan(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """Which plan fits a picture or, in turn, which picture fits a plan."""
    look = worlds.new_look(rng)
    places = _four_worlds(rng, dials, look)
    if places is None:
        return None
    scenes = _seen_from(places, look, 0.0)
    if scenes is None:
        return None
    plans = [PlanView(scene) for scene in scenes]
    legend = worlds.plan_legend(scenes[0])
    if number % 2:
        text = worlds.question_text("picture", legend=legend)
        return four_of_four(rng, text, plans, scenes, {"part": "picture of a plan"})
    text = worlds.question_text("plan", legend=legend)
    return four_of_four(rng, text, scenes, plans, {"part": "plan of a picture"})


def _four_worlds(rng: Random, dials: ViewDials, look: int) -> list[Things] | None:
    """A world and three that differ from it in one fact each."""
    names = worlds.some_standing(rng, look, dials.things or rng.randint(4, 5))
    placed = worlds.scattered(rng, names, 1.7, gap=0.45)
    if placed is None:
        return None
    aside = [each for each in placed if abs(each.at[0]) >= LEAST_ASIDE]
    moved = _one_moved(rng, placed)
    swapped = _two_swapped(rng, placed)
    if len(aside) < 2 or moved is None or swapped is None:
        return None
    places = [tuple(placed), moved, swapped, worlds.mirrored_things(placed)]
    return rng.sample(places, 4)


def _one_moved(rng: Random, placed: list[Placed]) -> Things | None:
    number = rng.randrange(len(placed))
    mine = placed[number]
    others = [each for each in placed if each is not mine]
    for _ in range(40):
        free = worlds.free_place(rng, mine.thing, others, 1.7, 0.45)
        if free is None:
            return None
        if worlds.floor_distance(worlds.spot_of(free), worlds.spot_of(mine)) >= LEAST_MOVE:
            after = worlds.moved_to(mine, *worlds.spot_of(free))
            return (*placed[:number], after, *placed[number + 1 :])
    return None


def _two_swapped(rng: Random, placed: list[Placed]) -> Things | None:
    pairs = []
    for one, two in permutations(range(len(placed)), 2):
        if (
            worlds.floor_distance(worlds.spot_of(placed[one]), worlds.spot_of(placed[two]))
            >= LEAST_MOVE
        ):
            pairs.append((one, two))
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    things = list(placed)
    things[one] = worlds.moved_to(placed[one], *worlds.spot_of(placed[two]))
    things[two] = worlds.moved_to(placed[two], *worlds.spot_of(placed[one]))
    return tuple(things)


def _seen_from(places: Sequence[Things], look: int, turn: float) -> list[Scene] | None:
    """Every world from the same camera; none unless all things are seen in each."""
    everything = [placed for things in places for placed in things]
    viewer = worlds.camera_on(everything, around=turn, above=30.0)
    found = []
    for things in places:
        scene = worlds.seen_world(things, viewer, look, share=0.45, least=18)
        if scene is None or not _stand_free(things):
            return None
        found.append(scene)
    return found


def _stand_free(things: Things) -> bool:
    """Whether no thing reaches into another."""
    return all(worlds.keeps_clear(one, things[:number], 0.1) for number, one in enumerate(things))


# joint: shapes of cubes (Shepard and Metzler 1971), two of them and their mirror images.


Cell = tuple[int, int, int]
Cells = frozenset[Cell]
CUBE, PITCH = "block 0.19 x 0.19 x 0.19", 0.2  # metres; a small gap shows where cubes meet
TURNS = (30, 60, 90, 120, 150, 180)
COLOURS = ("amber", "pale blue", "lime", "rose", "cream")
LEAST_CUBE = 0.2  # the share of every cube that is seen
BLOCK = frozenset(product(range(3), range(3), range(2)))  # of which a piece is missing
PIECE = 5  # cubes
MOST_SHAPES = 60  # that are tried for a set
SHAPES = 4  # on offer: two and their mirror images
CORNER = 45  # degrees by which a block is turned, so that its sides x = 0 and y = 0 are seen


def joint(rng: Random, dials: ViewDials, number: int) -> list[ViewQuestion] | None:
    """In turn: which shape is the same, turned; and which piece makes a block full again.

    Two shapes and their mirror images are on offer.
    """
    assembly = number % 2 == 1
    angle = dials.angle or TURNS[number // 2 % len(TURNS)]
    start = CORNER + rng.randint(-12, 12) if assembly else rng.randrange(360)
    turn = rng.choice((-1, 1)) * angle
    look, colour = worlds.new_look(rng), rng.choice(COLOURS)
    shown: dict[tuple[Cell, ...], tuple[Scene, Scene]] = {}  # by the name of a shape
    for _ in range(MOST_SHAPES):
        shape = _piece(rng) if assembly else _arms(rng)
        if shape is None or _name(shape) in shown:
            continue
        for one in (shape, _mirrored(shape)):
            whole, share = (BLOCK - one, 0.0) if assembly else (one, LEAST_CUBE)
            asked = _scene_of_cells(whole, start, colour, look, share)
            offered = _scene_of_cells(one, start + turn, colour, look)
            if asked is None or offered is None:
                shown.pop(_name(shape), None)
                break
            shown[_name(one)] = (asked, offered)
        if len(shown) % 2:  # the shape is its own mirror image
            del shown[_name(shape)]
        if len(shown) == SHAPES:
            break
    else:
        return None
    part = "assembly" if assembly else "rotation"
    pairs = rng.sample(sorted(shown), SHAPES)
    asked_of = [shown[name][0] for name in pairs]
    offers = [shown[name][1] for name in pairs]
    tags = {"angle": str(angle), "part": part}
    return four_of_four(rng, worlds.question_text(part), asked_of, offers, tags)


def _piece(rng: Random) -> Cells | None:
    """Cubes of a block that hang together, each of them at a side that is seen."""
    outer = {cell for cell in BLOCK if cell[2] == 1 or 0 in cell[:2]}
    found = {rng.choice(sorted(outer))}
    while len(found) < PIECE:
        beside = [cell for cell in sorted(outer - found) if _meets(cell, found)]
        found.add(rng.choice(beside))
    heights = {z for _, _, z in found}
    return frozenset(found) if len(heights) == 2 else None


def _meets(cell: Cell, others: Iterable[Cell]) -> bool:
    """Whether a cube shares a side with one of others."""
    return any(sum(abs(a - b) for a, b in zip(cell, other, strict=True)) == 1 for other in others)


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


def _touching(cells: list[Cell]) -> bool:
    """Whether cubes meet that do not follow one another."""
    return any(_meets(one, cells[number + 2 :]) for number, one in enumerate(cells))


def _mirrored(cells: Cells) -> Cells:
    """The mirror image; a block keeps the sides that are seen."""
    return frozenset((y, x, z) for x, y, z in cells)


def _name(cells: Cells) -> tuple[Cell, ...]:
    """The same for a shape however it is turned, and another one for its mirror image."""
    return min(_sorted_from_zero(turned) for turned in turned_cells(cells))


def turned_cells(cells: Cells) -> list[list[Cell]]:
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


def _sorted_from_zero(cells: list[Cell]) -> tuple[Cell, ...]:
    low = [min(cell[n] for cell in cells) for n in range(3)]
    moved = [(x - low[0], y - low[1], z - low[2]) for x, y, z in cells]
    return tuple(sorted(moved))


def _scene_of_cells(
    cells: Cells, turn: int, colour: str, look: int, share: float = LEAST_CUBE
) -> Scene | None:
    """The shape on its stand, turned about the vertical; none unless all cubes are seen."""
    low = min(z for _, _, z in cells)
    middle = [sum(cell[n] for cell in cells) / len(cells) for n in range(2)]
    c, s = cos(radians(turn)), sin(radians(turn))
    things = []
    for number, (x, y, z) in enumerate(sorted(cells), start=1):
        u, v = (x - middle[0]) * PITCH, (y - middle[1]) * PITCH
        at = (
            worlds.rounded(u * c - v * s),
            worlds.rounded(u * s + v * c),
            worlds.rounded((z - low) * PITCH),
        )
        turned = float(turn % 360)
        cube = Placed(id=f"cube {number}", thing=CUBE, at=at, turn=turned, colour=colour)
        things.append(cube)
    viewer = worlds.camera_on(things, above=28.0, angle=32)
    return worlds.seen_world(things, viewer, look, share=share, least=8 if share else 0)
