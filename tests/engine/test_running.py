"""A run goes on where it stopped, survives bad items, and never mixes two models in one log."""

import json
import os
import signal
import threading

import pytest

import gnomon
from gnomon import engine
from gnomon.contracts import Benchmark
from gnomon.engine import sameness
from gnomon.errors import DataError, ModelError, RunError
from gnomon.itemsource import ItemSource
from gnomon.options import neutral
from gnomon.records import Answer, Item
from gnomon.runs import Run, RunLog


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
    run = engine.run(source(), Fake(), runs=tmp_path)
    assert [(i.id, a.choice) for i, a in run.rows()] == [(str(i), "yes") for i in range(100)]
    assert run.manifest.counts.answered == 100
    assert run.manifest.finished is not None


def test_second_start_asks_nothing_again(tmp_path):
    engine.run(source(), Fake(), runs=tmp_path)
    again = Fake()
    engine.run(source(), again, runs=tmp_path)
    assert again.asked == []


def test_changed_option_is_a_new_run_and_fresh_starts_over(tmp_path):
    first = engine.run(source(), Fake(), runs=tmp_path)
    other = engine.run(source(seed=2), Fake(), runs=tmp_path)
    assert first.path != other.path
    again = Fake()
    engine.run(source(), again, runs=tmp_path, fresh=True)
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
        return engine.run_folder(source(), gnomon.model(spec, **options), "runs")

    assert all(folder(**{name: value}) == folder() for name, value in neutral.items())
    assert folder(**deciding) == folder(**deciding, **neutral) != folder()


@pytest.mark.parametrize(
    ("spec", "options", "name"),
    [
        ("random", {"model_seed": 2}, "scales@fresh-random--7f57bc82"),
        ("openai:gpt-4o-mini", {"shots": 2}, "scales@fresh-openai-gpt-4o-mini--cf367dc6"),
    ],
)
def test_a_folders_name_stays_what_it_was_so_that_runs_begun_long_ago_go_on(spec, options, name):
    assert (
        engine.run_folder(gnomon.load("scales", seed=1), gnomon.model(spec, **options), "runs").name
        == name
    )


def test_the_manifest_tells_with_which_options_a_run_last_went_on(tmp_path):
    def spec(model, **options):
        made = _spec(model)._replace(options=options, neutral=frozenset({"threads"}))
        made.model = model
        return made

    with pytest.raises(ModelError):
        engine.run(
            source(),
            spec(Fake(_gone_at_50), threads=1),
            runs=tmp_path,
            command="gnomon run --threads 1",
        )
    again = Fake()
    run = engine.run(
        source(), spec(again, threads=2), runs=tmp_path, command="gnomon run --threads 2"
    )
    assert 0 < len(again.asked) < 100
    assert run.manifest.model_options == {"threads": 2}
    assert run.manifest.command == "gnomon run --threads 2"
    complete = engine.run(
        source(), spec(Fake(), threads=3), runs=tmp_path, command="gnomon run --threads 3"
    )
    assert complete.manifest == run.manifest, "nothing was asked, nothing changes"


def _gone_at_50(item):
    return _raise(ModelError("gone")) if item.id == "50" else "yes"


def test_a_models_size_is_told_but_does_not_make_it_another_model(tmp_path):
    model = Fake(_gone_at_50)
    with pytest.raises(ModelError):
        engine.run(source(), model, runs=tmp_path)
    later = Fake()
    later.describe = lambda: {"parameters": 7}
    assert engine.run(source(), later, runs=tmp_path).manifest.model_description == {
        "parameters": 7
    }
    assert 0 < len(later.asked) < 100


def failing(item):
    if item.id in ("7", "42"):
        raise ValueError("no idea")
    return "yes"


def test_failing_items_are_recorded_and_the_run_goes_on(tmp_path):
    run = engine.run(source(), Fake(failing), runs=tmp_path)
    failed = {item.id: answer.error for item, answer in run.rows() if answer.error}
    assert failed == {"7": "ValueError: no idea", "42": "ValueError: no idea"}
    assert run.manifest.counts.errors == 2
    assert run.manifest.counts.answered == 98


def test_retry_errors_asks_only_the_failed_ones(tmp_path):
    engine.run(source(), Fake(failing), runs=tmp_path)
    again = Fake()
    run = engine.run(source(), again, runs=tmp_path, retry_errors=True)
    assert sorted(again.asked) == ["42", "7"]
    assert run.manifest.counts.errors == 0


