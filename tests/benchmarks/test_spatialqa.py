"""spatialqa: fresh items are balanced and in good English; the authors' files are read as they are,
or refused."""

import gzip
import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import log, sqrt
from pathlib import Path
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.families import LABELS, read_families
from gnomon.benchmarks.spatialqa import (
    CATEGORIES,
    SPATIALQA,
    families,
    fresh,
    published,
    read,
    statistics,
)
from gnomon.errors import DataError, UsageError
from gnomon.models.classifiers import Classifier

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


def test_the_fresh_set_has_many_families_few_items_of_each_template_and_no_item_twice(items):
    assert len({item.tags["family"] for item in items}) >= 125
    assert len({item.group for item in items}) >= 400
    assert 2_000 <= len(items) <= 4_000
    assert len({item.id for item in items}) == len(items)
    assert len({(item.context, item.text) for item in items}) == len(items)
    assert len(set(Counter(item.group for item in items).values())) == 1


def test_more_items_of_each_template_are_there_for_the_asking():
    sizes = Counter(item.group for item in fresh(per_group=10))
    assert len(sizes) >= 400
    assert set(sizes.values()) == {10}


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


def kin_of(found):
    """The families by what they share their premises with, and the templates of each."""
    kin = defaultdict(list)
    for family in found:
        kin[family.kin] += [(family, template) for template in family.templates]
    return kin


def wordings(family, template):
    """How often a premise is worded in each way, whatever its fillers are called.

    Fillers of a named list are numbered in the order in which they appear, so that two premises in
    which they have only changed places are the same. Rows of words are taken as they are.
    """
    worded = [draw for draw in family.draws if not draw.source or len(draw.slots) > 1]
    lists = {slot: draw.source for draw in family.draws for slot in draw.slots}
    ways = Counter()
    for rows in product(*(draw.rows for draw in worded)):
        said = {}
        for draw, row in zip(worded, rows, strict=True):
            said.update(zip(draw.slots, row, strict=True))
        ways[premise_with(template, said, lists)] += 1
    total = sum(ways.values())
    return {way: Fraction(count, total) for way, count in ways.items()}


def premise_with(template, said, lists):
    open_slots = [slot for slot in template.premise.slots if slot not in said]
    words = []
    for slot, form in template.premise.markers:
        if slot in said:
            words.append((said[slot].name, form))
        else:
            words.append((lists[slot], open_slots.index(slot), form))
    return template.premise.format, tuple(words)


def premises_of(members, *golds):
    """The wordings of the premises with these gold labels."""
    found = Counter()
    for family, template in members:
        if template.labels in golds:
            found.update(wordings(family, template))
    return found


def test_a_premise_alone_says_nothing_about_the_label():
    kin = kin_of(families())
    assert len(kin) >= 125
    one_label = 0
    for members in kin.values():
        entailed = premises_of(members, ("entailment",))
        assert entailed
        assert premises_of(members, ("contradiction",)) == entailed
        if all(len(template.labels) == 1 for _, template in members):
            assert premises_of(members, ("neutral",)) == entailed
            one_label += 1
        else:
            vague = premises_of(members, ("entailment", "neutral"))
            assert vague
            assert premises_of(members, ("contradiction", "neutral")) == vague
    assert one_label >= 110


def test_negation_distance_length_and_overlap_are_the_same_for_all_labels(items):
    negators = {"not", "no", "never", "nobody", "without", "cannot", "neither", "nowhere"}
    leaving = {"away", "off", "out", "outside", "far", "apart"}
    figures = {}
    for label in LABELS:
        premises = [words_of(item.context) for item in items if item.gold == (label,)]
        hypotheses = [set(words_of(item.text)) for item in items if item.gold == (label,)]
        pairs = list(zip(premises, hypotheses, strict=True))
        figures[label] = (
            fmean(bool(negators & set(words)) for words in premises),
            fmean(bool(leaving & set(words)) for words in premises),
            fmean(len(words) for words in premises) / 100,
            fmean(len(said & set(words)) / len(said) for words, said in pairs),
        )
    assert figures["neutral"][0] > 0.2
    for measured in zip(*figures.values(), strict=True):
        assert max(measured) - min(measured) < 0.04


