"""Logs of other programs become runs: their questions, right answers and replies are in them."""

from __future__ import annotations

import csv
import itertools
import json
import os
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy import stats

import gnomon
from gnomon.cli.dispatch import main
from gnomon.errors import AnswerFileWarning, DataError, GnomonError
from gnomon.items.answers.joining import read_predictions
from gnomon.items.answers.logs import facts_of, import_log
from gnomon.runs import Run, open_runs

SIDES = ["left of it", "right of it", "above it"]


def lm_eval_log(
    folder: Path, model: str, seed: int, *, chat: bool = False, count: int = 60
) -> Path:
    """A log as lm-eval 0.4 writes it for a multiple-choice task."""
    draw = Random(seed)
    gold = Random(0)
    lines = []
    for number in range(count):
        target = gold.randrange(3)
        scores = [-draw.random() for _ in SIDES]
        best = scores.index(max(scores))
        prompt = f"<|user|>Scene {number}?" if chat else f"Scene {number}?\nAnswer:"
        sample = {
            "doc_id": number,
            "doc": {
                "question": f"Scene {number}?",
                "choices": SIDES,
                "answer": target,
                "kind": "x",
            },
            "target": str(target),
            "arguments": {
                f"gen_args_{place}": {"arg_0": prompt, "arg_1": f" {side}"}
                for place, side in enumerate(SIDES)
            },
            "resps": [[[str(score), "False"]] for score in scores],
            "filtered_resps": [[str(score), "False"] for score in scores],
            "filter": "none",
            "metrics": ["acc"],
            "acc": float(best == target),
        }
        lines.append(json.dumps(sample) + "\n")
    file = folder / model / "samples_sides_2026-01-02T03-04-05.678.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(lines))
    return file


def inspect_log(folder: Path, model: str, seed: int, ending: str, *, epochs: int = 2) -> Path:
    """A log as Inspect writes it, with choices and epochs."""
    draw = Random(seed)
    samples = []
    for number in range(1, 41):
        target = "ABC"[number % 3]
        for epoch in range(1, epochs + 1):
            said = draw.choice("ABC")
            value = "C" if said == target else "I"
            samples.append(
                {
                    "id": number,
                    "epoch": epoch,
                    "input": f"Scene {number}?",
                    "choices": SIDES,
                    "target": target,
                    "output": {"completion": f"ANSWER: {said}"},
                    "scores": {"choice": {"value": value, "answer": said}},
                }
            )
    header = {"version": 2, "status": "success", "eval": {"task": "sides", "model": model}}
    file = folder / f"{model.replace('/', '-')}.{ending}"
    if ending == "json":
        file.write_text(json.dumps({**header, "samples": samples}))
        return file
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
    return file


def table(file: Path, rows: list[dict[str, Any]]) -> Path:
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def rights(run: Run) -> list[float]:
    """The share of right answers to each item."""
    found: dict[str, list[bool]] = {}
    for item, answer in run.answers():
        found.setdefault(item.id, []).append(answer.choice in item.gold)
    return [sum(own) / len(own) for own in found.values()]


