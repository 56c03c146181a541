"""A run goes on where it stopped, survives bad items, and never mixes two models in one log."""

import json
import os
import platform
import re
import shutil
import signal
import threading
from pathlib import Path

import pytest

import gnomon
from gnomon.contracts import Benchmark
from gnomon.errors import DataError, ModelError, RunError, UnfitError
from gnomon.items.source import ItemSource
from gnomon.options import neutral
from gnomon.records import Answer, Image, Item
from gnomon.runs import LOG, Run, RunLog, running, runs_in
from gnomon.runs.identity import run_folder


def items(n=100):
    return [
        Item(id=str(i), form="choice", text=f"Question {i}?", choices=("no", "yes"), gold=("yes",))
        for i in range(n)
    ]


def source(records=None, **options):
    made = items() if records is None else records
    bench = Benchmark(name="test", summary="", sources={"fresh": lambda **_: iter(made)})
    return ItemSource(bench, "fresh", options)


class Fake:
    scale = "none"
    batch = 8

    def __init__(self, rule=lambda item: "yes", **facts):
        self.spec, self.rule, self.facts, self.asked, self.sizes = "fake", rule, facts, [], []

    def describe(self):
        return {}

    def answer(self, batch):
        self.sizes.append(len(batch))
        answers = [Answer(item=item.id, choice=self.rule(item)) for item in batch]
        self.asked += [item.id for item in batch]
        return answers


def test_run_answers_every_item_and_counts_them(tmp_path):
    run = running.run(source(), Fake(), runs=tmp_path)
    assert [(i.id, a.choice) for i, a in run.rows()] == [(str(i), "yes") for i in range(100)]
    assert run.manifest.counts.answered == 100
    assert run.manifest.finished is not None


def test_second_start_asks_nothing_again(tmp_path):
    running.run(source(), Fake(), runs=tmp_path)
    again = Fake()
    running.run(source(), again, runs=tmp_path)
    assert again.asked == []


def test_changed_option_is_a_new_run_and_restart_starts_over(tmp_path):
    first = running.run(source(), Fake(), runs=tmp_path)
    other = running.run(source(seed=2), Fake(), runs=tmp_path)
    assert first.path != other.path
    again = Fake()
    running.run(source(), again, runs=tmp_path, restart=True)
    assert len(again.asked) == 100


@pytest.mark.parametrize(
    ("spec", "neutral", "deciding"),
    [
        ("hf:gpt2", {"threads": 4, "allow_pickle": True}, {"prompt": "fewshot"}),
        ("gguf:model.gguf", {"threads": 4}, {"context": 512}),
        ("smollm2", {"threads": 4}, {"quantised": True}),
        (
            "openai:gpt-4o-mini",
            {
                "max_cost": 5.0,
                "price_input": 1.0,
                "price_output": 2.0,
                "budget_tokens": 9,
                "concurrency": 2,
                "attempts": 3,
                "timeout": 9.0,
                "key_env": "MY_KEY",
                "cache": False,
            },
            {"base_url": "http://localhost:8000/v1"},
        ),
    ],
)
def test_only_options_that_determine_the_answers_choose_the_folder(spec, neutral, deciding):
    def folder(**options):
        return run_folder(source(), gnomon.model(spec, **options), "runs")

    assert all(folder(**{name: value}) == folder() for name, value in neutral.items())
    assert folder(**deciding) == folder(**deciding, **neutral) != folder()


def test_a_folders_name_says_what_was_asked_and_has_64_bits_to_tell_runs_apart():
    name = run_folder(
        gnomon.load("scales", seed=1), gnomon.model("random", model_seed=2), "runs"
    ).name
    assert re.fullmatch(r"scales@fresh-random--[0-9a-f]{16}", name)


def test_a_run_in_a_folder_that_another_model_was_meant_for_is_not_taken_for_its_own(tmp_path):
    """As if two runs had the same hash."""
    mine = running.run(source(), Fake(), runs=tmp_path)
    other = Fake()
    other.spec = "other"
    shutil.copytree(mine.path, run_folder(source(), other, tmp_path))
    with pytest.raises(RunError, match=r"a run of fake on test@fresh(.|\n)*settings: model"):
        running.run(source(), other, runs=tmp_path)
    assert other.asked == []