def words_of(text):
    return re.findall(r"[a-z']+", text.lower())


def test_a_figure_of_speech_says_nothing_about_what_its_words_say_literally():
    asked = Counter()
    for family in families():
        labels = {True: set(), False: set()}
        for template in family.templates:
            labels[template.figurative].add(template.labels)
        if not labels[True]:
            continue
        states, open_ = {("entailment",), ("contradiction",)}, {("neutral",)}
        assert (labels[False], labels[True]) in [(states, open_), (open_, states)], family.name
        asked[labels[True] == open_] += 1
    assert asked[True] == asked[False] >= 25


def test_words_of_one_country_only_are_not_used():
    only = "lorry lift pavement trolley holdall caravan dearer aubergine hob queue fortnight"
    found = set()
    for item in fresh(seed=3, per_group=10):
        found.update(words_of(f"{item.context} {item.text}"))
    assert len(found) > 800
    assert not found & set(only.split())


def test_two_seeds_share_few_items(items):
    others = {(item.context, item.text) for item in fresh(seed=1)}
    shared = sum((item.context, item.text) in others for item in items)
    assert shared < len(items) / 50


def test_words_of_hypotheses_learnt_from_another_seed_say_nothing_about_labels(items):
    assert_words_say_nothing(items, fresh(seed=1), lambda item: item.text)


def test_words_of_premises_learnt_from_another_seed_say_nothing_where_one_label_is_right(items):
    vague = {item.tags["family"] for item in items if len(item.gold) > 1}
    asked, other = (
        [item for item in some if item.tags["family"] not in vague]
        for some in (items, fresh(seed=1))
    )
    assert len(asked) > 2_000
    assert_words_say_nothing(asked, other, lambda item: item.context)


def test_a_classifier_of_premises_is_at_chance_on_families_that_it_has_not_seen(items):
    pytest.importorskip("sklearn")
    model = Classifier("premise-only", "", lambda item: words_of(item.context), 5, "")
    model.prepare(items, SPATIALQA)
    answers = model.answer(items)
    right = [answer.choice in item.gold for item, answer in zip(items, answers, strict=True)]
    chance = fmean(len(item.gold) / 3 for item in items)
    assert abs(fmean(right) - chance) < 0.03


def assert_words_say_nothing(items, other, text_of):
    counts = {label: Counter() for label in LABELS}
    for item in other:
        for label in item.gold:
            counts[label].update({*text_of(item).split()})
    totals = {label: sum(counts[label].values()) for label in LABELS}
    gaps = defaultdict(list)
    for item in items:
        words = {*text_of(item).split()}
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
    assert len(golds) > 10
    for found in golds.values():
        assert len(found) >= 3
        assert len({coverage(found)[label] for label in LABELS}) == 1


def test_some_items_have_several_right_labels_but_none_has_all(items):
    sizes = Counter(len(item.gold) for item in items)
    assert sizes[2] > 100
    assert set(sizes) == {1, 2}


@pytest.mark.parametrize("seed", [0, 7])
def test_sentences_are_whole(seed):
    items = list(fresh(seed=seed, per_group=40))
    assert len(items) > 1000
    for item in items:
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


@pytest.mark.parametrize(
    ("name", "count"),
    [("along-the-shelf", 3), ("nesting", 4), ("triangle", 4), ("along-the-road", 4)],
)
def test_fillers_of_one_list_are_never_the_same(name: str, count: int):
    family = next(family for family in families() if family.name == name)
    words = {row[0].name for row in family.draws[0].rows}
    problems = list(family.problems(60))
    assert len(problems) > 60
    for problem in problems:
        text = f"{problem.premise} {problem.hypothesis}".lower()
        assert sum(bool(re.search(rf"the {word}\b", text)) for word in words) == count


