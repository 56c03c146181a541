"""Files of other public benchmarks, read as they are: what each first item is, decided by hand."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

import gnomon
from gnomon.forms import is_right
from gnomon.items.checking import Checker
from gnomon.items.itemfiles import mapping_of, numbered_items
from gnomon.items.mapping import write_map
from gnomon.items.understanding import understood
from gnomon.records import Item

pytestmark = pytest.mark.published


class Known(NamedTuple):
    """What a file holds, and its first item; long texts by their first letters."""

    items: int
    begins: str
    choices: int
    gold: str
    pictures: int = 0
    id: str = ""
    map: str = ""
    unit: str = ""


FILES = {
    "babi17.txt": Known(1000, "Is the pink rectangle to the right", 2, "no", unit="125 groups"),
    "babi18.txt": Known(1000, "Does the box fit in the chocolate?", 2, "no", unit="199 groups"),
    "bbh_ld3.json": Known(250, "The following paragraphs", 3, "The blue jay is the second"),
    "bbh_navigate.json": Known(250, "If you follow these instructions", 2, "No"),
    "cosit_cp5.txt": Known(2503, "Q is to the west of E.", 2, "unsatisfiable"),
    "e.tsv": Known(60, "Is thing 1 left of thing b1?", 2, "No1"),
    "f_blink.jsonl": Known(20, "Is the car beneath the cat number 0?", 2, "no", 2, id="v0"),
    "f_conv.jsonl": Known(20, "Is the cup 0 left of the plate?", 2, "no", 1, id="0"),
    "f_cvbench.jsonl": Known(20, "Where is the cup 0 located", 2, "below", 1, id="0"),
    "f_embsp.jsonl": Known(20, "How are the chair 0", 4, "a above b", 1, id="mp3d_0"),
    "f_mmsi.jsonl": Known(20, "Q0 where?", 4, "north", id="0"),
    "f_vsi.jsonl": Known(20, "Which is closer 0?", 4, "sofa", id="0"),
    "f_vsi_mc.jsonl": Known(20, "Which is closer 0?", 4, "sofa", id="0"),
    "f_whatsup.jsonl": Known(20, "Which of the sentences", 4, "A mug 0 on a table", 1),
    "geneval.jsonl": Known(553, "a photo of a bench", 0, ""),
    "nsr1k.json": Known(283, "a toilet to the left of a dog", 5, "left of", id="739"),
    "sib_radio.csv": Known(1000, "Query: Select exactly one", 5, "none of the above"),
    "sib_radio_llama70.csv": Known(1000, "Query: Select exactly one", 5, "none of the above"),
    "spatialbench_uc.jsonl": Known(
        200, "A photo of a cake", 4, "left of", id="v1_000000", unit="100 groups"
    ),
    "sphere_position.json": Known(357, "If you are the man", 2, "left", id="1.a"),
    "stepgame_qa1.json": Known(1500, "What is the relation", 8, "lower-left", id="0"),
    "stepgame_valid.jsonl": Known(5000, "What is the relation", 9, "upper-left"),
    "sugar_rel.json": Known(
        1406, "Which of the sentences", 2, "A white with red striped bus dr", 1
    ),
    "vicomte_size.jsonl": Known(200, "dish", 2, "ant", map="text=sub,choices=obj+alt,gold=obj"),
    "vlmeval.tsv": Known(30, "Where is the red thing in picture 0?", 2, "right", 1, id="0"),
}


@pytest.fixture
def folder(shared: Path) -> Path:
    return shared / "data" / "strangers"


def items_of(file: Path, **options: str) -> list[Item]:
    return list(gnomon.load(str(file), images="none", **options).items())


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_strangers_is_read_as_it_is(folder, name):
    known = FILES[name]
    found = gnomon.load(str(folder / name), images="none", map=known.map)
    items = list(found.items())
    first = items[0]
    assert len(items) == known.items
    assert first.text.startswith(known.begins)
    assert len(first.choices) == known.choices
    assert "".join(first.gold).startswith(known.gold)
    assert len(first.gold) == bool(known.gold)
    assert len(first.images) == known.pictures
    if known.id:
        assert first.id == known.id
    lines = understood(found.options)
    assert len(lines) <= 4
    assert f"{known.items:,} items" in lines[1]
    assert known.unit in lines[1]


@pytest.mark.parametrize("name", FILES)
def test_the_audit_reads_it_alike(folder, name):
    checker = Checker(pictures=False)
    file = folder / name
    mapping = mapping_of(file, FILES[name].map, "", checker.tell)
    assert mapping is not None
    written = write_map(mapping)
    items = [each.item for each in numbered_items(file, map=written, pictures=False)]
    assert [item.id for item in items] == [item.id for item in items_of(file, map=FILES[name].map)]


def test_no_letter_and_no_option_is_left_in_the_question(folder):
    for name in ("bbh_ld3.json", "sib_radio.csv", "f_mmsi.jsonl", "bbh_navigate.json"):
        for item in items_of(folder / name):
            assert "Options:" not in item.text
            assert not any(choice.startswith(("(A)", "A.", "a.", "A:")) for choice in item.choices)


def test_the_story_so_far_is_the_context_of_a_question(folder):
    eighth = items_of(folder / "babi17.txt")[7]
    ninth = items_of(folder / "babi17.txt")[8]
    assert eighth.context.count(".") == 2
    assert eighth.group == "story 1"
    assert ninth.context.count(".") == 2
    assert ninth.group == "story 2"


def test_places_of_true_captions_are_shuffled_by_a_seed(folder):
    for name, choices in (("sugar_rel.json", 2), ("f_whatsup.jsonl", 4)):
        items = items_of(folder / name)
        places = [item.choices.index(item.gold[0]) for item in items]
        assert len(set(places)) == choices
        assert max(map(places.count, range(choices))) < 0.6 * len(items) + 2
        assert items == items_of(folder / name)  # the same each time


def test_a_picture_that_another_row_holds_is_that_of_both(folder):
    first, second, third, *_ = gnomon.load(str(folder / "vlmeval.tsv")).items()
    assert first.images == second.images != third.images
    assert (first.images[0].width, first.images[0].height) == (64, 64)
    content = Path(first.images[0].path).read_bytes()
    assert sha256(content).hexdigest() == first.images[0].sha256
    assert first.group == second.group != third.group


def test_positions_of_geneval_are_scenes_of_two_things(folder):
    told = [item for item in items_of(folder / "geneval.jsonl") if item.tags["tag"] == "position"]
    assert len(told) == 100
    assert all(item.form == "scene" for item in told)
    first = told[0]
    expected = f"a photo of a {first.tags['thing_a']} {first.gold[0]} a {first.tags['thing_b']}"
    assert first.text == expected
    for item in told:
        assert item.tags["thing_a"] in item.text.partition(item.gold[0])[0]


def test_things_of_nsr_and_of_spatialbench_are_named(folder):
    for name in ("nsr1k.json", "spatialbench_uc.jsonl"):
        for item in items_of(folder / name):
            assert item.tags["thing_a"] in item.text
            assert item.tags["thing_b"] in item.text


def test_rows_without_choices_whose_answers_are_numbers_are_numbers(folder):
    loaded = gnomon.load(str(folder / "f_vsi.jsonl"))
    assert "20 items (10 with four choices, 10 numbers)" in understood(loaded.options)[-1]
    numbers = [item for item in loaded.items() if item.form == "number"]
    assert len(numbers) == 10
    assert numbers[0].text == "How many tables 1?"
    assert numbers[0].gold == ("2",)


def test_a_picture_column_that_is_not_shown_is_named(folder):
    lines = understood(gnomon.load(str(folder / "f_cvbench.jsonl")).options)
    assert "Not shown: filename, source_filename" in lines[-1]
    options = gnomon.load(str(folder / "f_blink.jsonl"), map={"image": "none"}).options
    assert "Not shown: image_1, image_2" in understood(options)[-1]


def test_checkboxes_are_sets_of_options(folder):
    items = items_of(folder / "sib_checkbox.csv")
    assert {item.form for item in items} == {"set"}
    assert sum(len(item.gold) > 1 for item in items) == 209
    assert items[1].gold == items[1].choices[:4]


def test_points_whose_masks_are_not_there_are_asked_and_not_judged(folder):
    loaded = gnomon.load(str(folder / "f_point.jsonl"))
    assert "20 masks are not there" in understood(loaded.options)[-1]
    items = list(loaded.items())
    assert {(item.form, item.gold) for item in items} == {("point", ())}


def test_points_are_judged_by_masks_that_are_there(folder, tmp_path):
    from PIL import Image as Picture

    for name in ("f_point.jsonl", "a.png"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    mask = Picture.new("L", (64, 64))
    mask.paste(255, (0, 0, 32, 64))
    mask.save(tmp_path / "m.png")
    items = list(gnomon.load(str(tmp_path / "f_point.jsonl")).items())
    assert is_right(items[0], "(10, 20)")
    assert not is_right(items[0], "(50, 20)")


def test_options_inside_the_text_can_be_left_there(folder):
    (first, *_) = items_of(folder / "bbh_navigate.json", map="choices=none")
    assert "Options:" in first.text
    assert first.choices == ("No", "Yes")


def test_every_set_whose_file_was_opened_is_read_by_its_name(folder):
    from gnomon.items.sets import named_sets

    for name, known in named_sets().items():
        if known.opened != "file":
            continue
        items = gnomon.load(f"set:{name}", data=str(folder), images="none").items()
        assert next(iter(items)).text


def test_the_published_answers_of_a_model_get_their_accuracy(folder, tmp_path):
    from gnomon.items.answers.logs import import_log

    (run,) = import_log(folder / "sib_radio_llama70.csv", tmp_path)
    right = sum(answer.choice in item.gold for item, answer in run.answers())
    assert right == 301
    assert run.manifest.counts.items == 1000