def test_the_manifest_tells_with_which_options_a_run_last_went_on(tmp_path):
    def spec(model, **options):
        made = _spec(model)._replace(options=options, neutral=frozenset({"threads"}))
        made.model = model
        return made

    with pytest.raises(ModelError):
        running.run(
            source(),
            spec(Fake(_gone_at_50), threads=1),
            runs=tmp_path,
            command="gnomon run --set threads=1",
        )
    again = Fake()
    run = running.run(
        source(), spec(again, threads=2), runs=tmp_path, command="gnomon run --set threads=2"
    )
    assert 0 < len(again.asked) < 100
    assert run.manifest.model_options == {"threads": 2}
    assert run.manifest.command == "gnomon run --set threads=2"
    complete = running.run(
        source(), spec(Fake(), threads=3), runs=tmp_path, command="gnomon run --set threads=3"
    )
    assert complete.manifest == run.manifest, "nothing was asked, nothing changes"


def _gone_at_50(item):
    return _raise(ModelError("gone")) if item.id == "50" else "yes"


def test_a_models_size_is_told_but_does_not_make_it_another_model(tmp_path):
    model = Fake(_gone_at_50)
    with pytest.raises(ModelError):
        running.run(source(), model, runs=tmp_path)
    later = Fake()
    later.describe = lambda: {"parameters": 7}
    assert running.run(source(), later, runs=tmp_path).manifest.model_description == {
        "parameters": 7
    }
    assert 0 < len(later.asked) < 100


def failing(item):
    if item.id in ("7", "42"):
        raise ValueError("no idea")
    return "yes"


def test_failing_items_are_recorded_and_the_run_goes_on(tmp_path):
    run = running.run(source(), Fake(failing), runs=tmp_path)
    failed = {item.id: answer.error for item, answer in run.rows() if answer.error}
    assert failed == {"7": "ValueError: no idea", "42": "ValueError: no idea"}
    assert run.manifest.counts.errors == 2
    assert run.manifest.counts.answered == 98


def test_retry_errors_asks_only_the_failed_ones(tmp_path):
    running.run(source(), Fake(failing), runs=tmp_path)
    again = Fake()
    run = running.run(source(), again, runs=tmp_path, retry_errors=True)
    assert sorted(again.asked) == ["42", "7"]
    assert run.manifest.counts.errors == 0


def test_what_fails_again_is_counted_once(tmp_path):
    running.run(source(), Fake(failing), runs=tmp_path)
    seen = []
    running.run(
        source(),
        Fake(lambda item: _raise(ValueError("still")) if item.id == "7" else "yes"),
        runs=tmp_path,
        retry_errors=True,
        watch=lambda progress: seen.append(
            (progress.done, progress.judged, progress.errors, progress.right)
        ),
    )
    assert seen[0] == (98, 98, 0, 98)
    assert seen[-1] == (100, 100, 1, 99)


def test_out_of_memory_halves_the_batches_that_follow(tmp_path):
    class Small(Fake):
        def answer(self, batch):
            if len(batch) > 4:
                raise MemoryError
            return super().answer(batch)

    model = Small()
    run = running.run(source(), model, runs=tmp_path)
    assert run.manifest.counts.answered == 100
    assert max(model.sizes) == 4


def test_model_error_ends_the_run_and_keeps_what_was_answered(tmp_path):
    def gone(item):
        if item.id == "50":
            raise ModelError("the server is gone")
        return "yes"

    with pytest.raises(ModelError):
        running.run(source(), Fake(gone), runs=tmp_path)
    again = Fake()
    run = running.run(source(), again, runs=tmp_path)
    assert 0 < len(again.asked) < 100
    assert run.manifest.counts.answered == 100


def test_choice_that_was_not_offered_is_an_error(tmp_path):
    run = running.run(source(items(3)), Fake(lambda item: "maybe"), runs=tmp_path)
    assert {a.error for _, a in run.rows()} == {"picked 'maybe', which is not a choice"}