def compared(capsys: pytest.CaptureFixture[str], *logs: Path) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["compare", *map(str, logs), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    return dict(found)


@pytest.mark.parametrize("program", ["lm-eval", "inspect"])
def test_two_logs_are_compared_in_one_command_as_scipy_compares_them(program, tmp_path, capsys):
    if program == "lm-eval":  # with a chat template, the prompt of a question is another text
        logs = [lm_eval_log(tmp_path, "one", 1), lm_eval_log(tmp_path, "two", 2, chat=True)]
    else:
        logs = [inspect_log(tmp_path, "a/1", 1, "eval"), inspect_log(tmp_path, "a/2", 2, "json")]
    found = compared(capsys, *logs)
    one, two = (rights(run) for run in open_runs(logs))
    apart = [a - b for a, b in zip(one, two, strict=True)]
    expected = stats.ttest_1samp(apart, 0.0).confidence_interval()
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found["n"] == len(apart)


def test_a_log_of_lm_eval_gets_its_own_accuracy(tmp_path):
    log = lm_eval_log(tmp_path, "one", 5)
    own = [json.loads(line)["acc"] for line in log.read_text().splitlines()]
    (run,) = import_log(log, tmp_path / "runs")
    assert rights(run) == own
    assert (run.name, run.benchmark) == ("one", "items@sides")
    first = next(iter(run.items()))
    assert first.text == "Scene 0?"
    assert first.choices == tuple(SIDES)
    assert first.tags["kind"] == "x"


def test_all_epochs_of_inspect_are_kept(tmp_path):
    (run,) = import_log(inspect_log(tmp_path, "a/1", 1, "eval", epochs=3), tmp_path / "runs")
    kept = [answer.sample for _, answer in run.answers()]
    assert sorted(set(kept)) == [0, 1, 2]
    assert len(kept) == 120
    assert run.manifest.counts.items == 40
    assert run.name == "a/1"


def test_generation_that_is_only_right_or_wrong_is_compared_and_has_no_chance(tmp_path, capsys):
    logs = []
    for model, seed in (("one", 1), ("two", 2)):
        draw = Random(seed)
        lines = []
        for number in range(50):
            right = float(draw.random() < 0.5)
            doc = {"problem": f"Sum {number}", "solution_text": f"because {number}"}
            sample = {"doc_id": number, "doc": doc, "target": str(number), "arguments": {}}
            sample |= {"filtered_resps": ["so 7"], "filter": "none", "exact_match": right}
            lines.append(json.dumps(sample) + "\n")
        file = tmp_path / model / "samples_sums.jsonl"
        file.parent.mkdir()
        file.write_text("".join(lines))
        logs.append(file)
    found = compared(capsys, *logs)
    assert found["n"] == 50
    assert main(["score", str(logs[0]), "--format", "json"]) == 0
    (score,) = json.loads(capsys.readouterr().out)
    own = [json.loads(line)["exact_match"] for line in logs[0].read_text().splitlines()]
    assert score["value"] == pytest.approx(sum(own) / 50)
    assert score["chance"] is None
    assert main(["table", *map(str, logs)]) == 0


def test_a_table_of_predictions_needs_no_ids_and_no_benchmark(tmp_path):
    rows = []
    for number in range(30):
        text = f"Where is thing {number}? Options: a. left b. right c. above"
        said = ["a", "The answer is (b).", "above", "no idea"][number % 4]
        rows.append({"query": text, "truth": "abc"[number % 3], "response": said})
    (run,) = import_log(table(tmp_path / "said.csv", rows), tmp_path / "runs")
    choices = [answer.choice for _, answer in run.answers()]
    assert choices[:4] == ["left", "right", "above", None]
    questions = [{"query": row["query"], "truth": row["truth"]} for row in rows]
    asked = gnomon.load(str(table(tmp_path / "asked.csv", questions)))
    assert [item.id for item in run.items()] == [item.id for item in asked.items()]
    joined = read_predictions(tmp_path / "said.csv", reversed(list(asked.items())))
    by_text = {item.id: answer.choice for item, answer in joined.rows}
    assert by_text == {item.id: answer.choice for item, answer in run.answers()}


@pytest.mark.parametrize("ending", ["tsv", "xlsx"])
def test_predictions_of_vlmevalkit_are_read(ending, tmp_path):
    header = ["index", "question", "A", "B", "C", "answer", "category", "prediction"]
    rows = [[n, f"Where {n}?", "left", "right", None, "AB"[n % 2], "x", "B"] for n in range(8)]
    file = tmp_path / f"GPT_MMBench.{ending}"
    if ending == "tsv":
        lines = ["\t".join("" if cell is None else str(cell) for cell in row) for row in rows]
        file.write_text("\n".join(["\t".join(header), *lines]) + "\n")
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in (header, *rows):
            book.active.append(row)
        book.save(file)
    (run,) = import_log(file, tmp_path / "runs")
    assert sum(rights(run)) == 4
    assert next(iter(run.items())).choices == ("left", "right")
    assert run.name == "GPT_MMBench"


def test_a_table_of_what_was_right_by_model_is_a_run_for_each(tmp_path, capsys):
    rows = []
    for number in range(40):
        for model, share in (("big", 5), ("small", 2)):
            rows.append({"id": number, "model": model, "correct": int(number % share > 0)})
    log = table(tmp_path / "right.csv", rows)
    found = compared(capsys, log)
    assert {found["first"], found["second"]} == {"big", "small"}
    assert found["first_value"] + found["second_value"] == pytest.approx(0.8 + 0.5)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": 1, "question": "?"}, "no column holds what a model said"),
        ({"id": 1, "question": "?", "prediction": "x"}, "nothing says whether the answer was"),
        ({"id": 1, "correct": 0.5}, "nothing says whether the answer was right"),
        ({"id": 1, "prediction": "a", "response": "b"}, "several columns could be the answer"),
    ],
)
def test_what_is_no_log_is_refused(row, told, tmp_path):
    with pytest.raises(DataError, match=told):
        import_log(table(tmp_path / "mine.csv", [row]), tmp_path / "runs")


