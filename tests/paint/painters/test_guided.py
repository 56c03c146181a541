"""The paper's painter: its formula against a plain computation, its seeds, and its checkpoints."""

import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")

import gnomon
from gnomon.errors import ModelError, UsageError
from gnomon.options import options_of
from gnomon.paint.model import read_log
from gnomon.paint.painters.guidance import (
    DEVIATION,
    MEAN,
    Guidance,
    cutouts,
    draw_cuts,
    first_latents,
)
from gnomon.paint.painters.guided import GuidedPainter, GuidedSettings, guided
from gnomon.runs import running

from .conftest import request

SMALL = GuidedSettings(size=32, steps=8, cuts=6)
NEGATIVE = "incoherent, confusing, cropped, watermarks"


def painter(vqgan, clip, settings=SMALL, save_every=2):
    return GuidedPainter(
        str(vqgan), str(clip), settings, negative=NEGATIVE, save_every=save_every, device="cpu"
    )


def painted(found):
    ((_, picture),) = found
    return picture.content


# The published formula, computed plainly.


def plain_padded(picture, size):
    """A picture (3 x size x size) in the middle of a black one of twice its side."""
    edge = size // 2
    found = np.zeros((3, 2 * size, 2 * size))
    found[:, edge : edge + size, edge : edge + size] = picture
    return found


def plain_sources(cuts, side):
    """For each pixel of the turned and moved picture, the pixel that it shows; -1 for none."""
    angle = math.radians(cuts.degrees)
    middle = (side - 1) / 2
    found = -np.ones((side, side), dtype=int)
    for row in range(side):
        for column in range(side):
            x, y = column - middle - cuts.right, row - middle - cuts.down
            # back by the angle: turning is clockwise, since rows go down
            from_x = math.cos(angle) * x + math.sin(angle) * y + middle
            from_y = -math.sin(angle) * x + math.cos(angle) * y + middle
            near_x, near_y = round(from_x), round(from_y)
            if 0 <= near_x < side and 0 <= near_y < side:
                found[row, column] = near_y * side + near_x
    return found


def plain_scaling(side, seen):
    """The matrix that scales `side` values to `seen`, linearly between the first and the last."""
    found = np.zeros((seen, side))
    for place in range(seen):
        at = place * (side - 1) / (seen - 1)
        low = min(int(at), side - 2)
        found[place, low] += 1 - (at - low)
        found[place, low + 1] += at - low
    return found


def plain_cutouts(picture, cuts, settings, seen):
    """The pieces of a picture, by plain NumPy."""
    padded = plain_padded(picture, settings.size)
    if cuts.flipped:
        padded = padded[:, :, ::-1]
    side = 2 * settings.size
    sources = plain_sources(cuts, side)
    flat = padded.reshape(3, -1)
    moved = np.where(sources.reshape(-1) >= 0, flat[:, sources.reshape(-1)], 0.0)
    moved = moved.reshape(3, side, side)
    pieces = []
    for number, (top, left, length) in enumerate(cuts.squares):
        scaling = plain_scaling(length, seen)
        square = moved[:, top : top + length, left : left + length]
        small = np.einsum("ar,crs,bs->cab", scaling, square, scaling)
        noise = float(cuts.strength[number]) * cuts.noise[number].numpy()
        pieces.append(small + settings.noise * noise)
    return np.stack(pieces)


def traced_cutouts(picture, cuts, settings, seen):
    """The same with gradients: the picture is looked up and weighted by the plain tables."""
    side, edge = 2 * settings.size, settings.size // 2
    padded = torch.zeros(3, side, side, dtype=picture.dtype)
    padded[:, edge : edge + settings.size, edge : edge + settings.size] = picture[0]
    if cuts.flipped:
        padded = torch.flip(padded, (-1,))
    sources = torch.tensor(plain_sources(cuts, side)).reshape(-1)
    flat = padded.reshape(3, -1)
    moved = torch.where(sources >= 0, flat[:, sources.clamp(min=0)], padded.new_zeros(()))
    moved = moved.reshape(3, side, side)
    pieces = []
    for number, (top, left, length) in enumerate(cuts.squares):
        scaling = torch.tensor(plain_scaling(length, seen))
        square = moved[:, top : top + length, left : left + length]
        small = torch.einsum("ar,crs,bs->cab", scaling, square, scaling)
        pieces.append(small + settings.noise * cuts.strength[number] * cuts.noise[number])
    return torch.stack(pieces)


