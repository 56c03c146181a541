"""A knowledge folder as a benchmark, and where it meets other knowledge."""

import msgspec
import pytest

from gnomon.benchmarks.viphy.knowledge import meetings
from gnomon.cli import main
from gnomon.errors import DataError, UsageError
from gnomon.items.source import load
from gnomon.reports.knowledge import agreement, agreement_listing
from gnomon.vision.knowledge import PropertyFinding


def pair(first, second, property="size", typical=(">",), scene="", pictures=5, **fields):
    return PropertyFinding(
        what=f"{first}|{second}",
        property=property,
        objects=(first, second),
        scene=scene,
        typical=typical,
        distribution=dict.fromkeys(typical, 1 / max(1, len(typical))),
        pictures=pictures,
        **fields,
    )


def colour(name, *typical, pictures=5):
    shares = dict.fromkeys(typical, 1 / max(1, len(typical)))
    return PropertyFinding(
        what=name,
        property="colour",
        objects=(name,),
        typical=typical,
        distribution=shares,
        pictures=pictures,
    )


@pytest.fixture
def folder(tmp_path):
    found = {
        "size": [
            pair("car", "mug", pictures=12),
            pair("elephant", "pea", typical=("<",)),
            pair("couch", "cup"),
            pair("zorb", "quux"),
            pair("dog", "cat", typical=()),
        ],
        "elevation": [
            pair("kettle", "mousetrap", "elevation", (">",), scene="kitchen"),
            pair("dog", "lamp", "elevation", ("=", "<"), scene="indoors"),
            pair("book", "man", "elevation", (">", "=", "<"), scene="kitchen"),
        ],
        "colour": [colour("lemon", "yellow"), colour("cow", "black", "white")],
    }
    for name, each in found.items():
        lines = b"\n".join(msgspec.json.encode(finding) for finding in each)
        (tmp_path / f"{name}.jsonl").write_bytes(lines + b"\n")
    return tmp_path


def items(name, folder, **options):
    return list(load(f"{name}@own", knowledge=str(folder), **options).items())


def test_typical_pairs_are_asked_both_ways_round(folder):
    found = items("viphy-size", folder)
    assert len(found) == 8, "what is not typical is not asked"
    assert found[0].text == "A car is [MASK] than a mug in size."
    assert (found[0].gold, found[1].gold) == (("larger",), ("smaller",))
    assert found[0].group == found[1].group
    assert found[0].tags["pictures"] == "12"
    assert found[0].tags["frequency"] == "10-99"


@pytest.mark.parametrize("prompt", ["cloze", "question", "finetune"])
def test_all_three_prompts_of_the_paper_can_be_asked(folder, prompt):
    for name in ("viphy-color", "viphy-size", "viphy-spatial"):
        found = items(name, folder, prompt=prompt)
        assert found
        assert len({item.id for item in found}) == len(found)


def test_scenes_stand_in_a_sentence(folder):
    kitchen, _, indoors, back = items("viphy-spatial", folder)
    assert kitchen.text.startswith("In a kitchen, the kettle is [MASK]")
    assert indoors.text.startswith("In an indoor scene, the dog is [MASK]")
    assert indoors.gold == ("at the same height as", "lower down than")
    assert back.gold == ("higher up than", "at the same height as")
    assert len(items("viphy-spatial", folder, levels=2)) == 2


def test_where_every_answer_is_right_nothing_is_asked(folder):
    assert not [item for item in items("viphy-spatial", folder) if "book" in item.text]


def test_all_typical_colours_are_right(folder):
    lemon, cow = items("viphy-color", folder)
    assert lemon.gold == ("yellow",)
    assert cow.gold == ("white", "black")
    assert cow.text == "The usual color of a cow is [MASK]."


def test_rarely_seen_pairs_can_be_left_out(folder):
    assert len(items("viphy-size", folder, least=10)) == 2
    with pytest.raises(UsageError, match="least"):
        items("viphy-size", folder, least=0)


def test_a_folder_that_is_none_says_how_to_make_one(folder, tmp_path):
    with pytest.raises(DataError, match="gnomon look"):
        items("viphy-size", tmp_path / "nowhere")
    (folder / "size.jsonl").unlink()
    with pytest.raises(DataError, match=r"no size\.jsonl"):
        items("viphy-size", folder)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"what": "a|b", "property": "size", "objects": ["a"]}', "objects"),
        ('{"what": "a", "property": "colour", "objects": ["a"]}', "property"),
        (
            '{"what": "a|b", "property": "size", "objects": ["a", "b"], "typical": ["="]}',
            "typical",
        ),
        ('{"what": "a|b"', "JSON"),
    ],
)
def test_a_damaged_line_is_named(folder, line, message):
    (folder / "size.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=message) as caught:
        items("viphy-size", folder)
    assert caught.value.line == 1


def test_the_flag_chooses_the_source(folder, tmp_path, capsys):
    runs = str(tmp_path / "runs")
    words = ["run", "viphy-size", "--set", f"knowledge={folder}", "-m", "majority", "--runs", runs]
    assert main([*words, "--json"]) == 0
    printed = capsys.readouterr().out
    assert '"viphy-size@own"' in printed
    assert '"items":8' in printed.replace(" ", "")


def test_a_benchmark_that_reads_no_knowledge_refuses_the_flag(folder, capsys):
    assert main(["run", "scales", "--set", f"knowledge={folder}", "-m", "random"]) != 0
    assert "knowledge" in capsys.readouterr().err


def test_where_findings_meet_our_own_tables_they_are_judged(folder):
    met = [each for each in meetings(str(folder)) if each.beside == "fresh"]
    sizes = {each.item.group: each for each in met if each.property == "size"}
    assert set(sizes) == {"car / mug", "elephant / pea", "couch / cup"}, "by a synonym, too"
    right = {group: each.answer.choice in each.item.gold for group, each in sizes.items()}
    assert right == {"car / mug": True, "elephant / pea": False, "couch / cup": True}
    (above,) = [each for each in met if each.property == "elevation"]
    assert above.answer.choice in above.item.gold
    assert [each.item.tags["object"] for each in met if each.property == "colour"] == [
        "lemon",
        "cow",
    ]


def test_agreement_has_an_interval_and_names_what_differs(folder):
    records = {(each["property"], each["beside"]): each for each in agreement(str(folder))}
    size = records["size", "fresh"]
    assert (size["meet"], size["agree"]) == (3, 2)
    assert size["low"] < size["share"] < size["high"]
    listing = agreement_listing([size])
    assert listing.rows[0][:5] == ("size", "fresh", 3, 2, "67\u00a0%")
    assert size["disagree"] == ["elephant / pea: smaller, not larger"]