def test_the_command_imports_logs_under_a_name(tmp_path, capsys):
    log = lm_eval_log(tmp_path, "one", 1)
    runs = tmp_path / "runs"
    words = ["runs", "import", str(log), "-m", "Mine", "--task", "places", "--runs", str(runs)]
    assert main(words) == 0
    assert "Mine on items@places: 60 items" in capsys.readouterr().out
    assert main(words) == 0  # again is the same run
    assert len(open_runs([runs])) == 1
    assert facts_of(log) == ("one", "sides", "")


def test_a_log_that_is_cut_is_one_sentence(tmp_path):
    log = lm_eval_log(tmp_path, "one", 1)
    log.write_text(log.read_text()[:-40])
    with pytest.raises(GnomonError, match="not JSON"):
        import_log(log, tmp_path / "runs")


# Rows as the programs themselves write them, cut to what is needed.


def lmms_log(folder: Path, model: str, replies: str, measure: Any = "acc") -> Path:
    """As lmms-eval 0.7 writes it: no document, a bare reply, and the prompt as the input."""
    lines = []
    for number, reply in enumerate(replies):
        target = "AB"[number % 2]
        right = reply == target
        sample = {"doc_id": number, "target": target, "filtered_resps": reply}
        sample |= {"token_counts": [{"output_tokens": 2}], "doc_hash": f"{number:x}"}
        text = f"Where is thing {number}?\nA. left\nB. right\nAnswer with the letter."
        scored = float(right) if measure == "acc" else {"id": number, "is_correct": right}
        lines.append(json.dumps({**sample, measure: scored, "input": text}) + "\n")
    file = folder / model / "20261118_175740_samples_sides.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(lines))
    return file


def test_logs_of_lmms_eval_are_read_as_it_writes_them(tmp_path, capsys):
    logs = [lmms_log(tmp_path, "one", "ABBA" * 9), lmms_log(tmp_path, "two", "ABAA" * 9, "x_acc")]
    (run,) = import_log(logs[0], tmp_path / "runs")
    assert (run.name, run.benchmark) == ("one", "items@sides")
    first = next(iter(run.items()))
    assert (first.choices, first.gold) == (("left", "right"), ("left",))
    assert "Where is thing 0?" in first.text
    assert sum(rights(run)) == 18
    found = compared(capsys, *logs)
    one, two = (rights(run) for run in open_runs(logs))
    assert found["difference"] == pytest.approx(sum(one) / 36 - sum(two) / 36)


def test_what_lmms_eval_counts_is_taken_where_nothing_can_be_chosen(tmp_path):
    lines = []
    for number in range(6):
        counted = {"id": number, "is_correct": number % 3 == 0}
        sample = {"doc_id": number, "target": f"{number} m away", "filtered_resps": "far away"}
        lines.append(json.dumps({**sample, "input": f"How far is {number}?", "mra": counted}))
    log = tmp_path / "m" / "20261118_175740_samples_far.jsonl"
    log.parent.mkdir()
    log.write_text("\n".join(lines))
    (run,) = import_log(log, tmp_path / "runs")
    assert rights(run) == [1, 0, 0, 1, 0, 0]
    assert next(iter(run.items())).text == "How far is 0?"


def test_replies_that_lm_eval_drew_several_times_are_samples(tmp_path):
    sample = {"doc_id": 0, "doc": {"problem": "?"}, "target": "1", "exact_match": 1}
    log = tmp_path / "m" / "samples_sums.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps({**sample, "filtered_resps": [["1", "2", "1"]]}))
    (run,) = import_log(log, tmp_path / "runs")
    assert [answer.sample for _, answer in run.answers()] == [0, 1, 2]