def test_model_that_forgets_an_item_is_refused(tmp_path):
    class Forgetful(Fake):
        def answer(self, batch):
            return super().answer(batch)[1:]

    with pytest.raises(ModelError, match="one answer for each item"):
        running.run(source(), Forgetful(), runs=tmp_path)


def test_changed_items_are_refused_rather_than_mixed(tmp_path):
    running.run(source(), Fake(), runs=tmp_path)
    with pytest.raises(RunError, match="not those"):
        running.run(source(items(99)), Fake(), runs=tmp_path)


def test_changed_model_is_refused_rather_than_mixed(tmp_path):
    with pytest.raises(ModelError):
        running.run(
            source(),
            _spec(Fake(lambda item: _raise(ModelError("gone")) if item.id == "9" else "yes")),
            runs=tmp_path,
        )
    changed = _spec(Fake())
    changed.model.describe = lambda: {"revision": "b"}
    with pytest.raises(RunError, match="revision changed"):
        running.run(source(), changed, runs=tmp_path)


def _raise(error):
    raise error


def _spec(model):
    """A ModelSpec stand-in: the same name and options whatever the model is."""

    class Spec(gnomon.registry.ModelSpec):
        def open(self):
            return self.model

    spec = Spec("fake", {})
    spec.model = model
    return spec


@pytest.fixture
def reader(monkeypatch):
    """A registered model that reads a file or folder named by its name, and one named by its option
    `prompt`."""

    def factory(name, *, prompt="", threads=1):
        found = Fake()
        found.spec = f"reader:{name}"
        return found

    monkeypatch.setattr(gnomon.registry, "model_factory", lambda spec: neutral("threads")(factory))
    return lambda name, **options: gnomon.registry.model(f"reader:{name}", **options)


def test_a_finished_run_notices_that_a_file_of_its_model_changed(tmp_path, reader):
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "p.yaml").write_text("old")

    def again(**more):
        return running.run(
            source(), reader("a.csv", prompt="p.yaml"), runs=tmp_path / "runs", **more
        )

    begun = again()
    assert sorted(begun.manifest.model_files) == ["a.csv", "p.yaml"]
    assert again().manifest == begun.manifest
    (tmp_path / "p.yaml").write_text("new")
    with pytest.raises(RunError, match=r"started with: p\.yaml changed(.|\n)*--restart"):
        again()
    (tmp_path / "a.csv").write_text("new")
    with pytest.raises(RunError, match=r"a\.csv, p\.yaml changed"):
        again()
    assert again(restart=True).manifest.model_files != begun.manifest.model_files


def test_a_finished_run_notices_other_weights_in_its_models_folder(tmp_path, reader):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"old")
    running.run(source(), reader("model"), runs="runs")
    (tmp_path / "model" / "README.md").write_text("said in other words")
    running.run(source(), reader("model"), runs="runs")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"new")
    with pytest.raises(RunError, match="started with: model changed"):
        running.run(source(), reader("model"), runs="runs")


def test_a_folder_that_now_stands_where_a_name_was_is_another_model(tmp_path, reader):
    running.run(source(), reader("gpt2"), runs="runs")
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "config.json").write_text("{}")
    with pytest.raises(RunError, match="started with: gpt2 changed"):
        running.run(source(), reader("gpt2"), runs="runs")


def test_a_finished_run_can_be_looked_at_when_its_models_file_is_gone(tmp_path, reader):
    (tmp_path / "a.csv").write_text("old")
    begun = running.run(source(), reader("a.csv"), runs="runs")
    (tmp_path / "a.csv").unlink()
    assert running.run(source(), reader("a.csv"), runs="runs").manifest == begun.manifest


def test_a_run_of_before_files_were_recorded_goes_on(tmp_path, reader):
    (tmp_path / "a.csv").write_text("old")
    run = running.run(source(), reader("a.csv"), runs="runs")
    manifest = json.loads((run.path / "run.json").read_text())
    del manifest["model_files"]
    (run.path / "run.json").write_text(json.dumps(manifest))
    (tmp_path / "a.csv").write_text("new")
    assert running.run(source(), reader("a.csv"), runs="runs").manifest.model_files is None


