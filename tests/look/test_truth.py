"""With true inputs, what is found is true: sizes, elevations and colours of rendered things."""

import pytest

from gnomon.files import package_data, read_yaml
from gnomon.look.colours import colours_by_pixels
from gnomon.look.records import mode_named
from gnomon.look.relations import elevation_relations, size_relations
from gnomon.look.sightings import measure

pytest.importorskip("PIL.Image")
# The basic colours that people may call the colours of our palette.
CALLED = read_yaml(package_data("vision/palette-colours.yaml"))
THIN = {"tennis racket"}  # of which every pixel mixes it with what is behind it
CLEAR = 1.3  # how many times as large one thing must be for anyone to say so


def sizes(known, mode):
    """Whether each relation that is found is true, where the truth is clear."""
    found = measure(known.scene, known.depth, mode).sightings
    for larger, smaller, _ in size_relations(found, mode):
        one, other = (known.things[found[place].region] for place in (larger, smaller))
        if min(one.side / other.side, one.longest / other.longest) >= CLEAR:
            yield True
        elif max(one.side / other.side, one.longest / other.longest) <= 1 / CLEAR:
            yield False


def elevations(known, mode):
    """What is found for each pair, and what is true."""
    found = measure(known.scene, known.depth, mode).sightings
    for first, second, label in elevation_relations(found, mode):
        one, other = (known.things[found[place].region] for place in (first, second))
        true = "="
        if one.low > (other.low + other.high) / 2:
            true = ">"
        elif other.low > (one.low + one.high) / 2:
            true = "<"
        yield label, true


def test_sizes_are_in_order(rendered):
    judged = [is_true for known in rendered for is_true in sizes(known, mode_named("right"))]
    assert len(judged) > 40
    assert sum(judged) / len(judged) >= 0.99


def test_elevations_are_all_right(rendered):
    judged = [each for known in rendered for each in elevations(known, mode_named("right"))]
    assert sum(true != "=" for _, true in judged) > 5
    assert [each for each in judged if each[0] != each[1]] == []


def test_elevations_by_rows_of_the_picture_are_often_wrong(rendered):
    judged = [each for known in rendered for each in elevations(known, mode_named("paper"))]
    right = sum(label == true for label, true in judged)
    assert right / len(judged) < 0.85


def test_the_elevations_of_the_released_code_are_no_better_than_chance(rendered):
    judged = [each for known in rendered for each in elevations(known, mode_named("code"))]
    right = sum(label == true for label, true in judged)
    assert right / len(judged) < 0.5


def test_colours_are_all_right(rendered):
    judged, wrong = 0, []
    for known in rendered:
        found = measure(known.scene, None, mode_named("right")).sightings
        for seen in colours_by_pixels(known.scene, found).sightings:
            colour = known.things[seen.region].colour
            if not colour or seen.object in THIN or seen.area < 0.001:
                continue
            judged += 1
            if seen.colours[0] not in CALLED[colour]:
                wrong.append((seen.region, colour, seen.colours))
    assert judged > 30
    assert len(wrong) <= 1, wrong  # a basket in the shadow of a bear is black


def test_the_depth_correction_of_the_released_code_does_nothing(rendered):
    """Pairs come out in the order of the plain area of their boxes."""
    mode = mode_named("code")
    lone = {"few_in_one_cluster"}
    mode = mode._replace(switches=mode.switches - lone)  # or five things would say nothing
    compared = 0
    for known in rendered:
        found = measure(known.scene, known.depth, mode).sightings
        for larger, smaller, _ in size_relations(found, mode):
            compared += 1
            assert found[larger].area >= found[smaller].area
    assert compared > 60
