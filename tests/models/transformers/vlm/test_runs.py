"""Whole runs of models that see and write, on drawn scenes and on VSR's own captions."""

import pytest

from gnomon import registry
from gnomon.items.source import load
from gnomon.runs.running import run

pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
MAKES = ("llava", "idefics3", "smolvlm", "qwen2-vl", "internvl", "paligemma")


@pytest.fixture(scope="module")
def scenes():
    """Two quads of drawn scenes, small."""
    return load("vsr", quads=2, size=64)


@pytest.mark.filterwarnings("ignore::gnomon.errors.ModelWarning")
@pytest.mark.parametrize("make", MAKES)
def test_drawn_scenes_are_asked_from_end_to_end(scenes, seeing, tmp_path, make):
    spec = registry.model(f"hf:{seeing(make)}")
    seen = [answer for _, answer in run(scenes, spec, runs=tmp_path).rows()]
    blind = [answer for _, answer in run(scenes, spec, runs=tmp_path, blind=True).rows()]
    assert len(seen) == len(blind) == 8
    assert all(answer.choice in ("true", "false") for answer in (*seen, *blind))
    assert len({_rounded(answer) for answer in seen}) == 8, "pictures have a say"
    assert len({_rounded(answer) for answer in blind}) == 4, "one for each caption"


@pytest.mark.filterwarnings("ignore::gnomon.errors.ModelWarning")
def test_views_of_every_kind_are_asked_with_all_their_pictures(seeing, tmp_path):
    source = load("views", facts=11, size=32)
    done = run(source, registry.model(f"hf:{seeing('qwen2-vl')}"), runs=tmp_path)
    kinds = {item.tags["kind"] for item, _ in done.rows()}
    assert len(kinds) == 11
    failed = [item.form for item, answer in done.rows() if answer.error]
    assert set(failed) <= {"number"}, "a model of random weights writes no number"
    chosen = [answer.choice for item, answer in done.rows() if item.choices]
    assert all(chosen)


def test_captions_of_vsr_are_asked_of_their_photographs(seeing, tmp_path, shared):
    files = {"data": shared / "data" / "vsr", "images": shared / "data" / "coco128" / "photos"}
    places = {name: str(folder) for name, folder in files.items()}
    source = load("vsr@published", present=True, **places)
    done = run(source, registry.model(f"hf:{seeing('llava')}"), runs=tmp_path)
    assert done.manifest.counts.items == done.manifest.counts.answered == 12
    assert done.manifest.counts.errors == 0


def _rounded(answer):
    return tuple(round(score, 4) for score in answer.scores)
