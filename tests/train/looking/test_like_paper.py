"""`like_paper` does what the authors' code did, faults and all; nothing else does."""

import pytest

from gnomon.train.recipes import recipe_of
from gnomon.train.visual import open_learner, read
from gnomon.train.visuallearner import Pixels

torch = pytest.importorskip("torch")


def opened(content, make, **look):
    recipe = recipe_of(content(make, look, batch=8, evaluate_every=3))
    return open_learner(recipe, read(recipe))


def test_dropout_is_off_from_the_first_evaluation_to_the_end_of_an_epoch(content):
    learner = opened(content, "lxmert", like_paper=True)  # 8 batches an epoch
    modes = []
    for epoch in (0, 1):
        for batch in learner.batches(epoch):
            learner.loss(batch)
            modes.append(learner.module.training)
    # evaluated after steps 3, 6, 9, 12 and 15; a new epoch begins after step 8
    assert modes == [True] * 3 + [False] * 5 + [True] + [False] * 7


def test_dropout_stays_on_without_it(content):
    learner = opened(content, "lxmert")
    learner.module.train()
    for batch in learner.batches(0):
        learner.loss(batch)
        assert learner.module.training


def test_the_authors_vilt_is_not_told_what_is_padding(content):
    for like_paper in (True, False):
        learner = opened(content, "vilt", like_paper=like_paper)
        tokens = learner._tokens(["The cat.", "The cat is left of the very old dog."])
        seen = learner.gallery.batch([item.images[0] for item in learner.items.train[:2]])
        assert ("attention_mask" in tokens) is not like_paper
        assert ("pixel_mask" in seen) is not like_paper
        assert (tokens["input_ids"].shape[1] == learner.settings.length) is like_paper


def test_the_authors_vilt_sees_red_as_blue(studio):
    from PIL import Image
    from transformers import ViltImageProcessor

    from gnomon.vision.images import describe

    Image.new("RGB", (32, 32), (255, 0, 0)).save("red.png")
    processor = ViltImageProcessor(size={"shortest_edge": 32}, size_divisor=8)
    image = describe("red.png")
    (plain,), (swapped,) = (
        Pixels(processor, like_paper=like_paper).sight(image) for like_paper in (False, True)
    )
    assert torch.equal(swapped, plain.flip(0))
    assert not torch.equal(swapped, plain)
