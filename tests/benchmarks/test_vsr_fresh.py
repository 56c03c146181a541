"""vsr@fresh: each caption is true of one picture, nothing but the picture tells which, and pictures
are drawn once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import combinations

import pytest

import gnomon
from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.quads import WantedQuads, find_quad, make_quads
from gnomon.errors import DataError, ModelError, UsageError
from gnomon.records import problem
from gnomon.scenes.contrasts import truth_in
from gnomon.scenes.layouts import ContrastOptions
from gnomon.scenes.pictures import survey
from gnomon.scenes.placing import impossibilities
from gnomon.scenes.relations import relations

QUADS = 12
SIZE = 32


pytestmark = pytest.mark.usefixtures("cache_of_quads")


def asked(seed=0, quads=QUADS, **options):
    source = gnomon.load("vsr@fresh", seed=seed, quads=quads, size=SIZE, **options)
    return list(source.without_pictures())


def quads_of(seed=0, count=QUADS, frames="clear", chosen=(), dials=None):
    wanted = WantedQuads(seed, count, frames, tuple(chosen), "ab", dials or ContrastOptions())
    found = make_quads(wanted)
    assert len(found) == count
    return found


def test_each_caption_is_true_of_exactly_one_picture_by_the_rules():
    for quad in quads_of():
        for caption in (0, 1):
            truths = []
            for picture in (0, 1):
                truth = truth_in(quad.scenes[picture], quad.roles, quad.relations[caption])
                assert truth is quad.is_true(caption, picture)
                truths.append(truth)
            assert sorted(truths) == [False, True]


def test_both_pictures_show_the_same_things_and_nothing_that_cannot_be():
    for quad in quads_of():
        first, second = quad.scenes
        look = [(placed.id, placed.thing, placed.colour) for placed in first.things]
        assert sorted(look) == sorted((p.id, p.thing, p.colour) for p in second.things)
        assert (first.place, first.look, first.wall) == (second.place, second.look, second.wall)
        assert first.things != second.things
        assert impossibilities(first) == impossibilities(second) == []


def test_both_pictures_are_of_one_viewer_and_what_is_not_asked_stays_in_its_place():
    for quad in quads_of():
        first, second = quad.scenes
        assert first.viewer == second.viewer
        asked = {*quad.subjects, *quad.grounds}
        others = [placed for placed in first.things if placed.id not in asked]
        assert 3 <= len(others) <= 7  # and what one of the two stands on
        moved = [placed for placed in others if placed != second.placed(placed.id)]
        by_distance = any(word.startswith("far") for word in quad.relations)
        assert len(moved) == by_distance  # what stands in for the other thing that moves


def far_quads():
    return quads_of(seed=4, count=2, chosen=["around"]) + quads_of(seed=4, count=2, chosen=["near"])


def test_near_and_far_differ_only_in_which_things_are_in_the_same_places():
    for quad in far_quads():
        first, second = quad.scenes
        places = [
            sorted((placed.at, placed.turn) for placed in scene.things) for scene in quad.scenes
        ]
        assert places[0] == places[1]
        moved = [placed.id for placed in first.things if placed != second.placed(placed.id)]
        assert len(moved) == 2
        assert len({*quad.subjects, *quad.grounds}.intersection(moved)) == 1


def test_what_all_things_fill_and_the_box_around_a_group_tell_nothing_of_near_and_far():
    for quad in far_quads():
        surveys = [survey(scene, 96) for scene in quad.scenes]
        for ids in (quad.subjects, quad.grounds, [placed.id for placed in quad.scenes[0].things]):
            around = [sides_around(seen, ids) for seen in surveys]
            for one, other in zip(*around, strict=True):
                assert 0.79 < one / other < 1.26


def sides_around(seen, ids):
    boxes = [seen.boxes[id] for id in ids if seen.boxes[id]]
    left, top, right, bottom = zip(*boxes, strict=True)
    return max(right) - min(left), max(bottom) - min(top)


def test_a_thing_is_about_as_large_in_both_pictures_of_a_quad():
    """Or the size of a box would tell what is in front: a shortcut that is not seeing."""
    for quad in quads_of():
        surveys = [survey(scene, 96) for scene in quad.scenes]
        for ids in (quad.subjects, quad.grounds):
            for one, other in zip(*(sides_around(seen, ids) for seen in surveys), strict=True):
                assert 0.79 < one / other < 1.26


def test_a_rope_that_joins_two_things_is_seen():
    wanted = WantedQuads(3, 2, "clear", ("attached to",), "abc", ContrastOptions())
    for quad in make_quads(wanted):
        joined = [survey(scene, 96) for scene in quad.scenes if scene.links]
        assert len(joined) == 1
        assert joined[0].rope_share >= 0.001
        assert joined[0].rope_visible >= 0.6


def test_captions_pictures_relations_and_pairs_are_true_as_often_as_false():
    items = asked()
    assert len(items) == 4 * QUADS
    assert not [item for item in items if problem(item)]
    for key in ("text", "picture", "relation", "pair", "place"):
        counts = defaultdict(Counter)
        for item in items:
            keys = {
                "text": item.text,
                "picture": item.images[0].path,
                "relation": item.tags["relation"],
                "pair": (item.tags["subj"], item.tags["obj"]),
                "place": item.id.rpartition("/")[2],
            }
            counts[keys[key]][item.gold] += 1
        for count in counts.values():
            if key == "place":  # which caption and picture come first
                assert abs(count["true",] - count["false",]) <= QUADS / 3
            else:
                assert count["true",] == count["false",] > 0


def test_items_have_the_tags_that_tables_and_units_need():
    for item in asked():
        assert {"relation", "category", "grade", "frame", "subj", "obj", "fact"} <= set(item.tags)
        assert item.tags["relation"] in relations()
        assert item.tags["grade"] in "ab"
        assert item.tags["category"] != "none"
        assert item.group == item.id.partition("/")[0]


def test_things_take_turns():
    counts = Counter()
    for quad in quads_of():
        counts.update((quad.subject, quad.ground))
    assert len(counts) > QUADS
    assert max(counts.values()) <= 4


def test_two_seeds_share_no_picture_and_one_seed_gives_the_same_items():
    first, second = asked(0, 4), asked(1, 4)
    assert first == asked(0, 4)
    names = [{item.images[0].path for item in items} for items in (first, second)]
    assert len(names[0]) == len(names[1]) == 8
    assert not names[0] & names[1]


def test_processes_find_the_same_quads():
    """In a fresh process, with an empty cache and one worker only."""
    script = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
        "import gnomon;"
        "print(*[i.id for i in gnomon.load('vsr', quads=5, form='text').items()])"
    )
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this platform does not bind processes to cores")
    empty = os.path.join(os.environ["GNOMON_CACHE"], "empty")
    environment = {**os.environ, "GNOMON_CACHE": empty}
    run = [sys.executable, "-c", script]
    told = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
    assert told.stdout.split() == [item.id for item in asked(0, 5, form="text")]


# Frames.


def test_in_a_probe_the_frames_differ_and_every_wording_has_its_gold():
    items = asked(2, 4, frames="probe")
    assert len(items) == 3 * 4 * 4
    for quad in quads_of(2, 4, "probe"):
        for caption, picture in ((0, 0), (0, 1), (1, 0), (1, 1)):
            scene, relation = quad.scenes[picture], quad.relations[caption]
            by_viewer = truth_in(scene, quad.roles, relation, "viewer")
            assert by_viewer is quad.is_true(caption, picture)
            assert truth_in(scene, quad.roles, relation, "own") is (not by_viewer)
    for item in items:
        assert {item.tags["viewer"], item.tags["own"]} == {"true", "false"}
        frame = "own" if item.tags["frame"] == "own" else "viewer"
        assert item.gold == (item.tags[frame],)
    assert Counter(item.tags["frame"] for item in items) == dict.fromkeys(
        ("unstated", "viewer", "own"), 16
    )
    assert any(item.text.startswith("From the ") for item in items)


# Forms.


def test_the_three_forms_share_groups_and_facts():
    pictures, texts, scenes = (asked(form=form) for form in ("caption", "text", "scene"))
    assert len(scenes) * 2 == len(texts) == len(pictures)
    golds = {item.tags["fact"]: (item.group, item.gold) for item in pictures}
    for item in texts:
        assert golds[item.tags["fact"]] == (item.group, item.gold)
        assert item.context
        assert not item.images
    for item in scenes:
        assert golds[item.tags["fact"]] == (item.group, ("true",))
        assert problem(item) == ""
        assert item.gold == (item.tags["relation"],)
        assert set(item.choices) == {item.tags["relation"], item.tags["against"]}
        assert (item.tags["thing_a"], item.tags["thing_b"]) == (item.tags["subj"], item.tags["obj"])
    ids = [item.id for item in (*pictures, *texts, *scenes)]
    assert len(set(ids)) == len(ids)


def test_runs_on_two_forms_of_a_fact_can_be_set_beside_one_another(tmp_path):
    runs = []
    for form in ("caption", "text"):
        source = gnomon.load("vsr@fresh", quads=3, size=SIZE, form=form)
        runs.append(gnomon.run(source, gnomon.model("majority"), runs=tmp_path))
    (found,) = gnomon.agreement(*runs, match="fact")
    assert (found.value, found.n) == (1.0, 12)
    with pytest.raises(UsageError, match="share no items"):
        gnomon.agreement(*runs)
    with pytest.raises(UsageError, match="same value of the tag 'relation'"):
        gnomon.agreement(*runs, match="relation")


def test_captions_are_english():
    assert wording.caption("scissors", "on", "book") == "The scissors are on the book."
    assert wording.caption("box", "contains", "cat") == "The box contains the cat."
    several = wording.caption("dog", "among", "sheep", several="ground")
    assert several == "The dog is among the sheep."
    assert wording.presence("person", several=True) == "There are people."


# Controls.


def test_controls_are_yes_and_no_of_the_same_things():
    items = asked(controls="only")
    assert len(items) == 4 * QUADS
    named = {("true",): Counter(), ("false",): Counter()}
    by_picture = defaultdict(Counter)
    for item in items:
        named[item.gold][item.tags["subj"]] += 1
        by_picture[item.images[0].path][item.gold] += 1
        assert item.tags["control"] == "yes"
    differing = named[("true",)] - named[("false",)]  # what fits no other picture's place
    assert differing.total() <= QUADS // 2
    assert all(count["true",] == count["false",] == 1 for count in by_picture.values())
    together = asked(controls="yes")
    assert len(together) == 8 * QUADS
    assert len({item.id for item in together}) == 8 * QUADS


def test_what_a_control_says_is_there_is_there():
    scenes = {}
    for quad in quads_of():
        for number, scene in enumerate(quad.scenes, start=1):
            scenes[f"{quad.id}/{number}"] = {placed.thing for placed in scene.things}
    for item in asked(controls="only"):
        present = item.tags["subj"] in scenes[item.id.rpartition("/")[0]]
        assert item.gold == (("true",) if present else ("false",))


# Dials and limits.


def test_relations_and_distractors_can_be_chosen():
    items = asked(3, 2, relations="left of", distractors=0)
    assert {item.tags["relation"] for item in items} == {"left of", "right of"}
    assert {item.tags["things"] for item in items} == {"2"}
    more = asked(3, 2, relations="left of", distractors=2)
    assert {item.tags["things"] for item in more} <= {"3", "4"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"quads": 0}, "0 quads cannot be made"),
        ({"quads": 10**6}, "1,000,000 quads cannot be made"),
        ({"relations": "leftish of"}, "leftish of"),
        ({"relations": "part of"}, "No quads are made of the relation 'part of'"),
        ({"grades": "x"}, "'x' are not grades"),
        ({"frames": "mine"}, "mine"),
        ({"form": "song"}, "song"),
        ({"controls": "maybe"}, "maybe"),
        ({"controls": "yes", "form": "scene"}, "A prompt has no controls"),
        ({"distractors": 7}, "7 distractors"),
        ({"visible": 1.5}, "visible share"),
        ({"least": 50.0}, "50 % of the picture"),
        ({"distance": 0.0}, "distance"),
        ({"size": 20_000}, "20000 x 20000"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_sentence(options, said):
    with pytest.raises(UsageError, match=said) as error:
        list(gnomon.load("vsr@fresh", **options).without_pictures())
    assert error.value.hint


def test_dials_that_leave_nothing_end_with_a_hint():
    options = {"quads": 1, "relations": "within", "visible": 1.0, "least": 20.0}
    with pytest.raises(UsageError, match="Only 0 of 1 quads were found"):
        list(gnomon.load("vsr@fresh", **options).without_pictures())


@pytest.mark.parametrize("limit", [4, 7, 30])
def test_a_limit_takes_whole_quads(limit):
    source = gnomon.load("vsr@fresh", quads=QUADS, form="text").limited(limit)
    sizes = Counter(item.group for item in source.items())
    assert set(sizes.values()) == {4}
    assert len(sizes) == limit // 4


def test_a_limit_without_room_for_a_quad_is_refused():
    with pytest.raises(UsageError, match="no room for a group"):
        list(gnomon.load("vsr@fresh", quads=QUADS, form="text").limited(3).items())


# Pictures.


def pictures_in(folder):
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("*.png")}


def test_pictures_are_described_and_drawn_once(tmp_path):
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE)
    told = []
    items = list(source.illustrated(tmp_path, watch=lambda *done: told.append(done)))
    assert told[-1] == (6, 6)
    for item in items:
        (image,) = item.images
        assert (image.width, image.height, len(image.sha256)) == (SIZE, SIZE, 64)
        assert os.path.dirname(image.path) == str(tmp_path)
    assert len(pictures_in(tmp_path)) == 6
    told.clear()
    assert list(source.illustrated(tmp_path)) == items
    assert told == []


def test_a_limit_draws_only_what_is_asked(tmp_path):
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE).limited(4)
    assert len(list(source.illustrated(tmp_path))) == 4
    assert len(pictures_in(tmp_path)) == 2


def test_a_damaged_picture_is_drawn_again_and_others_are_not(tmp_path):
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE)
    items = list(source.illustrated(tmp_path))
    files = sorted(tmp_path.glob("*.png"))
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[:-20])
    files[1].unlink()
    kept = files[2].read_bytes()
    told = []
    again = list(source.illustrated(tmp_path, watch=lambda *done: told.append(done)))
    assert len(told) == 2
    assert files[0].read_bytes() == whole
    assert files[2].read_bytes() == kept
    assert again == items


def test_one_process_and_two_draw_the_same_bytes(tmp_path):
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE)
    found = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        items = list(source.illustrated(folder, processes=processes))
        found.append([image.sha256 for item in items for image in item.images])
    assert found[0] == found[1]
    for one, two in combinations(set(found[0]), 2):
        assert one != two


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE)
    with pytest.raises(DataError, match="file"):
        list(source.illustrated(tmp_path / "file"))


def test_a_model_that_cannot_see_is_refused_unless_it_is_asked_blind(tmp_path):
    source = gnomon.load("vsr@fresh", quads=3, size=SIZE)

    class Reader:
        spec, scale = "reader", "none"

        def describe(self):
            return {}

        def answer(self, items):
            from gnomon.records import Answer

            return [Answer(item=item.id, choice="true") for item in items]

    with pytest.raises(ModelError, match="takes text only"):
        gnomon.run(source, Reader(), runs=tmp_path)
    run = gnomon.run(source, Reader(), runs=tmp_path, blind=True)
    assert run.manifest.counts.items == 12


def test_published_results_stand_beside_published_items_only():
    from gnomon.registry import benchmark

    assert benchmark("vsr").published_results == "vsr"
    assert benchmark("vsr").default_source == "fresh"


def test_a_limit_lays_out_no_more_quads_than_it_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    laid_out = []

    def counted(job):
        laid_out.append(job)
        return find_quad(job)

    monkeypatch.setattr("gnomon.benchmarks.vsr.quads.find_quad", counted)
    source = gnomon.load("vsr@fresh", size=SIZE, distractors=0).limited(4)
    items = list(source.items())
    assert len(items) == 4
    assert len(laid_out) <= 3
    before = len(laid_out)
    assert [item.id for item in source.limited(4).items()] == [item.id for item in items]
    assert len(laid_out) == before  # what was laid out is kept


def test_fewer_quads_are_the_first_of_more():
    assert quads_of(count=QUADS)[:5] == quads_of(count=5)