def test_more_than_there_are_gives_all_there_are():
    family = next(family for family in families() if family.name == "hanging-on-a-wall")
    every = len(family.draws[0].rows) * (len(family.draws[0].rows) - 1) * 2
    paired = Counter(problem.template.id for problem in family.problems(10**6, paired=True))
    shared_out = Counter(problem.template.id for problem in family.problems(10**6))
    assert set(paired.values()) == {every}
    assert set(shared_out.values()) == {every // 3}


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


def test_one_premise_for_all_labels_in_which_the_slots_change_places(tmp_path: Path):
    file = tmp_path / "height.yaml"
    file.write_text("""
words: {peak: [Etna, Fuji, Elbrus, tower]}
taller:
  slots: {A: peak, B: peak, C: peak, "V W": [[taller, shorter], [shorter, taller]]}
  hypothesis: "{A} is {bare V} than {B}"
  premise: "{1's} top is seen from {3}, and {1} is {bare 4} than {2}"
  entailment: A B C V
  contradiction: A B C W
  neutral: A C B V
""")
    (family,) = read_families(file)
    assert [template.premise.text for template in family.templates] == [
        "{A's} top is seen from {C}, and {A} is {bare V} than {B}",
        "{A's} top is seen from {C}, and {A} is {bare W} than {B}",
        "{A's} top is seen from {B}, and {A} is {bare V} than {C}",
    ]


def test_twins_share_their_slots_and_count_as_one_family(tmp_path: Path):
    file = tmp_path / "own.yaml"
    file.write_text("""
down:
  slots: {P: person, "X F": [[a hole, debt], [a pit, despair]]}
  hypothesis: "{P} is in {bare X}"
  entailment: "{P} fell into {bare X}"
  figurative: {neutral: "{P} fell into {bare F}"}
  twin:
    hypothesis: "{P} is in {bare F}"
    neutral: "{P} fell into {bare X}"
    figurative: {entailment: "{P} fell into {bare F}"}
""")
    items = list(fresh(patterns=str(file)))
    assert {item.tags["family"] for item in items} == {"down"}
    assert {item.group for item in items} == {"down/0", "down/1", "down-twin/0", "down-twin/1"}
    assert {item.tags["reading"] for item in items} == {"literal", "figurative"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- a list", "names each family"),
        (
            "f: {hypothesis: '{A} sits', slots: {A: person}, premise: '{1} saw {2}', neutral: A}",
            r"'A' does not name a slot for each role of '\{1\} saw \{2\}'",
        ),
        (
            "f: {hypothesis: '{A} sits', slots: {A: person}, neutral: '{A} stands', "
            "twin: {hypothesis: '{A} lies', neutral: '{A} stands', twin: {hypothesis: '{A}'}}}",
            "a twin has no twin of its own",
        ),
        (
            "f: {hypothesis: '{A} sits', slots: {A: person}, neutral: '{A} stands', "
            "twin: {hypothesis: '{A} lies'}}",
            "no premises",
        ),
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
    templates = len({item.group for item in items})
    assert sizes.rows[-1] == ("all", templates, len(items), len(items))
    assert sum(row[1] for row in sizes.rows[:-1]) == templates
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


def test_each_template_of_the_published_items_may_be_cut(tmp_path: Path):
    """So that a small part has all templates, as figures without partial credit need."""
    rows = [f"A is in B{i}.\tB{i} holds A.\tentailment\tcontainment\tin\t0" for i in range(9)]
    rows += ["A runs.\tA is moving.\tentailment\tmotion\tmoves\t0"]
    write(tmp_path, "data.tsv", [HEADER, *rows])
    few = list(published(data=str(tmp_path), per_group=3))
    assert [item.group for item in few] == ["in/0"] * 3 + ["moves/0"]
    more = list(published(data=str(tmp_path), per_group=4))
    assert {item.id for item in few} < {item.id for item in more}
    assert len(list(published(data=str(tmp_path)))) == 10


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
