"""What a run would take, from a few items."""

import pytest

import gnomon
from gnomon.errors import ModelError, UnfitError
from gnomon.items.source import load
from gnomon.records import Answer
from gnomon.registry import MODELS, Entry, model
from gnomon.runs.estimates import TOGETHER, estimate, extrapolated, opened

ASKED = []


class Sized:
    """Knows the size of items, and whether it was asked."""

    scale = "none"
    spec = "sized"

    def describe(self):
        return {}

    def size(self, item):
        return len(item.text)

    def answer(self, items):
        ASKED.append([item.id for item in items])
        return [Answer(item=item.id, choice=item.choices[0]) for item in items]


def sized(name, *, fails: bool = False):
    made = Sized()
    if fails:
        made.answer = lambda items: [Answer(item=item.id, error="no luck") for item in items]
    return made


@pytest.fixture
def spec(monkeypatch):
    ASKED.clear()
    monkeypatch.setitem(MODELS, "sized", Entry(f"{__name__}:sized", ""))
    return model("sized")


def test_a_few_items_of_all_lengths_are_asked_and_nothing_is_kept(spec, tmp_path):
    source = load("scales").limited(200)
    with opened(spec) as who:
        found = estimate(source, who, tmp_path)
    assert found.items == found.left == 200
    assert found.read == sum(len(item.text) for item in source.items())
    assert found.seconds > 0
    assert found.cpu_seconds > 0
    assert found.bytes > 200 * 100
    assert max(map(len, ASKED)) == TOGETHER
    assert sum(map(len, ASKED)) <= TOGETHER + 2
    assert not list(tmp_path.iterdir())


def test_what_an_earlier_run_answered_is_not_counted(spec, tmp_path):
    gnomon.run("scales", spec, limit=50, runs=tmp_path)
    with opened(spec) as who:
        found = estimate(load("scales").limited(80), who, tmp_path)
        assert (found.items, found.left) == (80, 30)
        done = estimate(load("scales").limited(50), who, tmp_path)
    assert (done.left, done.read) == (0, 0)


def test_a_model_that_fails_on_all_of_them_is_told(monkeypatch, spec, tmp_path):
    with opened(model("sized", fails=True)) as who, pytest.raises(ModelError, match="no luck"):
        estimate(load("scales").limited(50), who, tmp_path)


def test_pictures_are_not_planned_for_a_model_that_reads(spec, tmp_path):
    source = load("vsr", quads=1, size=64)
    with opened(spec) as who, pytest.raises(UnfitError):
        estimate(source, who, tmp_path)


@pytest.mark.parametrize(
    ("alone", "together"), [(5.0, 5.0), (9.0, 5.0), (0.1, 5.0), (1.0, 5.0), (3.0, 5.0)]
)
def test_a_disturbed_clock_gives_neither_nothing_nor_more_than_the_mean(alone, together):
    found = extrapolated(alone, together, 5, 100, 3)
    assert 20.0 <= found <= 100.0