def helm_state(number: int, said: str) -> dict[str, Any]:
    references = []
    for place, side in enumerate(SIDES):
        tags = ["correct"] if place == number % 3 else []
        references.append({"output": {"text": side}, "tags": tags})
    shown = {"A": SIDES[1], "B": SIDES[0], "C": SIDES[2]}  # HELM may list them in another order
    return {
        "instance": {
            "input": {"text": f"Scene {number}?"},
            "references": references,
            "split": "test",
            "id": f"id{number}",
        },
        "request_mode": "original",
        "train_trial_index": 0,
        "output_mapping": shown,
        "request": {"model": "openai/gpt2", "prompt": "Scene?"},
        "result": {"success": True, "completions": [{"text": f" {said}", "logprob": -0.5}]},
    }


def test_requests_and_counts_of_helm_are_read(tmp_path):
    folder = tmp_path / "mmlu:subject=anatomy,model=openai_gpt2"
    folder.mkdir()
    states = [helm_state(number, "ABC"[number % 2]) for number in range(6)]
    log = folder / "scenario_state.json"
    log.write_text(json.dumps({"adapter_spec": {"model": "m"}, "request_states": states}))
    (run,) = import_log(log, tmp_path / "runs")
    assert (run.name, run.benchmark) == ("openai_gpt2", "items@mmlu:subject=anatomy")
    assert [answer.choice for _, answer in run.answers()] == [SIDES[1], SIDES[0]] * 3
    assert [item.gold[0] for item in run.items()] == SIDES * 2

    counted = [{"instance_id": f"id{n}", "stats": {"exact_match": n % 2}} for n in range(6)]
    log = folder / "display_predictions.json"
    log.write_text(json.dumps(counted))
    (run,) = import_log(log, tmp_path / "runs")
    assert sum(rights(run)) == 3

    states[0]["reference_index"] = 0
    log = folder / "scenario_state.json"
    log.write_text(json.dumps({"request_states": states}))
    with pytest.raises(DataError, match="each choice was a request of its own"):
        import_log(log, tmp_path / "runs")


def test_reviews_of_evalscope_are_read(tmp_path):
    lines = []
    for number in range(8):
        said = "AB"[number % 2]
        text = f"Where is thing {number // 2}?\n\nA) left\nB) right"
        asked = {"role": "user", "content": [{"type": "text", "text": text}]}
        score = {"value": {"acc": float(said == "A")}, "prediction": f"ANSWER: {said}"}
        sampled = {"score": score, "sample_id": number, "group_id": number // 2}
        sampled |= {"generation_index": number % 2}
        row = {"index": number, "target": ["A"], "messages": [asked], "sample_score": sampled}
        lines.append(json.dumps(row) + "\n")
    log = tmp_path / "reviews" / "qwen" / "mmbench_default.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(lines))
    (run,) = import_log(log, tmp_path / "runs")
    assert (run.name, run.benchmark) == ("qwen", "items@mmbench_default")
    assert next(iter(run.items())).choices == ("left", "right")
    assert rights(run) == [0.5] * 4


def test_power_is_planned_for_a_log_that_says_only_what_was_right(tmp_path, capsys):
    rows = [{"id": number, "correct": number % 2} for number in range(60)]
    log = table(tmp_path / "right.csv", rows)
    assert main(["power", str(log), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"][0]["items"] == 60
    assert main(["power", str(table(tmp_path / "no.csv", [{"id": 1}])), "--format", "json"]) != 0


def test_a_comparison_of_two_logs_has_the_p_value_of_all_sign_flips(tmp_path, capsys):
    """With so few questions that differ, every flip of signs can be counted."""
    rows = {"one": "1110111101", "two": "0010110001"}
    logs = []
    for model, flags in rows.items():
        listed = [{"id": number, "correct": flag} for number, flag in enumerate(flags)]
        logs.append(table(tmp_path / f"{model}.csv", listed))
    found = compared(capsys, *logs)
    apart = [int(a) - int(b) for a, b in zip(rows["one"], rows["two"], strict=True)]
    flips = list(itertools.product((1, -1), repeat=len(apart)))
    sums = [abs(sum(sign * d for sign, d in zip(signs, apart, strict=True))) for signs in flips]
    exact = sum(total >= abs(sum(apart)) for total in sums) / len(flips)
    assert found["p"] == pytest.approx(exact, abs=1e-9)


def test_a_first_sample_that_lacks_its_scores_makes_no_answer_unread(tmp_path):
    samples = []
    for number in range(4):
        asked = {"id": number, "input": f"Where {number}?", "choices": ["in", "on"], "target": "A"}
        said = {"output": {"completion": "A"}, "scores": {"choice": {"value": "C", "answer": "A"}}}
        samples.append({**asked, **said})
    del samples[0]["scores"]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "eval": {"task": "a"}, "samples": samples}))
    (run,) = import_log(log, tmp_path / "runs")
    assert [answer.choice for _, answer in run.answers()] == ["in"] * 4


