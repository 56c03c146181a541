"""Surfaces made by noise: floors, walls, and what things are made of, as data (data/looks.yaml)."""

from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.files import package_data, read_yaml

Array = NDArray[Any]
Colour = tuple[float, float, float]


class Grain(NamedTuple):
    """One layer of noise: the size of its cells in metres, and how strong it is."""

    along: float
    across: float
    strength: float


class Surface(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two colours mixed by noise and by cells: tiles, boards, bricks, stripes (data/looks.yaml)."""

    first: Colour = (1.0, 1.0, 1.0)
    second: Colour = (0.0, 0.0, 0.0)
    grains: tuple[Grain, ...] = ()
    cell: tuple[float, float] = (0.0, 0.0)  # metres; none at 0
    shift: float = 0.0  # of each row of cells against the one before
    tone: float = 0.0  # how much cells differ
    checked: bool = False  # cells take turns, and do not differ at random
    joint: float = 0.0  # metres between cells
    depth: float = 0.35  # how much darker a joint is
    glows: bool = False  # it is as bright as its colour, whatever light falls on it
    lengthwise: bool = False  # it runs along the longest side of a part


class Looks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a seed chooses from (data/looks.yaml)."""

    indoors: tuple[Surface, ...]
    rugs: tuple[Surface, ...]
    walls: tuple[Surface, ...]
    outdoors: tuple[Surface, ...]
    paths: tuple[Surface, ...]
    skies: tuple[tuple[Colour, Colour], ...]
    materials: dict[str, Surface]
    made_of: dict[str, str]  # the material of a colour, a thing or a kind of things
    hung: dict[str, float]  # metres above the floor at which furniture begins


@cache
def looks() -> Looks:
    """Surfaces, skies and materials."""
    return msgspec.convert(read_yaml(package_data("looks.yaml")), Looks)


def material_of(name: str, kind: str, colour: str) -> Surface | None:
    """What a part of a thing is made of: by its colour, else by the thing, else by its kind."""
    table = looks()
    for key in (f"{name} {colour}", colour, name, kind):
        if key in table.made_of:
            return table.materials.get(table.made_of[key])
    return None


# Surfaces. Only + - * / and rounding, so that the same pixels come out on every machine.

PERIOD = 256  # cells after which noise repeats
FAINT = 3.5  # samples that a cell must span to be seen


@cache
def _table() -> NDArray[np.float32]:
    """A fixed number from 0 to 1 for each of PERIOD x PERIOD cells."""
    number = np.arange(PERIOD * PERIOD, dtype=np.uint64)
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        number = (number ^ (number >> np.uint64(29))) * np.uint64(factor)
    return ((number >> np.uint64(44)) & np.uint64(1023)).astype(np.float32) / np.float32(1023)


def _of_cell(column: Array, row: Array) -> Array:
    across = column.astype(np.int32) & (PERIOD - 1)
    down = row.astype(np.int32) & (PERIOD - 1)
    return np.take(_table(), down * PERIOD + across)


def noise(u: Array, v: Array) -> Array:
    """Smooth noise from 0 to 1, with cells of size 1."""
    column, row = np.floor(u), np.floor(v)
    x, y = u - column, v - row
    x, y = x * x * (3 - 2 * x), y * y * (3 - 2 * y)
    left = _of_cell(column, row)
    low = left + (_of_cell(column + 1, row) - left) * x
    left = _of_cell(column, row + 1)
    high = left + (_of_cell(column + 1, row + 1) - left) * x
    mixed: Array = low + (high - low) * y
    return mixed


def mixed_by(surface: Surface, u: Array, v: Array, footprint: Array) -> tuple[Array, Array]:
    """How much of its second colour a surface has, from 0 to 1, and how dark its joints are.

    What is finer than a sample's footprint, in metres, fades.
    """
    kind = u.dtype.type
    mix = np.full(u.shape, 0.5, dtype=u.dtype)
    bright = np.ones_like(mix)
    width, height = surface.cell
    if width and height:
        row = np.floor(v / kind(height))
        across = u / kind(width) + kind(0.5) + row * kind(surface.shift)
        column = np.floor(across)
        seen = _seen(min(width, height), footprint)
        tone = ((column + row) % 2) if surface.checked else _of_cell(column, row)
        mix += (tone.astype(u.dtype) - kind(0.5)) * kind(surface.tone) * seen
        if surface.joint:
            aside = np.minimum(across - column, column + 1 - across) * kind(width)
            above = v - row * kind(height)
            gap = np.minimum(aside, np.minimum(above, kind(height) - above))
            ramp = kind(surface.joint / 2) + footprint / 2
            share = np.clip((ramp - gap) / np.maximum(footprint, kind(1e-4)), 0, 1)
            share *= np.minimum(kind(surface.joint) / np.maximum(footprint, kind(1e-4)), 1)
            bright -= kind(surface.depth) * share
        u = u + _of_cell(row, column) * kind(7.3)  # each board has its own grain
    for grain in surface.grains:
        seen = _seen(min(grain.along, grain.across), footprint)
        if not seen.any():
            continue
        layer = noise(u / kind(grain.along), v / kind(grain.across))
        mix += (layer - kind(0.5)) * kind(grain.strength) * seen
    return np.clip(mix, 0, 1), bright


def _seen(size: float, footprint: Array) -> Array:
    """How much is left of what has this size in metres."""
    kind = footprint.dtype.type
    left: Array = kind(size / FAINT) / np.maximum(footprint, kind(1e-6)) - kind(0.4)
    return np.clip(left, 0, 1)


def colours_of(surface: Surface, u: Array, v: Array, footprint: Array) -> list[Array]:
    """Red, green and blue of a surface at some places."""
    mix, bright = mixed_by(surface, u, v, footprint)
    kind = u.dtype.type
    found = []
    for first, second in zip(surface.first, surface.second, strict=True):
        found.append((kind(first) + kind(second - first) * mix) * bright)
    return found