def test_a_lost_log_is_refused_and_left_alone(tmp_path):
    run = running.run(source(), Fake(), runs=tmp_path)
    (run.path / "answers.sqlite").unlink()
    with pytest.raises(RunError, match=r"lost(.|\n)*--restart"):
        running.run(source(), Fake(), runs=tmp_path)
    assert not (run.path / "answers.sqlite").exists()
    (run.path / "answers.sqlite").touch()  # an empty log in its place is no better
    with pytest.raises(RunError, match="lost"):
        running.run(source(), Fake(), runs=tmp_path)
    assert (
        running.run(source(), Fake(), runs=tmp_path, restart=True).manifest.counts.answered == 100
    )


def test_restart_starts_over_where_the_manifest_is_damaged(tmp_path):
    run = running.run(source(), Fake(), runs=tmp_path)
    (run.path / "run.json").write_text("{")
    with pytest.raises(DataError, match="not a manifest"):
        running.run(source(), Fake(), runs=tmp_path)
    assert (
        running.run(source(), Fake(), runs=tmp_path, restart=True).manifest.counts.answered == 100
    )


def test_second_process_on_one_run_is_refused(tmp_path):
    folder = run_folder(source(), Fake(), tmp_path)
    log = RunLog(folder)
    try:
        with pytest.raises(RunError, match="Another process"):
            running.run(source(), Fake(), runs=tmp_path)
    finally:
        log.close()


def test_duplicate_ids_are_named(tmp_path):
    with pytest.raises(DataError, match="two items have the id '3'"):
        running.run(source([*items(10), items(10)[3]]), Fake(), runs=tmp_path)


def test_run_of_a_newer_version_is_left_alone(tmp_path):
    run = running.run(source(), Fake(), runs=tmp_path)
    manifest = run.path / "run.json"
    newer = manifest.read_text().replace('"format": 2', '"format": 3')
    manifest.write_text(newer)
    with pytest.raises(RunError, match="newer Gnomon"):
        running.run(source(), Fake(), runs=tmp_path, restart=True)
    assert manifest.read_text() == newer
    with pytest.raises(RunError, match="newer Gnomon"):
        Run.open(run.path)


def test_interrupt_ends_after_the_batch_at_hand(tmp_path):
    class Interrupted(Fake):
        def answer(self, batch):
            if len(self.asked) == 40:
                os.kill(os.getpid(), signal.SIGINT)
            return super().answer(batch)

    with pytest.raises(KeyboardInterrupt):
        running.run(source(), Interrupted(), runs=tmp_path)
    again = Fake()
    running.run(source(), again, runs=tmp_path)
    assert len(again.asked) == 100 - 48  # the interrupted batch of 8 was logged too
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_engine_works_outside_the_main_thread(tmp_path):
    done = []
    thread = threading.Thread(
        target=lambda: done.append(running.run(source(), Fake(), runs=tmp_path))
    )
    thread.start()
    thread.join()
    assert done[0].manifest.counts.answered == 100


def test_batch_size_never_changes_an_answer(tmp_path):
    def answers(batch, folder):
        model = gnomon.model("random").open()
        model.batch = batch
        return [
            (i.id, a.choice) for i, a in running.run(source(), model, runs=tmp_path / folder).rows()
        ]

    assert answers(1, "a") == answers(64, "b")


def test_running_figures_add_up_across_a_resume(tmp_path):
    seen = []
    with pytest.raises(ModelError):
        running.run(
            source(),
            Fake(lambda i: _raise(ModelError("gone")) if i.id == "60" else "yes"),
            runs=tmp_path,
        )
    running.run(
        source(),
        Fake(lambda i: "no"),
        runs=tmp_path,
        watch=lambda p: seen.append((p.done, p.right)),
    )
    assert seen[-1][0] == 100
    assert seen[0][0] == seen[0][1] == seen[-1][1]  # what was right before stays counted