def test_a_review_of_evalscope_that_is_none_is_a_sentence(tmp_path):
    good = {"index": 0, "target": "A", "sample_score": {"score": {"value": {"acc": 1}}}}
    for damaged in ({"index": 1}, {**good, "sample_score": "none"}):
        log = tmp_path / "reviews.jsonl"
        log.write_text(json.dumps(good) + "\n" + json.dumps(damaged) + "\n")
        with pytest.raises(DataError, match="not one of a log of evalscope"):
            import_log(log, tmp_path / "runs")


@pytest.mark.parametrize("name", ["log.eval", "log.parquet", "log.xlsx"])
def test_a_pipe_is_refused_and_keeps_nobody_waiting(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="a pipe or a device"):
        import_log(tmp_path / name, tmp_path / "runs")


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_a_log_whose_run_failed_is_read_with_a_word(tmp_path, ending, capsys):
    log = inspect_log(tmp_path, "one", 1, ending=ending)
    if ending == "json":
        log.write_text(log.read_text().replace('"success"', '"error"'))
    else:
        with zipfile.ZipFile(log, "a") as archive:
            archive.writestr("header.json", json.dumps({"version": 2, "status": "error"}))
    with pytest.warns(AnswerFileWarning, match="did not end well .status error."):
        [run] = open_runs([log])
    assert run.name == "one"