def plain_cosines(features, text):
    text = text[0]
    return (features * text).sum(-1) / (features.norm(dim=-1) * text.norm())


def plain_run(model, seed, steps):
    """Losses and latents of the published procedure, with an AdamW of our own."""
    settings, seen = model.settings, model.seen
    wanted, unwanted = model.text_features("An ant and a bird."), model.text_features(NEGATIVE)
    mean, deviation = (torch.tensor(v).reshape(1, 3, 1, 1) for v in (MEAN, DEVIATION))
    random = torch.Generator().manual_seed(seed)
    drawn = torch.randn(model.shape, generator=random).double()
    latents = torch.sinh(1.9 * torch.arcsinh(0.5 * drawn))
    first, second, decay, losses = torch.zeros_like(latents), torch.zeros_like(latents), 0.0, []
    for step in range(1, steps + 1):
        latents.requires_grad_(True)
        cuts = draw_cuts(settings, seen, random)
        picture = (model.decoded(latents.clip(-6, 6)) * 2 - 1 + 1) / 2
        pieces = (traced_cutouts(picture, cuts, settings, seen) - mean) / deviation
        features = model.image_features(pieces)
        loss = -10 * plain_cosines(features, wanted) + 5 * plain_cosines(features, unwanted)
        loss.mean().backward()
        losses.append(float(loss.mean().detach()))
        with torch.no_grad():
            slope = latents.grad
            first = 0.9 * first + 0.1 * slope
            second = 0.999 * second + 0.001 * slope * slope
            latents = latents * (1 - 0.5 * decay)
            height = (second / (1 - 0.999**step)).sqrt() + 1e-8
            latents = latents - 0.5 * (first / (1 - 0.9**step)) / height
            decay = 0.1 if float(latents.clip(-6, 6).abs().max()) > 5 else 0.0
    return losses, latents.detach()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_cutouts_are_those_of_a_plain_computation(seed):
    settings = GuidedSettings(size=32, cuts=5)
    random = torch.Generator().manual_seed(seed)
    picture = torch.rand((1, 3, 32, 32), generator=random)
    cuts = draw_cuts(settings, 16, random)
    found = cutouts(picture, cuts, settings, 16).numpy()
    expected = plain_cutouts(picture[0].numpy().astype(float), cuts, settings, 16)
    assert found.shape == (5, 3, 16, 16)
    assert np.abs(found - expected).max() < 1e-5


def test_five_steps_are_those_of_a_plain_computation(vqgan, clip):
    model = painter(vqgan, clip)
    model._vqgan.double()  # AdamW's first steps go by signs alone, and so double every last bit
    model._clip.double()
    guidance = Guidance(model.shape, model.settings, seed=5)
    guidance.latents.data = guidance.latents.data.double()
    wanted, unwanted = model.text_features("An ant and a bird."), model.text_features(NEGATIVE)
    for _ in range(5):
        guidance.advance(lambda z, cuts: model.loss(z, cuts, wanted, unwanted), model.seen)
    losses, latents = plain_run(model, seed=5, steps=5)
    assert guidance.losses == pytest.approx(losses, abs=1e-5)
    assert torch.allclose(guidance.latents.detach(), latents, atol=1e-4)


