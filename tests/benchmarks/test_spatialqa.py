"""spatialqa: fresh items are balanced and in good English; the authors' files are read as they are,
or refused."""

import gzip
import re
from collections import Counter, defaultdict
from math import log, sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.families import LABELS, read_families
from gnomon.benchmarks.spatialqa import CATEGORIES, families, fresh, published, read, statistics
from gnomon.errors import DataError, UsageError

# A word said twice, loose spaces, braces, two articles, the wrong article.
SLIPS = re.compile(r"\b(\w+) \1\b|  | ,|[{}]|the (?:the|a|an)\b|\ba [aeiou]|\ban (?!hour)[^aeiou]")
HEADER = "premise\thypothesis\tentailment\treasoning_type\tfunction_name\tg_id"
ROWS = [
    "The cup is on the desk.\tThe desk is under the cup.\tentailment\torientation\tabove_below\t0",
    "Ann fell in love.\tAnn is in a hole.\tcontradiction,neutral\tmetaphor\tfell\t0",
]


@pytest.fixture(scope="module")
def items():
    return list(fresh())


def coverage(golds):
    """How often each label is right."""
    return Counter(label for gold in golds for label in gold)


def test_the_fresh_set_has_at_least_the_published_size_and_no_item_twice(items):
    assert len(items) >= 20_480
    assert len({item.group for item in items}) >= 94
    assert (
        len({item.id for item in items})
        == len({(item.context, item.text) for item in items})
        == len(items)
    )
    assert set(Counter(item.group for item in items).values()) == {107}


def test_every_category_has_templates_and_each_literal_one_has_figurative_twins(items):
    assert {item.tags["category"] for item in items} == set(CATEGORIES)
    readings = defaultdict(set)
    for item in items:
        if "reading" in item.tags:
            assert (item.tags["category"] == "metaphor") == (item.tags["reading"] == "figurative")
            readings[item.tags["domain"], item.tags["family"]].add(item.tags["reading"])
    for category in CATEGORIES[:-1]:
        twins = [found for (domain, _), found in readings.items() if domain == category]
        assert len(twins) >= 4
        assert all(found == {"literal", "figurative"} for found in twins)


def test_a_constant_is_exactly_at_chance_in_every_category(items):
    for category in CATEGORIES:
        right = coverage(item.gold for item in items if item.tags["category"] == category)
        assert len({right[label] for label in LABELS}) == 1


def test_no_hypothesis_is_used_twice_in_a_family_and_its_labels_are_balanced(items):
    golds = defaultdict(dict)
    for item in items:
        golds[item.tags["family"]][item.text] = item.gold
    assert sum(len(found) for found in golds.values()) == len(items)
    for found in golds.values():
        assert len({coverage(found.values())[label] for label in LABELS}) == 1


def test_words_of_hypotheses_learnt_from_another_seed_say_nothing_about_labels(items):
    counts = {label: Counter() for label in LABELS}
    for item in fresh(seed=1):
        for label in item.gold:
            counts[label].update({*item.text.split()})
    totals = {label: sum(counts[label].values()) for label in LABELS}
    gaps = defaultdict(list)
    for item in items:
        words = {*item.text.split()}
        said = max(
            LABELS,
            key=lambda name: sum(log((counts[name][word] + 1) / totals[name]) for word in words),
        )
        gaps[item.group].append((said in item.gold) - len(item.gold) / 3)
    means = [fmean(found) for found in gaps.values()]
    assert abs(fmean(means)) < 3 * stdev(means) / sqrt(len(means))


def test_in_contrast_sets_a_hypothesis_has_every_label_equally_often():
    golds = defaultdict(list)
    for item in fresh(per_group=20, paired=True):
        golds[item.tags["family"], item.text].append(item.gold)
    for found in golds.values():
        assert len(found) >= 3
        assert len({coverage(found)[label] for label in LABELS}) == 1


def test_some_items_have_several_right_labels_but_none_has_all(items):
    sizes = Counter(len(item.gold) for item in items)
    assert sizes[2] > 1000
    assert set(sizes) == {1, 2}


@pytest.mark.parametrize("seed", [0, 7])
def test_sentences_are_whole(seed):
    for item in fresh(seed=seed, per_group=40):
        for text in (item.context, item.text):
            assert re.fullmatch(r"[A-Z][\w ,.'-]+[\w]\.", text), text
            assert not SLIPS.search(text.lower()), text
        assert item.context != item.text


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 12))
def test_asking_for_more_keeps_what_was_there(seed, count):
    family = families()[3]
    few = defaultdict(list)
    many = defaultdict(list)
    for problem in family.problems(count, seed=seed):
        few[problem.template.id].append(problem)
    for problem in family.problems(count + 5, seed=seed):
        many[problem.template.id].append(problem)
    assert {name: found[:count] for name, found in many.items()} == few


