"""One fact in several ways: grammar, what is certain, and that geometry says the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import gnomon
from gnomon.benchmarks.vsr.files import all_relations, category
from gnomon.benchmarks.vsr.quads import make_quads, wanted_by
from gnomon.benchmarks.vsr.ways import WAYS, CaptionFact, chosen_ways, converse, mirrored, put
from gnomon.errors import UsageError
from gnomon.lexicon.relations import lexicon
from gnomon.records import Item, problem
from gnomon.scenes.contrasts import truth_in
from gnomon.scenes.layouts import Roles
from gnomon.scenes.relations import relations

SIZE = 32
FRESH = {"quads": 12, "seed": 0}
SIDES = {"quads": 8, "seed": 3, "relations": "left of, at the left side of, above, on, inside"}
PROBE = {"quads": 4, "seed": 2, "frames": "probe"}


pytestmark = pytest.mark.usefixtures("cache_of_quads")


def source(**options):
    return gnomon.load("vsr@fresh", size=SIZE, **options)


def caption(text, relation, subject, ground, *, true=True, **tags):
    return Item(
        id="1",
        form="caption",
        text=text,
        choices=("false", "true"),
        gold=("true" if true else "false",),
        group="g",
        tags={"relation": relation, "category": "?", "subj": subject, "obj": ground, **tags},
    )


def said(relation, subject="cup", ground="bowl", **more):
    return CaptionFact(subject, relation, ground, **more)


# Words.


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (said("on", denied=True), "The cup is not on the bowl."),
        (said("contains", denied=True), "The cup does not contain the bowl."),
        (said("consists of", denied=True), "The cup does not consist of the bowl."),
        (said("has as a part", denied=True), "The cup does not have as a part the bowl."),
        (said("on", "scissors", denied=True), "The scissors are not on the bowl."),
        (said("contains", "box", several="subject", denied=True), "The boxes do not contain the"),
        (said("contains", "box", several="subject"), "The boxes contain the bowl."),
        (
            said("left of", frame="own", denied=True),
            "From the bowl's own point of view, the cup is",
        ),
    ],
)
def test_captions_and_denials_are_english(statement, text):
    assert statement.text().startswith(text)


@pytest.mark.parametrize("true", [True, False])
@pytest.mark.parametrize(
    ("relation", "drawn", "text"),
    [
        ("on", True, "The bowl is under the cup."),
        ("on", False, None),
        ("above", False, "The bowl is below the cup."),
        ("contains", False, "The bowl is inside the cup."),
        ("part of", False, "The bowl has as a part the cup."),
        ("touching", False, "The bowl is touching the cup."),
        ("left of", False, "The bowl is right of the cup."),
        ("facing", True, None),
        ("in", True, None),
    ],
)
def test_a_converse_is_said_where_it_is_certain(relation, drawn, text, true):
    item = caption(said(relation).text(), relation, "cup", "bowl", true=true)
    found = put(item, "converse", drawn=drawn)
    assert (found and found.text) == text
    if found:
        assert found.gold == item.gold
        assert (found.tags["subj"], found.tags["obj"]) == ("bowl", "cup")
        assert found.tags["category"] == category(found.tags["relation"])


def test_sides_have_a_converse_only_between_things_without_a_front():
    assert converse(said("left of"), drawn=True)
    assert converse(said("left of", "dog", "bowl"), drawn=True) is None
    assert converse(said("behind", "bowl", "car"), drawn=True) is None
    assert converse(said("left of", "no such thing", "bowl"), drawn=True) is None
    assert converse(said("left of", frame="viewer"), drawn=True) is None


def test_a_mirror_swaps_left_and_right_and_nothing_else():
    every = set(all_relations()) | set(relations())
    changed = {word for word in every if mirrored(said(word)).relation != word}
    assert changed == {"left of", "right of", "at the left side of", "at the right side of"}
    for word in every:
        assert mirrored(mirrored(said(word))) == said(word)


def test_a_converse_of_a_converse_never_says_more_than_the_caption():
    """There and back again is the same word, or one that is true whenever the caption is."""
    looser = {"within": "inside", "on": "above", "on top of": "above", "over": "above"}
    known = lexicon().relations.values()
    turned = [each for each in known if each.symmetric or each.converse.always]
    turned += [each for each in known if each.converse.without_fronts]
    assert len(turned) > 26
    for word in (each.name for each in turned if each.category):
        there = converse(said(word), drawn=True)
        back = converse(there, drawn=True)
        if back is not None:
            assert back == said(looser.get(word, word)), word


def test_every_word_of_the_table_is_a_relation():
    for each in lexicon().relations.values():
        words = each.converse
        others = {words.always, words.captions, words.drawings, words.without_fronts}
        assert others | {each.mirrored} <= {"", *lexicon().relations}
        assert not (each.symmetric and words.always)


def test_denied_twice_is_asserted():
    item = caption("The cup is on the bowl.", "on", "cup", "bowl", true=False)
    assert put(item, "negation").gold == ("true",)
    assert put(replace(item, gold=("true",)), "negation").gold == ("false",)


def test_what_cannot_be_asked_is_refused_by_name():
    assert chosen_ways("") == ()
    assert chosen_ways("all") == ("converse", "negation", "mirror")
    with pytest.raises(UsageError, match="sideways"):
        chosen_ways("sideways")
    with pytest.raises(UsageError, match="mirror"):
        chosen_ways("mirror", "text")
    with pytest.raises(UsageError, match="prompt"):
        chosen_ways("negation", "scene")


# Geometry: the right answer of each way, computed from the scene.


def mirror_image(scene):
    """The scene with x turned round, of the viewer as well."""
    things = []
    for placed in scene.things:
        x, y, z = placed.at
        things.append(replace(placed, at=(-x, y, z), turn=-placed.turn))
    (ex, ey, ez), (ax, ay, az) = scene.viewer.eye, scene.viewer.at
    viewer = replace(scene.viewer, eye=(-ex, ey, ez), at=(-ax, ay, az))
    return replace(scene, things=tuple(things), viewer=viewer)


def truth_by_geometry(quad, item):
    scene = quad.scenes[int(item.tags["fact"][-1]) - 1]
    way, relation = item.tags["way"], item.tags["relation"]
    stated = item.tags["frame"] if item.tags["frame"] in ("viewer", "own") else "viewer"
    frame = stated if "viewer" in item.tags else "agreed"
    if way == "mirror":
        return truth_in(mirror_image(scene), quad.roles, relation, frame)
    if way == "converse":
        return truth_in(scene, Roles(quad.grounds, quad.subjects), relation, frame)
    truth = truth_in(scene, quad.roles, relation, frame)
    return not truth if way == "negation" else truth


@pytest.mark.parametrize("options", [FRESH, SIDES, PROBE], ids=["clear", "sides", "probe"])
def test_in_scenes_every_way_is_true_exactly_where_geometry_says_so(options):
    asked = source(ways="all", **options)
    quads = {quad.id: quad for quad in make_quads(wanted_by(**asked.options))}
    counts = dict.fromkeys(("plain", *WAYS), 0)
    for item in asked.without_pictures():
        truth = truth_by_geometry(quads[item.id.partition("/")[0]], item)
        assert truth is (item.gold == ("true",)), (item.id, item.text)
        counts[item.tags["way"]] += 1
    assert counts["plain"] == counts["negation"] == counts["mirror"] > 0
    assert (counts["converse"] > 0) == (options is not PROBE)


def test_the_ways_of_a_fact_stand_together_and_share_group_and_fact():
    items = list(source(ways="all", **FRESH).without_pictures())
    assert not [item for item in items if problem(item)]
    assert len({item.id for item in items}) == len(items)
    plain = [item for item in items if item.tags["way"] == "plain"]
    expected = list(source(**FRESH).without_pictures())
    assert [replace(item, tags={}) for item in plain] == [replace(i, tags={}) for i in expected]
    facts = list(dict.fromkeys(item.tags["fact"] for item in items))
    assert [item.tags["fact"] for item in plain] == facts
    groups = {item.tags["fact"]: item.group for item in plain}
    assert all(item.group == groups[item.tags["fact"]] for item in items)


def test_each_way_of_a_quad_balances_true_and_false():
    counts = {}
    for item in source(ways="all", **FRESH).without_pictures():
        key = item.tags["pair"]
        counts[key] = counts.get(key, 0) + (1 if item.gold == ("true",) else -1)
    assert len(counts) > 60
    assert set(counts.values()) == {0}


def test_controls_are_asked_as_they_are():
    items = list(source(ways="negation", controls="only", quads=4).without_pictures())
    assert {item.tags["way"] for item in items} == {"plain"}


def test_a_scene_in_words_is_asked_by_converse_and_negation():
    items = list(source(form="text", ways="all", **FRESH).without_pictures())
    assert {item.tags["way"] for item in items} == {"plain", "converse", "negation"}
    assert all(item.text.startswith("True or false? The ") for item in items)


# Pictures.


def test_the_picture_of_a_mirrored_item_is_the_mirrored_picture(tmp_path):
    pytest.importorskip("PIL")
    from gnomon.vision.images import decode

    asked = source(ways="mirror", quads=2, seed=0)
    items = list(asked.illustrated(tmp_path, processes=1))
    pairs = 0
    for plain, other in zip(items[::2], items[1::2], strict=True):
        assert (plain.tags["way"], other.tags["way"]) == ("plain", "mirror")
        one, two = decode(plain.images[0].path), decode(other.images[0].path)
        assert [one.getpixel((x, 9)) for x in range(SIZE)] == [
            two.getpixel((SIZE - 1 - x, 9)) for x in range(SIZE)
        ]
        assert plain.images[0].sha256 != other.images[0].sha256
        assert plain.images[0].sha256[:24] in other.images[0].path
        pairs += 1
    assert pairs == 8