def test_a_run_that_another_version_goes_on_with_names_both(tmp_path, monkeypatch):
    def gone(item):
        raise ModelError("the server is gone")

    def asked_by(python, reply):
        monkeypatch.setattr(platform, "python_version", lambda: python)
        return running.run(source(), Fake(reply), runs=tmp_path)

    with pytest.raises(ModelError):
        asked_by("3.11.1", gone)
    run = asked_by("3.12.2", lambda item: "yes")
    assert run.manifest.versions == {"gnomon": gnomon.__version__, "python": "3.11.1, 3.12.2"}


def test_empty_source_is_refused(tmp_path):
    with pytest.raises(RunError, match="no items"):
        running.run(source([]), Fake(), runs=tmp_path)


def test_a_model_that_cannot_be_opened_leaves_no_folder(tmp_path):
    class Broken(gnomon.registry.ModelSpec):
        def open(self):
            raise ModelError("no such weights")

    with pytest.raises(ModelError):
        running.run(source(), Broken("fake", {}), runs=tmp_path)
    assert list(tmp_path.iterdir()) == []
    running.run(source(), _spec(Fake()), runs=tmp_path)
    with pytest.raises(ModelError):
        running.run(source(), Broken("fake", {}), runs=tmp_path, restart=True)
    (run,) = runs_in(tmp_path)
    assert run.counts().answered == 100, "the old answers go only when the new model is ready"


def test_a_model_that_cannot_be_prepared_leaves_no_folder_and_no_old_answer_is_lost(tmp_path):
    class Unprepared(Fake):
        def prepare(self, items, benchmark):
            raise DataError("the file has no such column")

    with pytest.raises(DataError):
        running.run(source(), Unprepared(), runs=tmp_path)
    assert list(tmp_path.iterdir()) == []
    running.run(source(), Fake(), runs=tmp_path)
    with pytest.raises(DataError):
        running.run(source(), Unprepared(), runs=tmp_path, restart=True)
    (run,) = runs_in(tmp_path)
    assert run.counts().answered == 100


def test_items_that_cannot_be_made_leave_no_folder_and_no_old_answer_is_lost(tmp_path):
    def broken():
        yield from items(50)
        raise DataError("line 51 is damaged.")

    def bad_source():
        return ItemSource(
            Benchmark(name="test", summary="", sources={"fresh": broken}), "fresh", {}
        )

    with pytest.raises(DataError):
        running.run(bad_source(), Fake(), runs=tmp_path)
    assert list(tmp_path.iterdir()) == []
    running.run(source(), Fake(), runs=tmp_path)
    with pytest.raises(DataError):
        running.run(bad_source(), Fake(), runs=tmp_path, restart=True)
    (run,) = runs_in(tmp_path)
    assert run.counts().answered == 100


def test_a_start_that_was_cut_off_begins_anew_with_the_items_of_now(tmp_path):
    wrong = [Item(id="0", form="choice", text="Old?", choices=("no", "yes"), gold=("no",))]
    folder = run_folder(source(), Fake(), tmp_path)
    with RunLog(folder) as log:  # killed while the items went in
        log.add_items(0, wrong)
        log.add_answers([(0, Answer(item="0", choice="no"))])
    run = running.run(source(items(1)), Fake(), runs=tmp_path)
    assert [(item.text, answer.choice) for item, answer in run.rows()] == [("Question 0?", "yes")]


def _cut_off_at(monkeypatch, name):
    """A kill at the moment when a file of this name is to go."""
    unlink = Path.unlink

    def cut(path, **options):
        if path.name.startswith(name):
            raise KeyboardInterrupt
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", cut)


def test_after_a_restart_that_was_cut_off_no_old_answer_is_used(tmp_path, monkeypatch):
    running.run(source(), Fake(lambda item: "no"), runs=tmp_path)
    with monkeypatch.context() as patched:
        _cut_off_at(patched, LOG)
        with pytest.raises(KeyboardInterrupt):
            running.run(source(), Fake(), runs=tmp_path, restart=True)
    assert runs_in(tmp_path) == [], "what is neither the old run nor the new one is no run"
    again = Fake()
    run = running.run(source(), again, runs=tmp_path)
    assert len(again.asked) == 100
    assert run.counts().answered == 100


