"""SpaceNLI items: fresh ones from the shipped bank and from a user's patterns."""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import gnomon
from gnomon.benchmarks.spacenli import CHOICES, SPACENLI, fresh, published, repeated, statistics
from gnomon.errors import DataError, UsageError
from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.language.population import Population
from gnomon.records import Item, problem

MINE = """
patterns:
  - id: near-1
    label: entailment
    class: non-projective
    expressions: [near]
    premises: "{X} {X:is} near {Y}"
    hypothesis: "{Y} {Y:is} near {X}"
    slots: {X: landmark, Y: landmark}
    sibling: near-2
    examples: [{X: oak, Y: well}]
  - id: near-2
    label: contradiction
    class: non-projective
    expressions: [near]
    premises: "{X} {X:is} near {Y}"
    hypothesis: "{Y} {Y:is} not near {X}"
    slots: {X: landmark, Y: landmark}
    sibling: near-1
"""


@pytest.fixture(scope="module")
def items():
    return list(fresh(per_group=3))


@pytest.fixture(scope="module")
def bank():
    return read_bank(package_data("patterns/bank"))


def test_items_are_whole_and_have_ids_of_their_own(items):
    assert len({item.id for item in items}) == len(items)
    assert [problem(item) for item in items if problem(item)] == []
    first = items[0]
    assert first.form == "entailment"
    assert first.choices == CHOICES == ("entailment", "neutral", "contradiction")
    assert set(first.tags) >= {"class", "expressions", "premises", "negation", "family"}
    assert any(tag.startswith("slot:") for tag in first.tags)
    assert first.id.startswith(f"{first.group}-")


def test_items_are_grouped_by_pattern_with_one_label_each(items, bank):
    labels = {}
    for item in items:
        assert labels.setdefault(item.group, item.gold) == item.gold
    assert labels == {pattern.id: (pattern.label,) for pattern in bank.patterns}


def test_slot_fillers_stand_in_the_text(items):
    assert any(tag.startswith("slot:") for tag in items[0].tags)
    for item in items[:200]:
        text = f"{item.context} {item.text}".lower()
        for tag, phrase in item.tags.items():
            if tag.startswith("slot:"):
                assert phrase.removeprefix("the ").lower() in text


def test_every_shipped_pattern_has_two_hundred_distinct_items(bank):
    assert len(bank.patterns) >= 200
    assert {
        pattern.id: n for pattern in bank.patterns if (n := len(Population(pattern))) < 200
    } == {}
    texts = Counter((item.group, item.context, item.text) for item in fresh(per_group=40))
    assert max(texts.values()) == 1
    assert texts.total() == 40 * len(bank.patterns)


def test_no_shipped_pattern_stands_without_a_sibling_of_another_label(bank):
    label = {pattern.id: pattern.label for pattern in bank.patterns}
    for pattern in bank.patterns:
        assert pattern.siblings
        assert all(label[sibling] != pattern.label for sibling in pattern.siblings)


def test_two_seeds_give_other_items_and_the_same_statistics():
    first, second = list(fresh(seed=1, per_group=5)), list(fresh(seed=2, per_group=5))
    shared = {item.id for item in first} & {item.id for item in second}
    assert len(shared) < 0.05 * len(first)
    assert statistics(first)[:2] == statistics(second)[:2]


def test_the_same_seed_gives_the_same_items_and_more_keeps_the_fewer(items):
    again = list(fresh(per_group=3))
    assert again == items
    more = {item.id: item for item in fresh(per_group=5)}
    assert all(more[item.id] == item for item in items)


def test_every_fresh_item_names_its_family_and_a_family_has_nine_patterns(items):
    families = defaultdict(set)
    for item in items:
        families[item.tags["family"]].add(item.group)
    assert len(families) > 107
    assert {len(patterns) for patterns in families.values()} == {9}


def test_a_chain_of_premises_says_how_many_hops_it_has(items):
    hops = {item.group: item.tags.get("hops") for item in items}
    assert hops["pr-26-a1"] == "4"
    assert hops["ao-01-a1"] is None


def test_a_default_draw_is_small_and_another_seed_renews_it():
    first = {(item.context, item.text) for item in fresh()}
    second = {(item.context, item.text) for item in fresh(seed=1)}
    assert 1200 <= len(first) <= 2400
    assert len(first & second) < 0.01 * len(first)


def test_no_problem_of_the_shipped_bank_has_two_labels():
    rows = repeated(fresh(per_group=20)).rows
    assert [row for row in rows if row[2] != "same"] == []


def test_patterns_of_a_user(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE)
    items = list(fresh(patterns=str(tmp_path / "mine.yaml"), per_group=7))
    assert Counter(item.group for item in items) == {"near-1": 7, "near-2": 7}
    only = list(fresh(patterns=str(tmp_path / "mine.yaml"), per_group=0))
    assert [(item.context, item.text) for item in only] == [
        ("The oak is near the well.", "The well is near the oak.")
    ]
    everything = list(fresh(patterns=str(tmp_path / "mine.yaml"), per_group=-1))
    assert len(everything) == len({(item.context, item.text) for item in everything})