def test_out_of_memory_halves_the_batches_that_follow(tmp_path):
    class Small(Fake):
        def answer(self, batch):
            if len(batch) > 4:
                raise MemoryError
            return super().answer(batch)

    model = Small()
    run = engine.run(source(), model, runs=tmp_path)
    assert run.manifest.counts.answered == 100
    assert max(model.sizes) == 4


def test_model_error_ends_the_run_and_keeps_what_was_answered(tmp_path):
    def gone(item):
        if item.id == "50":
            raise ModelError("the server is gone")
        return "yes"

    with pytest.raises(ModelError):
        engine.run(source(), Fake(gone), runs=tmp_path)
    again = Fake()
    run = engine.run(source(), again, runs=tmp_path)
    assert 0 < len(again.asked) < 100
    assert run.manifest.counts.answered == 100


def test_choice_that_was_not_offered_is_an_error(tmp_path):
    run = engine.run(source(items(3)), Fake(lambda item: "maybe"), runs=tmp_path)
    assert {a.error for _, a in run.rows()} == {"picked 'maybe', which is not a choice"}


def test_model_that_forgets_an_item_is_refused(tmp_path):
    class Forgetful(Fake):
        def answer(self, batch):
            return super().answer(batch)[1:]

    with pytest.raises(ModelError, match="one answer for each item"):
        engine.run(source(), Forgetful(), runs=tmp_path)


def test_changed_items_are_refused_rather_than_mixed(tmp_path):
    engine.run(source(), Fake(), runs=tmp_path)
    with pytest.raises(RunError, match="not those"):
        engine.run(source(items(99)), Fake(), runs=tmp_path)


def test_changed_model_is_refused_rather_than_mixed(tmp_path):
    with pytest.raises(ModelError):
        engine.run(
            source(),
            _spec(Fake(lambda item: _raise(ModelError("gone")) if item.id == "9" else "yes")),
            runs=tmp_path,
        )
    changed = _spec(Fake())
    changed.model.describe = lambda: {"revision": "b"}
    with pytest.raises(RunError, match="revision changed"):
        engine.run(source(), changed, runs=tmp_path)


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
        return engine.run(
            source(), reader("a.csv", prompt="p.yaml"), runs=tmp_path / "runs", **more
        )

    begun = again()
    assert sorted(begun.manifest.model_files) == ["a.csv", "p.yaml"]
    assert again().manifest == begun.manifest
    (tmp_path / "p.yaml").write_text("new")
    with pytest.raises(RunError, match=r"begun with: p\.yaml changed(.|\n)*--fresh"):
        again()
    (tmp_path / "a.csv").write_text("new")
    with pytest.raises(RunError, match=r"a\.csv, p\.yaml changed"):
        again()
    assert again(fresh=True).manifest.model_files != begun.manifest.model_files


def test_a_finished_run_notices_other_weights_in_its_models_folder(tmp_path, reader):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"old")
    engine.run(source(), reader("model"), runs="runs")
    (tmp_path / "model" / "README.md").write_text("said in other words")
    engine.run(source(), reader("model"), runs="runs")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"new")
    with pytest.raises(RunError, match="begun with: model changed"):
        engine.run(source(), reader("model"), runs="runs")


def test_a_folder_that_now_stands_where_a_name_was_is_another_model(tmp_path, reader):
    engine.run(source(), reader("gpt2"), runs="runs")
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "config.json").write_text("{}")
    with pytest.raises(RunError, match="begun with: gpt2 changed"):
        engine.run(source(), reader("gpt2"), runs="runs")


def test_a_finished_run_can_be_looked_at_when_its_models_file_is_gone(tmp_path, reader):
    (tmp_path / "a.csv").write_text("old")
    begun = engine.run(source(), reader("a.csv"), runs="runs")
    (tmp_path / "a.csv").unlink()
    assert engine.run(source(), reader("a.csv"), runs="runs").manifest == begun.manifest


def test_a_run_of_before_files_were_recorded_goes_on(tmp_path, reader):
    (tmp_path / "a.csv").write_text("old")
    run = engine.run(source(), reader("a.csv"), runs="runs")
    manifest = json.loads((run.path / "run.json").read_text())
    del manifest["model_files"]
    (run.path / "run.json").write_text(json.dumps(manifest))
    (tmp_path / "a.csv").write_text("new")
    assert engine.run(source(), reader("a.csv"), runs="runs").manifest.model_files is None


