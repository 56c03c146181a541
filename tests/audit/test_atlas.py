"""The atlas: which sets of a folder it takes, what it says of them, and what it writes."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from gnomon.audit.atlas import AtlasEntry, best_rules, make_atlas, sets_in
from gnomon.audit.auditing import AuditReport, audit
from gnomon.audit.finding import Finding
from gnomon.audit.pruning import prune
from gnomon.audit.publishedscores import published_scores
from gnomon.audit.sets import GROUPS, PICTURES, AuditSet
from gnomon.audit.sources import FIELDS, of_files, plain_item
from gnomon.cli.dispatch import main
from gnomon.errors import UsageError
from gnomon.items.itemfiles import items_to_ask, options_of_file
from gnomon.records import Item

STORIES = 150


def quiet(_: str) -> None:
    """Nobody listens."""


def write_stories(file: Path, *, leak: bool) -> None:
    """Stories in bAbI's form: the word "cup" in a question goes with yes, or with nothing."""
    draw = Random(1)
    lines = []
    for number in range(STORIES):
        yes = draw.random() < 0.5
        thing = "cup" if (yes if leak else draw.random() < 0.5) else "jug"
        lines.append(f"1 The bag of colour {number} is bigger than the box.")
        lines.append(f"2 The box is bigger than the {thing}.")
        answer = "yes" if yes else "no"
        lines.append(f"3 Does the {thing} fit in the bag of colour {number}?\t{answer}\t1 2")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_captions(file: Path) -> None:
    rows = {}
    for number in range(60):
        rows[str(number)] = {
            "filename": f"{number}.jpg",
            "caption": f"a cat {number} on a mat",
            "negative_caption": f"a cat {number} floating far below a mat",
        }
    file.write_text(json.dumps(rows), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, AtlasEntry]]:
    """An atlas of three sets, one of them without a leak."""
    data = tmp_path_factory.mktemp("data")
    (data / "others").mkdir()
    write_stories(data / "babi18.txt", leak=True)
    write_stories(data / "others" / "babi17.txt", leak=False)
    write_captions(data / "others" / "sugar_rel.json")
    (data / "others" / "unknown.json").write_text("[]")
    output = data / "atlas"
    entries = make_atlas(data, output, quiet, own=False)
    return output, {entry.name: entry for entry in entries}