def test_sizes_of_pieces_are_as_published():
    settings = GuidedSettings()
    random = torch.Generator().manual_seed(0)
    sides, turns, flips = [], [], 0
    for _ in range(40):
        cuts = draw_cuts(settings, 1, random)
        assert [cut.side for cut in cuts.squares[-3:]] == [int(1.4 * 512)] * 3
        for top, left, side in cuts.squares:
            assert 0 <= top <= 1024 - side
            assert 0 <= left <= 1024 - side
        sides += [cut.side / 512 for cut in cuts.squares[:-3]]
        turns += [cuts.degrees]
        flips += cuts.flipped
        assert max(abs(cuts.right), abs(cuts.down)) <= 0.1 * 1024
    assert len(sides) == 40 * 29
    assert min(sides) >= 0.42
    assert max(sides) <= 1.9
    assert 1.15 < np.mean(sides) < 1.25
    assert max(map(abs, turns)) <= 24
    assert 8 < flips < 32


def test_latents_start_stretched():
    settings = GuidedSettings()
    drawn = first_latents((1, 4, 32, 32), settings, torch.Generator().manual_seed(0))
    plain = 0.5 * torch.randn((1, 4, 32, 32), generator=torch.Generator().manual_seed(0))
    assert torch.allclose(drawn, torch.sinh(1.9 * torch.arcsinh(plain)))
    assert drawn.abs().max() > plain.abs().max()


def test_every_setting_is_an_option_with_the_published_value():
    options = options_of(guided)
    published = {"size": 512, "steps": 601, "rate": 0.5, "decay": 0.1, "decay_beyond": 5.0}
    published |= {"spread": 0.5, "stretch": 1.9, "clip_latents": 6.0, "towards": 10.0, "away": 5.0}
    published |= {"cuts": 32, "whole_cuts": 3, "whole_size": 1.4, "mean_size": 1.2}
    published |= {"size_deviation": 0.3, "least_size": 0.43, "most_size": 1.9, "turn": 24.0}
    published |= {"shift": 0.1, "noise": 0.11}
    assert {name: options[name] for name in published} == published
    assert GuidedSettings(**published) == GuidedSettings()
    assert options["negative"] == NEGATIVE


# What comes out.


def test_the_loss_falls(vqgan, clip):
    model = painter(vqgan, clip, GuidedSettings(size=32, steps=60, cuts=8))
    guidance = Guidance(model.shape, model.settings, seed=1)
    wanted, unwanted = model.text_features("a cat"), model.text_features(NEGATIVE)
    random = torch.Generator().manual_seed(99)
    looks = [draw_cuts(model.settings, model.seen, random) for _ in range(120)]

    def losses():
        with torch.no_grad():
            latents = guidance.clipped()
            return [float(model.loss(latents, cuts, wanted, unwanted)) for cuts in looks]

    before = losses()
    for _ in range(60):
        guidance.advance(lambda z, cuts: model.loss(z, cuts, wanted, unwanted), model.seen)
    fallen = np.array(before) - losses()
    assert fallen.mean() > 0.3
    assert fallen.mean() > 5 * fallen.std() / len(fallen) ** 0.5


def test_the_same_seed_gives_the_same_pixels(vqgan, clip):
    one = painted(painter(vqgan, clip).paint([request(seed=7)]))
    again = painted(painter(vqgan, clip).paint([request(seed=7)]))
    other = painted(painter(vqgan, clip).paint([request(seed=8)]))
    assert one == again != other


class KilledError(BaseException):
    """As if the process ended."""


def test_a_picture_goes_on_from_its_checkpoint_and_ends_the_same(vqgan, clip, tmp_path):
    whole = painted(painter(vqgan, clip).paint([request()]))
    for last in (1, 2, 3):
        folder = tmp_path / str(last)
        stopped = painter(vqgan, clip)
        stopped.keep(folder)
        save, saved = stopped._save, []

        def killing(guidance, asked, save=save, saved=saved, last=last):
            save(guidance, asked)
            saved.append(guidance.step)
            if len(saved) == last:
                raise KilledError

        stopped._save = killing
        with pytest.raises(KilledError):
            list(stopped.paint([request()]))
        assert saved[-1] == 2 * last
        resumed = painter(vqgan, clip)
        resumed.keep(folder)
        seen = []
        loss = resumed.loss
        resumed.loss = lambda *given, loss=loss, seen=seen: seen.append(1) or loss(*given)
        assert painted(resumed.paint([request()])) == whole
        assert len(seen) == SMALL.steps - 2 * last  # the steps before the kill are not made again
        assert not list(folder.iterdir())