def written_log(folder: Path, rows: list[dict[str, Any]], name: str = "said.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def said(number: int, **more: Any) -> dict[str, Any]:
    return {"question": f"Where {number}?", "options": SIDES, "answer": number % 3, **more}


def test_each_filter_of_lm_eval_is_a_run(tmp_path):
    rows = []
    for name, right in (("strict", 0.0), ("loose", 1.0)):
        for number in range(4):
            sample = {"doc_id": number, "doc": {"question": f"{number}?"}, "target": "7"}
            sample |= {"filtered_resps": ["7"], "filter": name, "exact_match": right}
            rows.append(sample)
    runs = import_log(written_log(tmp_path, rows), tmp_path / "runs", name="mine")
    assert {run.name: gnomon.score(run)[0].value for run in runs} == {
        "mine (loose)": 1.0,
        "mine (strict)": 0.0,
    }


def test_predictions_count_as_the_right_answers_do(tmp_path):
    file = written_log(tmp_path, [said(number, prediction=1) for number in range(6)])
    (run,) = import_log(file, tmp_path / "runs")
    assert gnomon.score(run)[0].value == pytest.approx(1 / 3)
    assert {answer.choice for _, answer in run.answers()} == {SIDES[1]}


def test_rows_that_repeat_a_question_are_samples(tmp_path):
    rows = [said(n, id=n, response=SIDES[sample]) for sample in range(3) for n in range(4)]
    (run,) = import_log(written_log(tmp_path, rows), tmp_path / "runs")
    assert len(list(run.rows())) == 4
    assert len(list(run.answers())) == 12
    assert gnomon.score(run)[0].value == pytest.approx(1 / 3)


def test_models_of_one_table_are_asked_the_same_questions(tmp_path):
    rows = [said(n, model=model, response="left of it") for model in "ab" for n in range(3)]
    one, other = import_log(written_log(tmp_path, rows), tmp_path / "runs")
    assert [item.id for item, _ in one.rows()] == [item.id for item, _ in other.rows()]


def test_an_id_of_two_questions_is_refused(tmp_path):
    rows = [said(number, id="same", response="left of it") for number in range(2)]
    with pytest.raises(DataError, match="names two questions"):
        import_log(written_log(tmp_path, rows), tmp_path / "runs")


def test_events_of_openai_evals_are_samples(tmp_path):
    rows: list[dict[str, Any]] = [{"spec": {"completion_fns": ["small"], "eval_name": "sides"}}]
    for number in range(4):
        name = f"sides.{number}"
        asked = [{"role": "user", "content": f"Where {number}?"}]
        event = {"run_id": "1", "event_id": number, "sample_id": name}
        rows.append({**event, "type": "sampling", "data": {"prompt": asked, "sampled": ["in"]}})
        match = {"correct": number == 0, "expected": "in", "picked": "in"}
        rows.append({**event, "type": "match", "data": match})
    rows.append({"final_report": {"accuracy": 0.25}})
    (run,) = import_log(written_log(tmp_path, rows), tmp_path / "runs")
    assert (run.name, gnomon.score(run)[0].value) == ("small", 0.25)
    assert next(iter(run.rows()))[0].text == "Where 0?"


def test_labels_beside_labels_need_no_question(tmp_path):
    rows = [{"y_true": SIDES[n % 3], "y_pred": SIDES[n % 2]} for n in range(6)]
    (run,) = import_log(written_log(tmp_path, rows), tmp_path / "runs")
    assert gnomon.score(run)[0].value == pytest.approx(2 / 6)


def test_questions_alone_are_told_how_to_be_asked(tmp_path):
    with pytest.raises(GnomonError, match=r"gnomon run .* -m MODEL"):
        import_log(written_log(tmp_path, [said(1), said(2)]), tmp_path / "runs")
    answers = [{"id": "1", "prediction": "in"}, {"id": "2", "prediction": "on"}]
    with pytest.raises(GnomonError, match="score --answers FILE --benchmark NAME"):
        import_log(written_log(tmp_path, answers), tmp_path / "runs")


def test_files_of_opencompass_are_logs(tmp_path):
    asked = [{"role": "HUMAN", "prompt": "Where? A. in B. on"}]
    said = {
        str(n): {"origin_prompt": asked, "prediction": "AB"[n % 2], "gold": "A"} for n in range(4)
    }
    file = tmp_path / "sides.json"
    file.write_text(json.dumps(said, indent=1))
    (run,) = import_log(file, tmp_path / "runs")
    assert gnomon.score(run)[0].value == 0.5
    detail = {"prompt": "Where?", "predictions": "A", "references": "B"}
    details = {"type": "GEN", **{str(n): {**detail, "correct": n == 0} for n in range(4)}}
    file.write_text(json.dumps({"accuracy": 25.0, "details": details}, indent=1))
    (run,) = import_log(file, tmp_path / "runs")
    assert gnomon.score(run)[0].value == 0.25


def test_p_of_two_logs_is_the_mid_p_value_of_all_swaps(tmp_path):
    rights = [[number % 3 == 0 for number in range(60)], [number % 2 == 0 for number in range(60)]]
    runs = []
    for name, right in zip("ab", rights, strict=True):
        rows = [
            {"id": n, "question": f"{n}?", "correct": int(each)} for n, each in enumerate(right)
        ]
        runs += import_log(
            written_log(tmp_path, rows, f"{name}.jsonl"), tmp_path / "runs", task="t"
        )
    (found,) = gnomon.compare(*runs)
    more = sum(two > one for one, two in zip(*rights, strict=True))
    less = sum(one > two for one, two in zip(*rights, strict=True))
    swaps = stats.binom(more + less, 0.5)  # how often the one is right where they differ
    exact = 2 * swaps.sf(max(more, less)) + swaps.pmf(max(more, less))
    assert found.p == pytest.approx(exact, abs=0.01)
    gaps = [int(two) - int(one) for one, two in zip(*rights, strict=True)]
    interval = stats.ttest_1samp(gaps, 0).confidence_interval()
    bounds = sorted((abs(found.low), abs(found.high)))
    assert bounds == pytest.approx(sorted((abs(interval.low), abs(interval.high))), abs=1e-12)
