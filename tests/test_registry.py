"""Names lead to things, wrong names to help, and plug-ins are found."""

import pytest

from gnomon import registry
from gnomon.errors import UsageError
from gnomon.options import neutral
from gnomon.registry import BENCHMARKS, MEASURES, MODELS


def test_every_builtin_benchmark_resolves_to_one_of_its_own_name():
    for name in BENCHMARKS:
        assert registry.benchmark(name).name == name


def test_the_list_says_of_a_benchmark_what_it_says_of_itself():
    listed = {name: entry.summary for name, entry in BENCHMARKS.items()}
    assert listed == {name: registry.benchmark(name).summary for name in BENCHMARKS}


def test_people_can_read_what_every_benchmark_and_its_slices_are_called():
    titles = set()
    for name in registry.BENCHMARKS:
        found = registry.benchmark(name)
        assert found.title, name
        assert found.skill, name
        titles.add(found.title)
        unnamed = [tag for tag in found.slices if tag not in found.tag_words]
        assert not unnamed, f"{name}: {unnamed}"
    assert len(titles) == len(registry.BENCHMARKS)


def test_a_tag_without_words_is_read_as_it_is():
    scales = registry.benchmark("scales")
    assert scales.title_of("gap") == "distance on the scale"
    assert scales.title_of("gap", "3") == "3 levels apart"
    assert scales.title_of("kind_of_object") == "kind of object"
    assert scales.title_of("kind_of_object", "jeep") == "jeep"


def test_every_builtin_measure_of_a_benchmark_exists():
    for name in BENCHMARKS:
        for measure in registry.benchmark(name).measures:
            assert registry.measure(measure).name == measure


def test_every_builtin_model_scheme_has_a_factory():
    for scheme in MODELS:
        name = f"{scheme}/x" if ":" in scheme else f"{scheme}:x"
        assert callable(registry.model_factory(name))


def test_every_measure_has_a_summary():
    assert all(entry.summary for entry in MEASURES.values())


def test_wrong_name_offers_the_nearest():
    with pytest.raises(UsageError, match="Did you mean scales"):
        registry.benchmark("scalse")
    with pytest.raises(UsageError, match="Did you mean majority"):
        registry.model("majorty")


def test_unknown_option_is_refused_with_those_that_exist():
    with pytest.raises(UsageError, match="It takes: model_seed"):
        registry.model("random", sede=1)


def test_plugin_adds_a_benchmark_and_a_model(plugin):
    assert registry.benchmark("dice").summary == "which of two dice shows more"
    assert registry.model("slow", fail="7").open().spec == "slow"
    assert registry.entries("benchmarks")["dice"].summary == "from gnomon-dice"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("json:NO_SUCH", "no attribute 'NO_SUCH'"),
        ("raises:X", "boom"),
        ("leaves:X", "7"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_named(target, words, tmp_path, monkeypatch):
    folder = tmp_path / "gnomon_broken-0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: gnomon-broken\nVersion: 0.1\n")
    (folder / "entry_points.txt").write_text(f"[gnomon.benchmarks]\nbroken = {target}\n")
    (tmp_path / "raises.py").write_text("raise RuntimeError('boom')")
    (tmp_path / "leaves.py").write_text("raise SystemExit(7)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        UsageError, match=f"'broken' from gnomon-broken cannot be loaded from {target}: .*{words}"
    ):
        registry.benchmark("broken")


def test_options_equal_to_the_default_do_not_make_another_model():
    assert registry.model("random", model_seed="0") == registry.model("random")


def test_options_that_do_not_change_answers_are_set_apart():
    made = registry.model("openai:gpt-4o-mini", shots="2", timeout="60")
    assert made.options == {"shots": 2, "timeout": 60.0}
    assert made.deciding == {"shots": 2}


def test_an_option_that_a_factory_does_not_have_cannot_be_neutral():
    with pytest.raises(TypeError, match="no option thread "):
        neutral("thread")(lambda name, *, threads=1: None)


def test_measures_with_and_without_argument():
    assert registry.measure("pattern_accuracy@0.9").name == "pattern_accuracy@0.9"
    with pytest.raises(UsageError, match="takes no argument"):
        registry.measure("accuracy@0.9")
    with pytest.raises(UsageError, match="Write pattern_accuracy@NUMBER"):
        registry.measure("pattern_accuracy")