def test_a_restart_that_was_cut_off_before_it_began_leaves_the_old_run(tmp_path, monkeypatch):
    running.run(source(), Fake(lambda item: "no"), runs=tmp_path)
    with monkeypatch.context() as patched:
        _cut_off_at(patched, "run.part")
        with pytest.raises(KeyboardInterrupt):
            running.run(source(), Fake(), runs=tmp_path, restart=True)
    (run,) = runs_in(tmp_path)
    assert {answer.choice for _, answer in run.rows()} == {"no"}


def test_several_answers_to_an_item_are_kept_and_the_first_is_measured(tmp_path):
    class Thrice(Fake):
        def answer(self, batch):
            return [
                Answer(item=item.id, sample=sample, choice="no" if sample else "yes")
                for item in batch
                for sample in range(3)
            ]

    run = running.run(source(items(10)), Thrice(), runs=tmp_path)
    assert run.counts().answered == 10
    assert {answer.choice for _, answer in run.rows()} == {"yes"}
    samples = [(answer.item, answer.sample) for _, answer in run.answers()]
    assert samples == [(str(i), sample) for i in range(10) for sample in range(3)]


@pytest.mark.parametrize("samples", [(0, 0), (1, 2), (0, 2), (1,)])
def test_answers_that_are_not_numbered_in_order_are_refused(tmp_path, samples):
    class Muddled(Fake):
        def answer(self, batch):
            return [Answer(item=item.id, sample=n, choice="yes") for item in batch for n in samples]

    with pytest.raises(ModelError, match="one answer for each item"):
        running.run(source(items(4)), Muddled(), runs=tmp_path)


def test_it_is_logged_how_long_an_answer_took(tmp_path):
    run = running.run(source(items(3)), Fake(), runs=tmp_path)
    assert all(answer.seconds > 0 for _, answer in run.answers())


def with_picture():
    picture = Image(path="a.jpg", sha256="ab")
    return [
        Item(
            id="1",
            form="caption",
            text="The cat is on the mat.",
            choices=("false", "true"),
            gold=("true",),
            images=(picture,),
        )
    ]


def test_a_model_that_cannot_see_is_not_shown_items_with_pictures_unless_asked_blind(tmp_path):
    shown = []
    model = Fake(lambda item: shown.append(bool(item.images)) or "true")
    with pytest.raises(ModelError, match=r"takes text only(.|\n)*--blind"):
        running.run(source(with_picture()), model, runs=tmp_path)
    assert model.asked == []
    blind = running.run(source(with_picture()), model, runs=tmp_path, blind=True)
    assert blind.manifest.blind
    model.takes = frozenset({"text", "image"})
    seeing = running.run(source(with_picture()), model, runs=tmp_path)
    assert not seeing.manifest.blind
    assert seeing.path != blind.path
    assert shown == [False, True]
    with pytest.raises(ModelError, match="no pictures"):
        running.run(source(), Fake(), runs=tmp_path / "other", blind=True)


@pytest.mark.parametrize(
    ("asked", "blind"), [(items(2), False), (items(2), True), (with_picture(), True)]
)
def test_a_model_that_only_sees_is_not_asked_what_has_no_picture(tmp_path, asked, blind):
    model = Fake()
    model.takes = frozenset({"image"})
    with pytest.raises(UnfitError, match=r"pictures alone(.|\n)*gnomon run vsr -m "):
        running.run(source(asked), model, runs=tmp_path, blind=blind)
    assert model.asked == []
    assert not any(tmp_path.iterdir())
    assert running.run(source(with_picture()), model, runs=tmp_path).manifest.counts.items == 1


def test_what_a_model_learns_about_its_server_while_it_is_asked_is_in_the_manifest(tmp_path):
    model = Fake()
    model.describe = lambda: {"asked": len(model.asked) > 0}
    run = running.run(source(), _spec(model), runs=tmp_path)
    assert run.manifest.model_description == {"asked": True}