def test_a_world_of_a_user(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE.replace("{X: oak, Y: well}", "{X: p, Y: q}"))
    (tmp_path / "world.yaml").write_text("classes: {landmark: }\nentities: {landmark: [p, q, r]}")
    files = {"patterns": str(tmp_path / "mine.yaml"), "world": str(tmp_path / "world.yaml")}
    assert len(list(fresh(**files, per_group=20))) == 12


def test_a_filling_of_another_world_has_another_id(tmp_path):
    """The number of a filling says nothing across worlds: ids must differ where problems do, and
    only there."""
    (tmp_path / "mine.yaml").write_text(MINE.replace("{X: oak, Y: well}", "{X: p, Y: q}"))
    found = []
    for number, names in enumerate(("p, q, r", "p, q, s")):
        world = tmp_path / f"{number}.yaml"
        world.write_text(f"classes: {{landmark: }}\nentities: {{landmark: [{names}]}}")
        items = fresh(patterns=str(tmp_path / "mine.yaml"), world=str(world), per_group=20)
        found.append({item.id: (item.context, item.text) for item in items})
    shared = found[0].keys() & found[1].keys()
    assert all(found[0][name] == found[1][name] for name in shared)
    assert len(shared) == 4, "p and q, both ways round, in two patterns"


def test_a_count_that_makes_no_sense_is_refused():
    for source in (fresh, published):
        with pytest.raises(UsageError, match="-2"):
            list(source(per_group=-2))


def test_statistics_are_the_papers_tables(items):
    expressions, labels, shared = statistics(items)
    assert expressions.columns == (
        "expression",
        "directional",
        "argument orientation",
        "projective",
        "non-projective",
        "all",
    )
    assert [row[0] for row in labels.rows][-1] == "all"
    assert labels.rows[-1][-1] == len(items)
    assert sum(labels.rows[-1][1:4]) == pytest.approx(100, abs=0.02)
    assert shared.columns == ("pattern", "also", "labels", "problems")


def test_repeated_problems_are_reported_with_their_labels():
    def item(group, gold):
        return Item(
            id=group,
            form="entailment",
            context="A.",
            text="B.",
            choices=CHOICES,
            gold=(gold,),
            group=group,
        )

    rows = repeated([item("a", "neutral"), item("b", "neutral"), item("c", "entailment")]).rows
    assert set(rows) == {("a", "b", "same", 1), ("a", "c", "DIFFERENT", 1)}


SAMPLE = {
    "id": "48a1-0",
    "label": "contradiction",
    "src": "LA",
    "exp": "out of, in",
    "seed": "48",
    "ent_type": "directional",
    "prem_num": 1,
    "premises": "Ada fell out of the boat.",
    "hypothesis": "Ada is not in the boat.",
    "subs": {"NP1": "Ada", "NP2": "the boat"},
}


def test_published_reads_the_samples_where_the_user_has_them(tmp_path):
    (tmp_path / "160x200.json").write_text(
        json.dumps({"generated with a command": "x", "data": [SAMPLE]})
    )
    (item,) = published(data=str(tmp_path))
    assert (item.id, item.group, item.context) == ("48a1-0", "48a1", "Ada fell out of the boat.")
    assert item.tags == {
        "class": "directional",
        "expressions": "out of, in",
        "premises": "1",
        "negation": "yes",
        "slot:NP1": "Ada",
        "slot:NP2": "the boat",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"data": [{"id": 1}]}',
        json.dumps({"data": [SAMPLE | {"id": "x"}]}),
        "[" * 100_000,
    ],
)
def test_damaged_samples_are_one_clear_error(tmp_path, text):
    (tmp_path / "160x200.json").write_text(text)
    with pytest.raises(DataError, match=r"160x200\.json"):
        list(published(data=str(tmp_path)))


def test_an_empty_folder_says_what_is_missing(tmp_path):
    with pytest.raises(DataError, match=r"selection_restriction\.yaml"):
        list(published(data=str(tmp_path)))


def test_the_benchmark_names_the_papers_measures():
    assert SPACENLI.measures[0] == "accuracy"
    assert SPACENLI.units == (("family",),)
    assert SPACENLI.noun == "patterns"
    assert SPACENLI.default_source == "fresh"


def test_items_do_not_depend_on_the_order_of_sets(tmp_path):
    script = (
        "import msgspec, zlib; from gnomon.benchmarks.spacenli import fresh; "
        "print(zlib.crc32(b''.join(map(msgspec.json.encode, fresh(per_group=2)))))"
    )
    source = str(Path(gnomon.__file__).parents[1])
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert printed.pop().strip()


def test_an_example_that_cannot_be_derived_is_an_error_where_examples_are_asked_for(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINE.replace("{X: oak, Y: well}", "{X: oak, Y: oak}"))
    with pytest.raises(DataError, match="example 1 of 'near-1' cannot be derived"):
        list(fresh(patterns=str(tmp_path / "mine.yaml"), per_group=0))


def test_no_share_that_people_are_shown_is_over_100_percent(capsys):
    from gnomon.cli import main

    assert main(["show", "spacenli", "-n", "0", "--set", "per_group=1"]) == 0
    out = capsys.readouterr().out
    shares = [float(number) for number in re.findall(r"([\d.]+) %", out)]
    assert shares
    assert max(shares) <= 100
    assert "% of all" in out  # a column in percent says so
