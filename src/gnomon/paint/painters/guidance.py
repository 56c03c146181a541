"""The picture that CLIP likes best: latents of a VQGAN, optimised against a prompt.

This is the painter of the spatial-commonsense paper (appendix A.2) as its authors' code has it. All
chance comes from one generator, whose draws are made first and then used: `draw_cuts` says where
the cutouts are, `cutouts` makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians, sin
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.functional import affine_grid, cosine_similarity, grid_sample, interpolate, pad

if TYPE_CHECKING:
    from gnomon.paint.painters.guided import GuidedSettings

# Of CLIP's pictures: what its processor subtracts and divides by.
MEAN = (0.48145466, 0.4578275, 0.40821073)
DEVIATION = (0.26862954, 0.26130258, 0.27577711)


class _Cut(NamedTuple):
    """One square of the padded picture: its upper left corner and its side, in pixels."""

    top: int
    left: int
    side: int


class Cuts(NamedTuple):
    """All that is left to chance in one step."""

    flipped: bool
    degrees: float
    right: int  # pixels by which the padded picture is moved
    down: int
    squares: tuple[_Cut, ...]
    strength: torch.Tensor  # of the noise, one for each cutout, from 0 to 1
    noise: torch.Tensor


def first_latents(shape: tuple[int, ...], settings: GuidedSettings, random: torch.Generator) -> Any:
    """Random latents, more of them large than in a normal distribution."""
    drawn = settings.spread * torch.randn(shape, generator=random)
    return torch.sinh(settings.stretch * torch.arcsinh(drawn))


def draw_cuts(settings: GuidedSettings, seen: int, random: torch.Generator) -> Cuts:
    """Where one step cuts; `seen` is the side of the pictures that CLIP takes."""
    padded = 2 * settings.size
    flipped = bool(_uniform(random) < 0.5)
    degrees = settings.turn * (2 * _uniform(random) - 1)
    most = settings.shift * padded
    right, down = (round(most * (2 * _uniform(random) - 1)) for _ in range(2))
    squares = []
    for number in range(settings.cuts):
        drawn = settings.mean_size + settings.size_deviation * _normal(random)
        share = min(max(drawn, settings.least_size), settings.most_size)
        if number >= settings.cuts - settings.whole_cuts:
            share = settings.whole_size
        side = int(share * settings.size)
        left, top = (int(_uniform(random) * (padded - side)) for _ in range(2))
        squares.append(_Cut(top, left, side))
    strength = torch.rand((settings.cuts, 1, 1, 1), generator=random)
    noise = torch.randn((settings.cuts, 3, seen, seen), generator=random)
    return Cuts(flipped, degrees, right, down, tuple(squares), strength, noise)


def cutouts(picture: Any, cuts: Cuts, settings: GuidedSettings, seen: int) -> Any:
    """The pieces of a picture (1 x 3 x side x side, values 0 to 1) that CLIP looks at."""
    edge = settings.size // 2
    padded = pad(picture, (edge, edge, edge, edge), value=0.0)
    if cuts.flipped:
        padded = padded.flip(-1)
    moved = turned(padded, cuts.degrees, cuts.right, cuts.down)
    pieces = []
    for top, left, side in cuts.squares:
        square = moved[:, :, top : top + side, left : left + side]
        small = interpolate(square, (seen, seen), mode="bilinear", align_corners=True)
        pieces.append(small)
    noise = cuts.strength.to(picture) * cuts.noise.to(picture)
    return torch.cat(pieces) + settings.noise * noise


def turned(picture: Any, degrees: float, right: int, down: int) -> Any:
    """A picture turned about its middle and moved, by the nearest pixel, black where it ends.

    torchvision's RandomAffine does the same with the same two functions of torch; here as there a
    place of the result is looked up where it comes from.
    """
    height, width = picture.shape[-2:]
    angle = radians(degrees)
    c, s = cos(angle), sin(angle)
    x, y = 2 * right / width, 2 * down / height  # grids reach from -1 to 1
    inverse = [[c, s, -c * x - s * y], [-s, c, s * x - c * y]]
    matrix = torch.tensor([inverse], dtype=picture.dtype, device=picture.device)
    grid = affine_grid(matrix, list(picture.shape), align_corners=False)
    return grid_sample(picture, grid, mode="nearest", padding_mode="zeros", align_corners=False)


def normalised(pieces: Any) -> Any:
    """Pictures as CLIP was trained on them."""
    mean = torch.tensor(MEAN).to(pieces).view(1, 3, 1, 1)
    deviation = torch.tensor(DEVIATION).to(pieces).view(1, 3, 1, 1)
    return (pieces - mean) / deviation


def loss_of(seen: Any, wanted: Any, unwanted: Any, settings: GuidedSettings) -> Any:
    """How far the pieces are from the prompt, and how near to the negative one.

    Both by the cosine of CLIP's features.
    """
    near = cosine_similarity(wanted, seen, dim=-1)
    bad = cosine_similarity(unwanted, seen, dim=-1)
    return (-settings.towards * near + settings.away * bad).mean()


class Guidance:
    """One picture on its way: latents, optimiser and chance, which a checkpoint can hold."""

    def __init__(
        self, shape: tuple[int, ...], settings: GuidedSettings, seed: int, device: str = "cpu"
    ) -> None:
        self.settings = settings
        self.random = torch.Generator().manual_seed(seed)
        start = first_latents(shape, settings, self.random)
        self.latents = torch.nn.Parameter(start.to(device))
        self.optimiser = torch.optim.AdamW([self.latents], lr=settings.rate, weight_decay=0.0)
        self.step = 0
        self.losses: list[float] = []

    def advance(self, loss: Callable[[Any, Cuts], Any], seen: int) -> float:
        """One step down; `loss` gives it of the clipped latents and the cuts."""
        cuts = draw_cuts(self.settings, seen, self.random)
        found = loss(self.clipped(), cuts)
        self.optimiser.zero_grad()
        found.backward()
        self.optimiser.step()
        with torch.no_grad():
            far = float(self.clipped().abs().max()) > self.settings.decay_beyond
        for group in self.optimiser.param_groups:
            group["weight_decay"] = self.settings.decay if far else 0.0
        self.step += 1
        self.losses.append(float(found.detach()))
        return self.losses[-1]

    def clipped(self) -> Any:
        """The latents as they are decoded."""
        return self.latents.clip(-self.settings.clip_latents, self.settings.clip_latents)

    def state(self) -> dict[str, Any]:
        """All that determines how it goes on, as tensors."""
        moments = self.optimiser.state.get(self.latents, {})
        decay = self.optimiser.param_groups[0]["weight_decay"]
        found = {
            "latents": self.latents.detach().cpu().contiguous(),
            "random": self.random.get_state(),
            "step": torch.tensor(self.step),
            "decay": torch.tensor(decay, dtype=torch.float64),
            "losses": torch.tensor(self.losses, dtype=torch.float64),
        }
        for name in ("exp_avg", "exp_avg_sq", "step"):
            if name in moments:
                found[f"adam.{name}"] = moments[name].detach().cpu().contiguous()
        return found

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        with torch.no_grad():
            self.latents.copy_(state["latents"])
        self.random.set_state(state["random"])
        self.step = int(state["step"])
        self.losses = state["losses"].tolist()
        moments = {}
        for name, value in state.items():
            if name.startswith("adam."):
                moments[name.removeprefix("adam.")] = value.clone()
        if moments:
            self.optimiser.state[self.latents] = moments
        self.optimiser.param_groups[0]["weight_decay"] = float(state["decay"])


def _uniform(random: torch.Generator) -> float:
    return float(torch.rand((), generator=random))


def _normal(random: torch.Generator) -> float:
    return float(torch.randn((), generator=random))
