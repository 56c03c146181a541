"""What the stages of `gnomon look` exchange: scenes come in, findings come out.

All are plain and immutable; on disk each is one JSON object with the same field names. Places in a
picture are shares of its width and height from the top left, whatever the annotations count in.
"""

from __future__ import annotations

import msgspec

from gnomon.vision.detection import Box


class Picture(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A photograph or drawing that regions lie in."""

    id: str
    file: str = ""  # empty if there is none at hand
    width: int = 0  # in pixels; 0 if not known
    height: int = 0
    scene: str = ""  # kitchen, street ...; empty if not known
    depth: str = ""  # file of the true distances (.npy), where something rendered them


class Region(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of a picture in which one thing is seen.

    >>> Region(id="7", picture="1", box=Box(0, 0, 0.5, 0.5), phrase="the man's red hat").box.area
    0.25
    """

    id: str  # no other region of the same source has it
    picture: str  # Picture.id
    box: Box  # within the picture, with an area
    name: str = ""  # what is seen; empty until names are made from phrases
    phrase: str = ""  # the caption of the region, if it has one
    whole: str = ""  # the name of what it is a part of
    outline: tuple[tuple[float, ...], ...] = ()  # polygons: x, y, x, y ... as shares
    runs: tuple[int, ...] = ()  # lengths of runs outside, inside, outside ... down the columns
    mask: str = ""  # file of an image in which the region's pixels have the value `mark`
    mark: int = 255
    confidence: float = 1.0  # of a detector; annotations are taken at their word


class AnnotatedPicture(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One picture with its regions, as readers give them."""

    picture: Picture
    regions: tuple[Region, ...]
    captions: tuple[str, ...] = ()  # of the whole picture: they give names, and no sightings


class Sighting(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What one region says about the thing that is seen in it."""

    region: str
    picture: str
    object: str
    scene: str = ""
    subtype: str = ""  # empty while none was chosen
    colours: tuple[str, ...] = ()
    area: float = 0.0  # share of the picture that the thing covers: its mask, else its box
    distance: float | None = None  # far is large, whatever the depth model gives; none: not known
    nearness: float | None = None  # from 0 to 1 at the nearest point of the picture
    size: float | None = None  # the area set right by the distance, by the rule of the mode
    cut: bool = False  # only a part is seen: the picture's edge, or something nearer, hides more
    top: float = 0.0  # its highest point, from 0 at the top of the picture to 1
    middle: float = 0.0  # its vertical centroid
    bottom: float = 0.0  # its lowest point
    height: float = 0.0
    # Where the depth map shows a floor: heights above it, the camera's being 1.
    crown: float | None = None  # of its highest point
    foot: float | None = None  # of the lowest point that is seen
    least_foot: float | None = None  # as low as its foot may be: what is in front may hide it
    whole: str = ""  # as in Region


class Trouble(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Something that was skipped or changed, and where: nothing is lost silently."""

    what: str  # in a sentence
    file: str = ""
    picture: str = ""
    region: str = ""
    byte: int | None = None  # the place in the file