def test_seeds_differ_and_repeat(items):
    again = list(fresh(per_group=5))
    assert again == list(fresh(per_group=5))
    assert {item.text for item in again} != {item.text for item in fresh(per_group=5, seed=1)}


@pytest.mark.parametrize("name", ["three-in-a-row", "nesting", "triangle", "along-the-road"])
def test_fillers_of_one_list_are_never_the_same(name: str):
    family = next(family for family in families() if family.name == name)
    words = {row[0].name for row in family.draws[0].rows}
    for problem in family.problems(60):
        text = f"{problem.premise} {problem.hypothesis}".lower()
        assert sum(bool(re.search(rf"the {word}\b", text)) for word in words) == 3


def test_more_than_there_are_gives_all_there_are():
    family = next(family for family in families() if family.name == "hanging-on-a-wall")
    assert set(Counter(p.template.id for p in family.problems(10**6, paired=True)).values()) == {
        14 * 13 * 2
    }
    assert set(Counter(p.template.id for p in family.problems(10**6)).values()) == {
        14 * 13 * 2 // 3
    }


def test_less_than_one_item_is_refused():
    with pytest.raises(UsageError, match="1 item or more"):
        list(fresh(per_group=0))


def test_families_of_a_users_own(tmp_path: Path):
    file = tmp_path / "height.yaml"
    file.write_text("""
words: {peak: [Etna, Fuji, Elbrus]}
taller:
  slots: {A: peak, B: peak}
  hypothesis: "{A} is taller than {B}"
  entailment: "{B} is shorter than {A}"
  contradiction/neutral: "{B} is a giant beside {A}"
""")
    items = list(fresh(patterns=str(file)))
    assert len(items) == 6
    assert len(list(fresh(patterns=str(file), paired=True))) == 2 * 6
    assert {item.tags["category"] for item in items} == {"height"}
    assert {item.gold for item in items} == {("entailment",), ("contradiction", "neutral")}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a list", "names each family"),
        ("f: 7", "must have a hypothesis"),
        ("f: {hypothesis: '{A} sits', slots: {A: person}}", "no premises"),
        (
            "f: {hypothesis: '{A} sits', slots: {A: nobody}, neutral: '{A} stands'}",
            "no list of words named 'nobody'",
        ),
        (
            "f: {hypothesis: '{A} sits', slots: {A: person}, neutral: '{B} stands'}",
            "slot B of .* is not declared",
        ),
        (
            "f: {hypothesis: '{A} sits', slots: {A: person}, perhaps: '{A} stands'}",
            "'perhaps' is not a label",
        ),
        (
            "f: {hypothesis: '{A} sits', slots: {A B: person}, neutral: '{A} stands'}",
            "must fill 2 slot",
        ),
        (
            "f: {hypothesis: '{A} sees {B}', slots: {A: few, B: few, C: few}, "
            "neutral: '{C} stands'}\nwords: {few: [Ann, Bob]}",
            r"the list 'few' has 2 row\(s\) for 3 different slots",
        ),
        ("words: 5\nf: {}", "the entry 'words': Expected `object`, got `int`"),
        ("words: {peak: aaaa}\nf: {}", "the entry 'words': Expected `array`, got `str`"),
        ("words: {peak: [[Etna], 7]}\nf: {}", "the entry 'words': Expected"),
        ("f: {hypothesis: '{A} sits', slots: {A: []}, neutral: '{A} stands'}", "no words for A"),
        ("f: {hypothesis: [no], slots: {A: person}, neutral: '{A} stands'}", "Expected `str`"),
        ("f: {hypothesis: '{A sits', slots: {A: person}, neutral: '{A} stands'}", "brace"),
    ],
)
def test_a_faulty_family_is_named(tmp_path: Path, text: str, complaint: str):
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(DataError, match=complaint) as caught:
        read_families(file, {"person": ["Ann", "nurse"]})
    assert "own.yaml" in str(caught.value)


