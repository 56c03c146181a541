"""Pipelines of diffusers: batches, seeds by item, and what cannot be."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("diffusers")

import gnomon
from gnomon.errors import ModelError, UsageError
from gnomon.paint.painters.pipelines import pipeline
from gnomon.vision.images import decode_bytes

from .conftest import request, scene


def open_painter(folder, **options):
    """The painter of a folder, without a judge."""
    options = {"steps": 2, "judge": "none", "device": "cpu"} | options
    return pipeline(str(folder), **options)._painter


def painted(painter, requests):
    return {(r.item.id, r.number): made.content for r, made in painter.paint(requests)}


def test_a_picture_does_not_depend_on_its_company(diffusion, tmp_path):
    painter = open_painter(diffusion)
    requests = [
        request(scene(id=f"item {n}", text=text)) for n, text in enumerate(["a cat", "a dog"])
    ]
    together = painted(painter, requests)
    alone = painted(painter, requests[:1]) | painted(painter, requests[1:])
    assert len(together) == 2
    assert together["item 0", 0] != together["item 1", 0]
    for key, content in together.items():
        one, other = (decode_bytes(each, tmp_path) for each in (content, alone[key]))
        differences = [abs(a - b) for a, b in zip(one.tobytes(), other.tobytes(), strict=True)]
        assert max(differences) <= 1


def test_seeds_go_by_item_and_number(diffusion):
    painter = open_painter(diffusion)
    item = scene()
    found = painted(painter, [request(item, 0), request(item, 1)])
    assert found[item.id, 0] != found[item.id, 1]
    assert (
        painted(open_painter(diffusion), [request(item, 0)])[item.id, 0]
        == painted(open_painter(diffusion), [request(item, 0)])[item.id, 0]
    )


def test_size_steps_and_guidance_are_what_was_asked_for(diffusion, tmp_path):
    painter = open_painter(diffusion, height=64, width=48, guidance=3.0, negative="a dog")
    ((_, made),) = painter.paint([request()])
    assert decode_bytes(made.content, tmp_path).size == (48, 64)
    about = painter.describe()
    assert (about["num_inference_steps"], about["guidance_scale"]) == (2, 3.0)
    assert about["negative_prompt"] == "a dog"
    assert about["revision"].startswith("content:")


def test_a_pipeline_end_to_end(diffusion, tmp_path):
    source = gnomon.load("posrel", form="scene")
    model = gnomon.model(
        f"synth:diffusers/{diffusion}", steps=1, judge="none", pictures=2, device="cpu"
    )
    run = gnomon.run(source, model, limit=3, runs=tmp_path)
    assert run.manifest.counts.unread == 3  # painted, and not judged
    assert len(list((run.path / "pictures").glob("*.png"))) == 6
    assert run.manifest.model_description["painter"]["pipeline"] == "StableDiffusionPipeline"


def test_what_cannot_be_is_said(diffusion, tmp_path):
    with pytest.raises(UsageError, match="needs a pipeline"):
        pipeline("")
    with pytest.raises(UsageError, match="no dtype"):
        pipeline(str(diffusion), dtype="int3")
    with pytest.raises(UsageError, match="4096"):
        pipeline(str(diffusion), height=100_000)
    with pytest.raises(ModelError):
        pipeline(str(tmp_path), judge="none")
