"""Rows in the forms of public sets of spatial questions are read as their authors meant them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gnomon
from gnomon.errors import GnomonError
from gnomon.items.understanding import understood
from gnomon.records import Item

SIDES = ["left", "right", "up", "down"]
COUNT = 8
PICTURE = "https://pictures.example.org/a.png"


def letter(number: int, among: int = 4) -> str:
    return "ABCD"[(number * 3 + 1) % among]


def conversation(number: int) -> dict[str, Any]:
    shown = {"type": "image_url", "image_url": {"url": PICTURE}}
    asked = [shown, {"type": "text", "text": f"Is cup {number} left?"}]
    said = ["yes", "no"][number % 2]
    return {
        "messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
    }


# Name of the form -> a row by its number.
FORMS: dict[str, Any] = {
    "MMSI": lambda n: {
        "id": n,
        "images": [PICTURE, PICTURE],
        "question": f"Where {n}?\nOptions: A: left, B: right, C: up, D: down",
        "answer": letter(n),
        "thought": "as follows",
    },
    "SpatialEval": lambda n: {
        "id": f"maze.{n}",
        "text": f"Where {n}?\nAvailable options:\nA. left\nB. right\nC. up\nD. down\nAnswer.",
        "oracle_answer": SIDES["ABCD".index(letter(n))],
        "oracle_option": letter(n),
        "oracle_full_answer": "x",
    },
    "SAT": lambda n: {
        "image_bytes": [PICTURE],
        "question": f"Where {n}?",
        "answers": SIDES,
        "correct_answer": SIDES["ABCD".index(letter(n))],
    },
    "OmniSpatial": lambda n: {
        "id": f"{n}_0",
        "question": f"Where {n}?",
        "options": SIDES,
        "answer": "ABCD".index(letter(n)),
        "gt": letter(n),
    },
    "3DSRBench": lambda n: {
        "index": f"{n}-0",
        "question": f"Where {n}?",
        **dict(zip("ABCD", SIDES, strict=True)),
        "answer": letter(n),
        "image_url": PICTURE,
    },
    "EmbSpatial": lambda n: {
        "question_id": f"mp3d_{n}",
        "question": f"Where {n}?",
        "answer": "ABCD".index(letter(n)),
        "answer_options": SIDES,
        "relation": "left",
    },
    "Open3DVQA": lambda n: {
        "question": f"Where {n}?\nA: left\nB: right\nC: up\nD: down",
        "answer": letter(n),
    },
    "ViewSpatial": lambda n: {
        "question": f"Where {n}?",
        "choices": "A. left\nB. right\nC. up\nD. down",
        "answer": f"{letter(n)}. {SIDES['ABCD'.index(letter(n))]}",
    },
    "A-OKVQA": lambda n: {
        "image_id": n,
        "question": f"Where {n}?",
        "choices": SIDES,
        "correct_choice_idx": "ABCD".index(letter(n)),
        "direct_answers": ["left", "up"],
    },
    "SocialIQA": lambda n: {
        "question": f"Where {n}?",
        **{f"answer{place}": side for place, side in zip("ABCD", SIDES, strict=True)},
        "label": 1 + "ABCD".index(letter(n)),
    },
    "VSI-Bench": lambda n: {
        "scene_name": f"s{n}",
        "question": f"Where {n}?",
        "options": [f"{place}. {side}" for place, side in zip("ABCD", SIDES, strict=True)],
        "ground_truth": letter(n),
    },
    "BIG-bench": lambda n: {
        "input": f"Where {n}?",
        "target_scores": {side: int(side == SIDES["ABCD".index(letter(n))]) for side in SIDES},
    },
    "choices with a mark each": lambda n: {
        "question": f"Where {n}?",
        "options": [
            {"text": side, "correct": side == SIDES["ABCD".index(letter(n))]} for side in SIDES
        ],
    },
    "choices as records": lambda n: {
        "question": f"Where {n}?",
        "choices": [
            {"id": name, "content": side} for name, side in zip("ABCD", SIDES, strict=True)
        ],
        "answer": letter(n),
    },
    "rows of the hub's viewer": lambda n: {
        "row_idx": n,
        "row": {"question": f"Where {n}?", "choices": SIDES, "answer": "ABCD".index(letter(n))},
    },
    "ERQA": lambda n: {
        "question": f"Where {n}? Choices: A. left. B. right. C. up. D. down. Please answer "
        "directly with only the letter of the correct option and nothing else.",
        "answer": letter(n),
    },
    "OpenBookQA": lambda n: {
        "question_stem": f"Where {n}?",
        "choices": {"text": SIDES, "label": ["A", "B", "C", "D"]},
        "answerKey": letter(n),
    },
    "MindCube": lambda n: {
        "question": f"Where {n}? A. left B. right C. up D. down",
        "gt_answer": letter(n),
    },
}


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def items_of(file: Path) -> list[Item]:
    return list(gnomon.load(str(file)).items())


@pytest.mark.parametrize("form", FORMS)
def test_four_sides_are_read_in_every_form(form, tmp_path):
    file = written(tmp_path, [FORMS[form](number) for number in range(COUNT)])
    items = items_of(file)
    assert [item.choices for item in items] == [tuple(SIDES)] * COUNT
    assert [item.gold[0] for item in items] == [SIDES["ABCD".index(letter(n))] for n in range(8)]
    assert items[3].text.startswith("Where 3?")
    shown = json.dumps(FORMS[form](0)).count(PICTURE)
    assert len(items[0].images) == shown


def test_each_picture_of_winoground_has_both_captions(tmp_path):
    row = {"id": 7, "image_0": "https://x.org/0.png", "image_1": "https://x.org/1.png"}
    row |= {"caption_0": "a dog on a mat", "caption_1": "a mat on a dog"}
    other = {**row, "id": 8, "caption_0": "a cup on a hat", "caption_1": "a hat on a cup"}
    first, second, *_ = items_of(written(tmp_path, [row, other]))
    assert (first.gold, second.gold) == (("a dog on a mat",), ("a mat on a dog",))
    assert set(first.choices) == set(second.choices)
    assert first.images[0].path.endswith("0.png")
    assert first.group == second.group == "7"


@pytest.mark.parametrize("as_lines", [True, False])
def test_questions_about_a_story_are_items_with_it(as_lines, tmp_path):
    rows = []
    for number in range(4):
        asked = {"question": [f"Is A{number} above B?"], "candidate_answers": ["Yes", "No"]}
        asked = {"q_id": 1, **asked, "answer": [["Yes"], ["No"]][number % 2]}
        other = {"q_id": 2, "question": ["Is C left?"], "candidate_answers": ["Yes", "No", "DK"]}
        rows.append(
            {"story": [f"Block {number}.", "B."], "questions": [asked, {**other, "answer": ["DK"]}]}
        )
    file = written(tmp_path, rows)
    if not as_lines:
        file.write_text(json.dumps({"name": "SpartQA", "data": rows}, indent=1))
    items = items_of(file)
    assert len(items) == 8
    assert (items[0].context, items[0].text) == ("Block 0. B.", "Is A0 above B?")
    assert [item.gold[0] for item in items[:4]] == ["Yes", "DK", "No", "DK"]
    assert len({item.group for item in items}) == 4


def test_wrong_answers_beside_the_right_one_are_its_distractors(tmp_path):
    rows = []
    for number in range(COUNT):
        wrong = {f"distractor{place}": f"wrong {place}.{number}" for place in (1, 2, 3)}
        rows.append({"question": f"Where {number}?", **wrong, "correct_answer": f"on {number}"})
    items = items_of(written(tmp_path, rows))
    assert {len(item.choices) for item in items} == {4}
    assert [item.gold[0] for item in items] == [f"on {number}" for number in range(COUNT)]
    assert len({item.choices.index(item.gold[0]) for item in items}) > 1  # shuffled by a seed


def test_pictures_that_a_document_lists_by_id_are_shown(tmp_path):
    images = [{"id": number, "file_name": f"https://x.org/{number}.png"} for number in range(4)]
    asked = []
    for number in range(4):
        answer = ["yes", "no"][number % 2]
        asked.append({"image_id": number, "question": f"Is it {number}?", "answer": answer})
    file = tmp_path / "vqa.json"
    file.write_text(json.dumps({"images": images, "annotations": asked}))
    assert [item.images[0].path for item in items_of(file)] == [row["file_name"] for row in images]


def test_messages_with_parts_are_a_text_and_pictures(tmp_path):
    items = items_of(written(tmp_path, [conversation(number) for number in range(4)]))
    assert items[0].text == "Is cup 0 left?"
    assert items[0].images[0].path == PICTURE
    assert [item.gold[0] for item in items] == ["yes", "no", "yes", "no"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("image_info", {"file_path": "a.png"}), ("frames_used", ["a.png"]), ("imageId", "2354786")],
)
def test_a_picture_that_is_not_shown_is_named(column, value, tmp_path):
    row = {"question": "Is it left?", "answer": "yes", column: value}
    file = written(tmp_path, [row, {**row, "answer": "no", "question": "Is it right?"}])
    told = understood(gnomon.load(str(file)).options)
    assert any(f"Not shown: {column}" in line for line in told)


def test_answers_that_are_all_different_are_no_labels(tmp_path):
    rows = [{"question": f"Where {n}?", "answer": f"by tree {'abcdefgh'[n]}"} for n in range(8)]
    with pytest.raises(GnomonError, match="every answer in 'answer' is another one"):
        items_of(written(tmp_path, rows))


def test_two_columns_of_one_name_are_refused(tmp_path):
    file = tmp_path / "twice.csv"
    file.write_text("question,A,B,answer,answer\nWhere?,in,on,A,B\n")
    with pytest.raises(GnomonError, match="two columns are named 'answer'"):
        items_of(file)


def rows_of_sides(count: int = COUNT) -> list[dict[str, Any]]:
    return [
        {"question": f"Where {n}?", "choices": SIDES, "answer": letter(n)} for n in range(count)
    ]


def by_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


DOCUMENTS: dict[str, Any] = {
    "columns": by_columns(rows_of_sides()),
    "columns in the plural": {
        "article": "A story.",
        **{
            f"{name.removesuffix('s')}s": cells
            for name, cells in by_columns(rows_of_sides()).items()
        },
    },
    "columns by number": {
        name: dict(enumerate(cells)) for name, cells in by_columns(rows_of_sides()).items()
    },
    "columns beside data": {
        "columns": list(rows_of_sides()[0]),
        "index": list(range(COUNT)),
        "data": [list(row.values()) for row in rows_of_sides()],
    },
    "splits": {"val": rows_of_sides()[:3], "test": rows_of_sides()[3:]},
    "records in a record": {"version": 1, "set": {"made": "x", "qa": rows_of_sides()}},
    "paragraphs": {
        "data": [{"title": "T", "paragraphs": [{"context": "C.", "qas": rows_of_sides()}]}]
    },
}


@pytest.mark.parametrize("shape", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_holds_its_rows_in_many_ways(shape, indent, tmp_path):
    file = tmp_path / "set.json"
    file.write_text(json.dumps(DOCUMENTS[shape], indent=indent))
    items = items_of(file)
    assert [item.text for item in items] == [f"Where {number}?" for number in range(COUNT)]
    assert [item.choices for item in items] == [tuple(SIDES)] * COUNT
    assert [item.gold[0] for item in items] == [
        SIDES["ABCD".index(letter(n))] for n in range(COUNT)
    ]
    contexts = {"paragraphs": "C.", "columns in the plural": "A story."}
    assert items[0].context == contexts.get(shape, "")


def test_of_two_columns_with_marks_the_map_says_which(tmp_path):
    two = [{"in": 1, "on": 0}, {"in": 1, "on": 1}]
    rows = [
        {"question": f"Where {n}?", "mc1_targets": two[0], "mc2_targets": two[1]} for n in (1, 2)
    ]
    file = written(tmp_path, rows)
    with pytest.raises(GnomonError, match=r"mc1_targets\.right"):
        items_of(file)
    named = "text=question,choices=mc2_targets.choices,gold=mc2_targets.right"
    (first, _) = gnomon.load(str(file), map=named).items()
    assert first.gold == ("in", "on")


def test_lists_of_a_picture_and_captions_are_read(tmp_path):
    file = tmp_path / "pairs.json"
    rows = [[f"{n}.png", {"POS": [f"a cup {n}"], "NEG": [f"no cup {n}"]}] for n in range(4)]
    file.write_text(json.dumps(rows))
    assert {item.gold[0] for item in items_of(file)} == {f"a cup {n}" for n in range(4)}


def test_questions_without_options_among_others_have_answers_of_their_own(tmp_path):
    rows = [
        {"question": f"Which {n}?\n\nA. Left\nB. Right\nAnswer.", "answer": "AB"[n % 2]}
        for n in (0, 1)
    ]
    rows += [{"question": "Is it left?", "answer": "Yes"}, {"question": "How many?", "answer": "3"}]
    rows += [{"question": "What is it?", "answer": "a bus stop"}]
    file = written(tmp_path, rows)
    items = items_of(file)
    assert [item.gold[0] for item in items] == ["Left", "Right", "yes", "3"]
    assert [item.form for item in items] == ["choice", "choice", "choice", "number"]
    told = understood(gnomon.load(str(file)).options)
    assert any("1 of 5 rows" in line for line in told)


@pytest.mark.parametrize("lone", ["option1", "A", "Choice B"])
def test_a_lone_column_of_options_is_not_passed_over(lone, tmp_path):
    rows = [
        {"question": f"Where {n}?", lone: "in", "answer": ["in", "on"][n % 2]} for n in range(4)
    ]
    file = written(tmp_path, rows)
    with pytest.raises(GnomonError, match=f"{lone} could be choices"):
        items_of(file)
    known = {"text": "question", "choices": "none", "gold": "answer"}
    assert len(list(gnomon.load(str(file), map=known).items())) == 4


def test_tables_without_a_header_are_known_by_questions_or_letters(tmp_path):
    file = tmp_path / "table.txt"
    file.write_text("a.png\tIs it left? Please say yes or no.\tYes\nb.png\tIs it up? Say so.\tNo\n")
    items = list(gnomon.load(str(file), images="none").items())
    assert [item.gold[0] for item in items] == ["Yes", "No"]
    assert items[0].images[0].path == "a.png"
    file.write_text('The cup that is here lies,in,on,A\n"The cap, which is there, lies",in,on,B\n')
    assert [item.gold[0] for item in items_of(file)] == ["in", "on"]


def test_questions_about_one_scene_are_one_unit_and_long_texts_are_named(tmp_path):
    rows = [
        {"scene_name": f"s{n // 2}", "notes": "word " * 40, **row}
        for n, row in enumerate(rows_of_sides())
    ]
    file = written(tmp_path, rows)
    assert len({item.group for item in items_of(file)}) == 4
    assert any("Not asked: notes" in line for line in understood(gnomon.load(str(file)).options))


def test_labels_that_nobody_agreed_on_are_left_out_and_counted(tmp_path):
    labels = ["entailment", "-", "neutral", "contradiction"]
    rows = [{"sentence1": "A.", "sentence2": f"B {n}.", "gold_label": labels[n]} for n in range(4)]
    file = written(tmp_path, rows)
    assert len(items_of(file)) == 3
    assert any("1 of 4 rows" in line for line in understood(gnomon.load(str(file)).options))


def test_answers_that_are_kept_back_are_told_as_such(tmp_path):
    rows = [{**row, "answer": -1} for row in rows_of_sides()]
    with pytest.raises(GnomonError, match="no right answer"):
        items_of(written(tmp_path, rows))


def test_an_address_is_told_from_a_file():
    with pytest.raises(GnomonError, match="is an address"):
        gnomon.load("https://pictures.example.org/a.csv")