def test_a_large_file_is_known_by_pieces_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sameness, "WHOLE", 1000)
    monkeypatch.setattr(sameness, "PIECE", 4)
    monkeypatch.setattr(sameness, "PIECES", 10)
    file = tmp_path / "weights"
    content = bytearray(2000)
    file.write_bytes(content)
    before = sameness.fingerprint(file)
    content[1801] = 1
    file.write_bytes(content)
    assert sameness.fingerprint(file) != before
    content[1801], content[1850] = 0, 1  # between two pieces: the price of not reading it all
    file.write_bytes(content)
    assert sameness.fingerprint(file) == before
    file.write_bytes(bytes(2001))
    assert sameness.fingerprint(file) != before


def test_a_lost_log_is_refused_and_left_alone(tmp_path):
    run = engine.run(source(), Fake(), runs=tmp_path)
    (run.path / "answers.sqlite").unlink()
    with pytest.raises(RunError, match=r"lost(.|\n)*--fresh"):
        engine.run(source(), Fake(), runs=tmp_path)
    assert not (run.path / "answers.sqlite").exists()
    (run.path / "answers.sqlite").touch()  # an empty log in its place is no better
    with pytest.raises(RunError, match="lost"):
        engine.run(source(), Fake(), runs=tmp_path)
    assert engine.run(source(), Fake(), runs=tmp_path, fresh=True).manifest.counts.answered == 100


def test_fresh_starts_over_where_the_manifest_is_damaged(tmp_path):
    run = engine.run(source(), Fake(), runs=tmp_path)
    (run.path / "run.json").write_text("{")
    with pytest.raises(DataError, match="not a manifest"):
        engine.run(source(), Fake(), runs=tmp_path)
    assert engine.run(source(), Fake(), runs=tmp_path, fresh=True).manifest.counts.answered == 100


def test_second_process_on_one_run_is_refused(tmp_path):
    folder = engine.run_folder(source(), Fake(), tmp_path)
    log = RunLog(folder)
    try:
        with pytest.raises(RunError, match="Another process"):
            engine.run(source(), Fake(), runs=tmp_path)
    finally:
        log.close()


def test_duplicate_ids_are_named(tmp_path):
    with pytest.raises(DataError, match="two items have the id '3'"):
        engine.run(source([*items(10), items(10)[3]]), Fake(), runs=tmp_path)


def test_run_of_a_newer_version_is_left_alone(tmp_path):
    run = engine.run(source(), Fake(), runs=tmp_path)
    manifest = run.path / "run.json"
    newer = manifest.read_text().replace('"format": 1', '"format": 2')
    manifest.write_text(newer)
    with pytest.raises(RunError, match="newer Gnomon"):
        engine.run(source(), Fake(), runs=tmp_path, fresh=True)
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
        engine.run(source(), Interrupted(), runs=tmp_path)
    again = Fake()
    engine.run(source(), again, runs=tmp_path)
    assert len(again.asked) == 100 - 48  # the interrupted batch of 8 was logged too
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_engine_works_outside_the_main_thread(tmp_path):
    done = []
    thread = threading.Thread(
        target=lambda: done.append(engine.run(source(), Fake(), runs=tmp_path))
    )
    thread.start()
    thread.join()
    assert done[0].manifest.counts.answered == 100


def test_batch_size_never_changes_an_answer(tmp_path):
    def answers(batch, folder):
        model = gnomon.model("random").open()
        model.batch = batch
        return [
            (i.id, a.choice) for i, a in engine.run(source(), model, runs=tmp_path / folder).rows()
        ]

    assert answers(1, "a") == answers(64, "b")


def test_running_figures_add_up_across_a_resume(tmp_path):
    seen = []
    with pytest.raises(ModelError):
        engine.run(
            source(),
            Fake(lambda i: _raise(ModelError("gone")) if i.id == "60" else "yes"),
            runs=tmp_path,
        )
    engine.run(
        source(),
        Fake(lambda i: "no"),
        runs=tmp_path,
        watch=lambda p: seen.append((p.done, p.right)),
    )
    assert seen[-1][0] == 100
    assert seen[0][0] == seen[0][1] == seen[-1][1]  # what was right before stays counted


def test_empty_source_is_refused(tmp_path):
    with pytest.raises(RunError, match="no items"):
        engine.run(source([]), Fake(), runs=tmp_path)
