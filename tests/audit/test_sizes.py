"""Sizes of things in drawn pictures: a relation that is true where the camera is far is found."""

from __future__ import annotations

import pytest

from gnomon.audit.auditing import audit
from gnomon.audit.partialinput import SIZES
from gnomon.audit.sets import GROUPS, AuditSet
from gnomon.audit.sources import plain_item
from gnomon.records import Image, Item
from gnomon.scenes.pictures import scene_file, viewer_of
from gnomon.scenes.scenes import Placed, Scene, to_json

PLACED = (
    Placed(id="dog", thing="dog", at=(0.0, 0.0, 0.0)),
    Placed(id="chair", thing="chair", at=(1.5, 0.0, 0.0)),
)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Two pictures, of a camera near by and of one three times as far."""
    folder = tmp_path_factory.mktemp("pictures")
    found = []
    for distance in (1.0, 3.0):
        scene = Scene(things=PLACED, viewer=viewer_of(PLACED, distance=distance))
        picture = folder / f"{distance}.png"
        scene_file(picture).write_text(to_json(scene))
        found.append(str(picture))
    return found


def findings(pictures, zoom_tells):
    """What the audit says of what a classifier sees of sizes alone."""
    items = [plain_item(item) for item in asked(pictures, zoom_tells)]
    audited = AuditSet("drawn", ("context", "text"), items, (GROUPS,))
    found = audit(audited, ["partial_input"]).findings
    return [finding for finding in found if finding.part.startswith(SIZES)]


def asked(pictures, zoom_tells):
    """Quads whose captions are true of the farther picture or, if zoom tells nothing, of either."""
    for quad in range(30):
        turned = not zoom_tells and quad % 2 == 1
        for number, word in enumerate(("near", "far from")):
            for picture in (0, 1):
                true = (number == picture) != turned
                yield Item(
                    id=f"{quad}/{number}-{picture}",
                    form="caption",
                    text=f"The dog is {word} the chair.",
                    choices=("false", "true"),
                    gold=("true" if true else "false",),
                    group=str(quad),
                    tags={"relation": word, "subj": "dog", "obj": "chair"},
                    images=(Image(path=pictures[picture], width=64, height=64),),
                )


@pytest.mark.parametrize("zoom_tells", [True, False])
def test_zoom_that_tells_a_relation_is_an_alarm(pictures, zoom_tells):
    (finding,) = findings(pictures, zoom_tells)
    assert finding.alarm is zoom_tells
    assert (finding.value > 0.9) is zoom_tells


def test_a_picture_without_a_scene_beside_it_says_nothing(tmp_path):
    pictures = [str(tmp_path / "1.png"), str(tmp_path / "2.png")]
    assert findings(pictures, zoom_tells=True) == []