def test_statistics_are_the_papers_table_and_the_labels(items):
    sizes, labels, twins = statistics(items)
    assert sizes.rows[-1] == ("all", 192, len(items), len(items))
    assert sum(row[1] for row in sizes.rows[:-1]) == 192
    columns = zip(*(row[1:] for row in labels.rows[:-1]), strict=True)
    assert tuple(sum(column) for column in columns) == labels.rows[-1][1:]
    assert [row[0] for row in twins.rows] == list(CATEGORIES[:-1])


def test_words_that_say_the_same_over_and_over_do_not_keep_anybody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gnomon.benchmarks.families.MOST_MISSES", 1000)
    (tmp_path / "own.yaml").write_text(
        f"words: {{same: [{'Ann, ' * 2000}]}}\n"
        "f:\n  slots: {A: same, B: same, C: same, D: same}\n"
        "  hypothesis: '{A}, {B}, {C} and {D} sit'\n  neutral: '{A} stands'\n"
    )
    items = list(fresh(patterns=str(tmp_path / "own.yaml"), per_group=5))
    assert [item.text for item in items] == ["Ann, Ann, Ann and Ann sit."]


def write(folder: Path, name: str, lines: list[str]) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    data = ("\n".join(lines) + "\n").encode()
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return file


@pytest.mark.parametrize(
    "name", ["data.tsv", "data.tsv.gz", "results/results-x.tsv", "results-x.tsv.gz"]
)
def test_data_or_results_are_found_in_a_checkout_or_a_flat_folder(tmp_path: Path, name: str):
    answers = "results" in name
    write(
        tmp_path,
        name,
        [HEADER + "\tanswer\tcorrect" * answers, *(row + "\tneutral\t0" * answers for row in ROWS)],
    )
    first, second = published(data=str(tmp_path))
    assert (first.gold, second.gold) == (("entailment",), ("contradiction", "neutral"))
    assert (first.group, second.tags["category"]) == ("above_below/0", "metaphor")


def test_rows_of_differently_ordered_files_meet_by_id(tmp_path: Path):
    rows = [*ROWS, ROWS[0], ROWS[0]]
    data = write(tmp_path, "data.tsv", [HEADER, *rows])
    answered = [f"{row}\tneutral\t0" for row in rows[::-1]]
    results = write(tmp_path, "results-x.tsv", [HEADER + "\tanswer\tcorrect", *answered])
    items = {item.id: item for item, _ in read(data)}
    found = {item.id: (item, row["answer"]) for item, row in read(results)}
    assert len(items) == 4
    assert {name: item for name, (item, _) in found.items()} == items
    assert {answer for _, answer in found.values()} == {"neutral"}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "empty"),
        (["premise\thypothesis"], "column entailment is missing"),
        ([HEADER, "only one field"], "1 fields, the header 6"),
        ([HEADER, ROWS[0].replace("entailment", "nan")], "'nan', not one of"),
        ([HEADER, ROWS[0].replace("entailment", "")], "entailment is empty"),
        ([HEADER, "\t" + ROWS[0].split("\t", 1)[1]], "premise is empty"),
        (
            [HEADER, ROWS[0].replace("cup", "\xff\x00").replace("on the desk", "x" * (17 * 2**20))],
            "longer than 16 MB",
        ),
    ],
)
def test_a_corrupt_file_is_refused_with_its_line(tmp_path: Path, lines: list[str], complaint: str):
    write(tmp_path, "data.tsv", lines)
    with pytest.raises(DataError, match=complaint) as caught:
        list(published(data=str(tmp_path)))
    assert "data.tsv" in str(caught.value)


def test_a_gzip_bomb_is_stopped_long_before_it_has_unpacked(tmp_path: Path):
    file = tmp_path / "results-bomb.tsv.gz"
    with gzip.open(file, "wb", compresslevel=9) as out:
        out.write(f"{HEADER}\n".encode())
        for _ in range(64):
            out.write(b"x" * 2**20)
    assert file.stat().st_size < 2**17
    with pytest.raises(DataError, match="longer than 16 MB"):
        list(published(data=str(tmp_path)))


def test_damaged_gzip_is_refused(tmp_path: Path):
    whole = gzip.compress("\n".join([HEADER, *ROWS * 50]).encode())
    (tmp_path / "data.tsv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged or cut short"):
        list(published(data=str(tmp_path)))


def test_missing_data_are_named(tmp_path: Path):
    with pytest.raises(DataError, match=r"looked for data\.tsv and results"):
        list(published(data=str(tmp_path)))
    with pytest.raises(DataError, match="no such folder"):
        list(published(data=str(tmp_path / "nowhere")))