KILLING = """
import os, signal, sys
from gnomon.paint.painters.guided import GuidedPainter, GuidedSettings
from gnomon.records import Item
from gnomon.paint.records import PaintRequest
vqgan, clip, folder, seed = sys.argv[1:]
item = Item(id="size/ant/bird", form="scene", text="An ant and a bird.")
made = GuidedPainter(vqgan, clip, GuidedSettings(size=32, steps=8, cuts=6),
                     negative="incoherent, confusing, cropped, watermarks", save_every=3, device="cpu")
from pathlib import Path
made.keep(Path(folder))
save = made._save
def killing(guidance, asked):
    save(guidance, asked)
    os.kill(os.getpid(), signal.SIGKILL)
made._save = killing
list(made.paint([PaintRequest(item, 0, item.text, int(seed))]))
"""


def test_kill_9_and_the_same_pixels(vqgan, clip, tmp_path):
    whole = painted(painter(vqgan, clip).paint([request()]))
    folder = tmp_path / "kept"
    paths = os.pathsep.join(sys.path)
    child = subprocess.run(
        [sys.executable, "-c", KILLING, str(vqgan), str(clip), str(folder), str(request().seed)],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert child.returncode == -signal.SIGKILL
    assert len(list(folder.glob("*.kept"))) == 1
    resumed = painter(vqgan, clip)
    resumed.keep(folder)
    assert painted(resumed.paint([request()])) == whole


def test_a_run_that_was_interrupted_ends_with_the_same_pictures(vqgan, clip, tmp_path, monkeypatch):
    source = gnomon.load("posrel", form="scene").limited(2)
    how = {"vqgan": str(vqgan), "clip": str(clip), "size": 32, "steps": 5, "cuts": 4}
    model = gnomon.model("synth:guided", **how, save_every=2, judge="none", device="cpu")
    whole = running.run(source, model, runs=tmp_path / "whole")
    save, saved = GuidedPainter._save, []

    def interrupted(self, guidance, asked):
        save(self, guidance, asked)
        saved.append(guidance.step)
        if len(saved) == 3:  # in the second picture
            raise KeyboardInterrupt

    monkeypatch.setattr(GuidedPainter, "_save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.run(source, model, runs=tmp_path / "parts")
    monkeypatch.undo()
    (folder,) = (tmp_path / "parts").iterdir()
    assert len(read_log(folder / "pictures")) == 1
    run = running.run(source, model, runs=tmp_path / "parts")
    assert read_log(run.path / "pictures") == read_log(whole.path / "pictures")
    assert not list((run.path / "pictures" / "unfinished").iterdir())


def test_a_damaged_checkpoint_is_begun_anew(vqgan, clip, tmp_path):
    whole = painted(painter(vqgan, clip).paint([request()]))
    model = painter(vqgan, clip)
    model.keep(tmp_path)
    model._store.file(model._key(request())).write_bytes(b"no tensors")
    assert painted(model.paint([request()])) == whole


def test_what_cannot_be_is_said(vqgan, clip):
    with pytest.raises(UsageError, match="needs the weights of a VQGAN"):
        guided("")
    with pytest.raises(UsageError, match="takes no name"):
        guided("name", vqgan=str(vqgan))
    with pytest.raises(UsageError, match="size from 16"):
        guided("", vqgan=str(vqgan), clip=str(clip), size=4)
    with pytest.raises(UsageError, match="sizes of pieces"):
        guided("", vqgan=str(vqgan), clip=str(clip), most_size=2.5)
    with pytest.raises(ModelError):
        guided("", vqgan=str(clip / "nothing"), clip=str(clip), judge="none")
