"""What the stages of `gnomon look` exchange, and the modes in which knowledge is made."""

from functools import cache
from typing import Annotated, NamedTuple

import msgspec

from gnomon.errors import check_known
from gnomon.files import package_data, read_yaml
from gnomon.vision.detection import Box

SideLength = Annotated[int, msgspec.Meta(le=1_000_000)]  # in pixels, as a file of others says


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


class RegionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a region is that findings name: a line of regions.jsonl."""

    id: str
    name: str = ""
    picture: str = ""
    file: str
    width: int = 0
    height: int = 0
    box: Box


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


# How knowledge is made: `right`, as the paper says (`paper`), or as its code does (`code`).
#
# A mode is a set of named switches, each with a sentence that says what it does
# (data/vision/modes.yaml). `right` has none; one fault alone is right+SWITCH.


class Switch(msgspec.Struct, frozen=True):
    """Something the paper or its code does that `right` does not."""

    stage: str
    of: str  # "paper" or "code": who began it
    says: str


class Mode(NamedTuple):
    """The switches that are on.

    >>> mode = mode_named("right+swapped_axes")
    >>> mode.has("swapped_axes"), mode.has("top_point")
    (True, False)
    """

    name: str
    switches: frozenset[str]

    def has(self, switch: str) -> bool:
        """Whether a switch is on; a switch that does not exist is a mistake of ours."""
        if switch not in switches():
            raise KeyError(switch)
        return switch in self.switches

    def describe(self) -> dict[str, str]:
        """What each switch that is on does, in the order of the stages."""
        return {name: switch.says for name, switch in switches().items() if self.has(name)}


@cache
def _tables() -> tuple[dict[str, Switch], dict[str, list[str]]]:
    entry = read_yaml(package_data("vision/modes.yaml"))
    return msgspec.convert(entry["switches"], dict[str, Switch]), entry["modes"]


def switches() -> dict[str, Switch]:
    """All switches by name."""
    return _tables()[0]


def mode_named(name: str) -> Mode:
    """The mode right, paper or code, with switches added by +SWITCH.

    >>> sorted(mode_named("right").switches)
    []
    """
    base, *added = name.split("+")
    modes = _tables()[1]
    check_known("mode", base, modes)
    for switch in added:
        check_known("switch", switch, switches())
    found = frozenset(modes[base]).union(added)
    return Mode(name, found)