def test_sets_of_a_folder_and_its_folders_are_found_by_their_files(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    assert set(made[1]) == {"babi17", "babi18", "sugarcrepe-relations"}


def test_a_question_that_gives_its_answer_away_is_told(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    leaking = made[1]["babi18"]
    assert leaking.best is not None
    assert leaking.best.alarm
    assert leaking.best.value == pytest.approx(1.0)
    assert leaking.items == STORIES
    sound = made[1]["babi17"]
    assert not any(rule.alarm for rule in sound.blind)


def test_the_kept_part_is_a_file_of_items_that_gives_nothing_away(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    output, entries = made
    sound = entries["babi17"]
    kept = list(items_to_ask(**options_of_file(output / "babi17.jsonl", {})))
    assert len(kept) == sound.kept
    assert sound.kept_alarms == 0
    leaking = entries["babi18"]
    assert leaking.kept is not None
    assert leaking.kept < STORIES / 4


def test_pages_link_to_one_another_and_figures_stand_beside_them(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    output, entries = made
    overview = (output / "index.html").read_text(encoding="utf-8")
    for name in entries:
        assert f'href="{name}.html"' in overview
        assert 'href="index.html"' in (output / f"{name}.html").read_text(encoding="utf-8")
    records = json.loads((output / "atlas.json").read_text(encoding="utf-8"))
    assert [record["name"] for record in records] == list(entries)
    assert records[0]["command"].startswith("gnomon audit ")


def test_the_same_folder_gives_the_same_atlas(
    made: tuple[Path, dict[str, AtlasEntry]], tmp_path: Path
) -> None:
    output, _ = made
    make_atlas(output.parent, tmp_path / "again", quiet, own=False)
    for file in sorted(output.iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_a_name_that_several_sets_use_is_a_sets_own_in_its_folder_only(tmp_path: Path) -> None:
    row = '{"question": "Where?", "choices": ["left", "right"], "answer": "left"}\n'
    for name in ("cv-bench", "stepgame"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.jsonl").write_text(row)
    (stepgame,) = [one for one in sets_in(tmp_path, own=False) if one.name == "stepgame"]
    assert stepgame.place == tmp_path / "stepgame"
    assert stepgame.command == "gnomon audit stepgame/test.jsonl"


def test_a_folder_without_known_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no file of a set"):
        make_atlas(tmp_path, tmp_path / "atlas", quiet)


def test_the_command_needs_a_folder_for_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--atlas", "data"]) == 2
    assert "gnomon audit --atlas data -o atlas" in capsys.readouterr().err


def test_captions_without_a_question_are_audited(tmp_path: Path) -> None:
    write_captions(tmp_path / "sugar_rel.json")
    report = audit(of_files("captions", [tmp_path / "sugar_rel.json"]))
    told = {finding.part for finding in report.alarms}
    assert "words of the choices" in told
    assert not any(finding.check == "integrity" for finding in report.alarms)


def test_prompts_for_painters_are_no_questions_that_words_give_away(tmp_path: Path) -> None:
    rows = []
    for number in range(80):
        relation = ("above", "below")[number % 2]
        objects = [{"class": f"cat {number}", "count": 1}, {"class": "dog", "count": 1}]
        objects[1]["position"] = [relation, 0]
        prompt = f"a photo of a dog {relation} a cat {number}"
        rows.append({"tag": "position", "include": objects, "prompt": prompt})
    file = tmp_path / "geneval.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert not audit(of_files("prompts", [file])).alarms


def test_prompts_whose_relation_has_a_column_are_no_questions_either(tmp_path: Path) -> None:
    rows = []
    for number in range(80):
        word, said = (("top", "above"), ("left", "to the left of"))[number % 2]
        prompt = f"a dog {said} a cat {number}"
        things = {"obj1": ["dog", [0, 0, 1, 1]], "obj2": [f"cat {number}", [0, 0, 1, 1]]}
        rows.append({"id": number, "prompt": prompt, "relation": word, **things})
    file = tmp_path / "nsr1k.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    assert not audit(of_files("prompts", [file])).alarms


# Published scores.


def questions_of(parts: dict[str, int], form: str = "caption") -> AuditSet:
    """So many questions of each part of a set, yes and no equally often."""
    questions = []
    for part, count in parts.items():
        for number in range(count):
            item = Item(
                id=f"{part}/{number}",
                form=form,
                text=f"The cup {number} is on the mat.",
                choices=("false", "true"),
                gold=(("false", "true")[number % 2],),
                tags={"part": part},
            )
            questions.append(plain_item(item))
    return AuditSet("questions", FIELDS, questions)


def nothing_leaks(audited: AuditSet, scored: int, trained: bool) -> float:
    """No blind rule gets anything, from a training part or not."""
    assert len(audited) >= scored
    assert trained in (False, True)
    return 0.0


def test_each_published_score_stands_once_and_has_the_items_of_its_part() -> None:
    audited = questions_of({"random/train": 300, "random/test": 100})
    scores = published_scores("vsr@published", audited, None, nothing_leaks)
    by_model = {score.model: score for score in scores}
    assert len(by_model) == len(scores)
    lxmert = by_model["LXMERT"]
    assert lxmert.source == "VSR, Table 3, Table 8"
    assert (lxmert.on, lxmert.items, lxmert.value) == ("random/test", 100, 0.725)
    assert lxmert.low is not None
    assert lxmert.low < 0.725 - 0.07  # a hundred items
    people = by_model["human ceiling"]
    assert people.low is None


def test_scores_on_items_that_are_not_there_are_not_shown() -> None:
    audited = questions_of({"zeroshot/test": 100})
    models = [
        score.model for score in published_scores("vsr@published", audited, None, nothing_leaks)
    ]
    assert models == ["human ceiling"]


def test_scores_that_hardly_differ_are_level_and_others_are_not() -> None:
    audited = questions_of({"random/test": 2000})
    scores = published_scores("vsr@published", audited, None, nothing_leaks)
    numbers = {score.model: number for number, score in enumerate(scores, 1)}
    lxmert = scores[numbers["LXMERT"] - 1]
    assert numbers["ViLT"] in lxmert.level_with  # 72.5 and 71.0
    assert numbers["VisualBERT"] not in lxmert.level_with  # 57.4


def test_a_score_is_above_blind_rules_by_its_widest_interval_or_under_a_condition() -> None:
    groups = questions_of({"random/test": 2000})
    items = [structs.replace(one.item, group=str(n % 40)) for n, one in enumerate(groups.questions)]
    audited = replace(groups, questions=list(map(plain_item, items)), kinds=(GROUPS,))

    def above(blind: float) -> str:
        scores = published_scores("vsr@published", audited, None, lambda *_: blind)
        return next(score.above_blind for score in scores if score.model == "LXMERT")

    assert above(0.5) == "yes"
    assert above(0.65) == "if items are independent"
    assert above(0.72) == "not shown"


def test_published_answers_are_scored_item_by_item_and_compared_in_pairs(tmp_path: Path) -> None:
    audited = questions_of({"test": 400})
    wrong = {"good": 40, "better": 20, "bad": 200}  # of the first items, so many
    for model, count in wrong.items():
        lines = ["id\tlabel"]
        for number, one in enumerate(audited.questions):
            (gold,) = one.gold
            other = "false" if gold == "true" else "true"
            lines.append(f"{one.id}\t{other if number < count else gold}")
        (tmp_path / f"results-{model}.tsv").write_text("\n".join(lines) + "\n")
    scores = published_scores("spatialqa@published", audited, tmp_path, nothing_leaks)
    assert [score.model for score in scores] == ["better", "good", "bad"]
    assert [score.value for score in scores] == pytest.approx([0.95, 0.9, 0.5])
    # 20 items on which one is right and the other wrong, and none the other way round
    assert [score.level_with for score in scores] == [(), (), ()]


def test_a_set_that_had_to_be_made_anew_has_no_published_scores(
    shared: Path, tmp_path: Path
) -> None:
    told: list[str] = []
    folder = shared / "data" / "spatial-commonsense"
    entries = make_atlas(folder, tmp_path, told.append, own=False)
    by_name = {entry.name: entry for entry in entries}
    assert by_name["posrel@published"].scores
    general = by_name["posrel-general@published"]
    assert not general.scores
    assert general.redrawn
    assert not by_name["posrel@published"].redrawn
    assert "its items are not theirs" in general.note
    assert str(folder) not in by_name["scales@published"].note
    assert any("relativesize@published is left out" in line for line in told)
    overview = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "relativesize@published" in overview
    assert "posrel-general@published</bdi></a> (drawn again)" in overview
    forms = {score.on for score in by_name["scales@published"].scores}
    assert forms == {"cloze, size", "choice, size"}


# The best rule, and the part without leaks.


def test_an_alarm_comes_before_a_larger_gain_that_luck_explains() -> None:
    quiet_rule = Finding(check="priors", part="labels", value=0.9, chance=0.5, n=20)
    loud = Finding(check="priors", part="labels", value=0.6, chance=0.5, n=900, alarm=True)
    hidden = Finding(check="priors", part="template", value=1.0, chance=0.5, n=900, alarm=True)
    report = AuditReport(questions_of({"test": 4}), (quiet_rule, loud, hidden))
    rules = best_rules(report)
    assert [(rule.rule, rule.n, rule.is_blind) for rule in rules] == [
        ("priors: labels", 900, True),
        ("priors: template", 900, False),
    ]


def test_a_rule_that_saw_the_group_or_reads_all_words_is_not_the_best_blind_rule() -> None:
    items = [
        structs.replace(one.item, group=one.id[-1]) for one in questions_of({"a": 40}).questions
    ]
    grouped = AuditSet("groups", FIELDS, list(map(plain_item, items)), kinds=(GROUPS,))
    check = "partial_input"
    known = Finding(check=check, part="text, at random", value=0.9, chance=0.5, n=40, alarm=True)
    reads = Finding(
        check=check, part="text, by group", value=0.8, chance=0.5, n=40, alarm=True, whole=True
    )
    blind = Finding(check=check, part="context, by group", value=0.55, chance=0.5, n=40)
    rules = best_rules(AuditReport(grouped, (known, reads, blind)))
    assert [(rule.value, rule.sees, rule.learnt) for rule in rules] == [
        (0.55, "a part", "other groups"),
        (0.9, "a part", "other items of its group"),
        (0.8, "all words", "other groups"),
    ]


def test_scores_on_another_release_have_its_number_of_items() -> None:
    audited = questions_of({"random/train": 300, "random/test": 100})
    scores = published_scores("vsr@published", audited, None, nothing_leaks)
    by_model = {score.model: score for score in scores}
    second = by_model["LXMERT (second release)"]
    assert (second.on, second.items) == ("random/test of the second release", 2195)
    numbers = [scores[other - 1].model for other in second.level_with]
    assert "LXMERT" not in numbers  # it was asked other items


def test_a_model_that_was_not_trained_is_not_held_against_a_training_part() -> None:
    questions = []
    for split in ("train", "test"):
        for one in questions_of({f"random/{split}": 2000}).questions:
            item = structs.replace(one.item, tags={**one.item.tags, "split": split})
            questions.append(plain_item(item))
    audited = AuditSet("questions", FIELDS, questions)
    scores = published_scores(
        "vsr@published", audited, None, lambda _, __, trained: 0.99 if trained else 0.5
    )
    told = {score.model: (score.trained, score.above_blind) for score in scores}
    assert told["LXMERT"] == (True, "not shown")
    assert told["CLIP (frozen)"] == (False, "yes")


def test_pattern_accuracy_stands_beside_the_accuracy_of_the_authors() -> None:
    scores = published_scores("spacenli@published", questions_of({"all": 50}), None, nothing_leaks)
    best = next(score for score in scores if score.model == "DeBERTaV3-L#1 (SMFA)")
    assert "47.5 % at 0.95, 37.5 % at 1.0" in best.further


def test_a_pair_that_is_torn_by_the_split_does_not_stay_whole() -> None:
    draw = Random(2)
    questions = []
    for number in range(400):
        golds = draw.sample(["true", "false"], 2)
        for split, gold in zip(("train", "test"), golds, strict=True):
            item = Item(
                id=f"{number}/{split}",
                form="caption",
                text=f"Thing {number} is near.",
                choices=("false", "true"),
                gold=(gold,),
                tags={"split": split, "image_id": f"{number}/{split}"},
            )
            questions.append(plain_item(item))
    audited = AuditSet("pairs", FIELDS, questions, kinds=(PICTURES,))
    assert any(finding.check == "flipped_lookup" for finding in audit(audited).alarms)
    part = replace(audited, questions=prune(audited).kept)
    assert 400 <= len(part) < 600
    assert not any(finding.check == "flipped_lookup" for finding in audit(part).alarms)
