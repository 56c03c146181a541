"""`synth:guided`: a VQGAN decoder of diffusers under the guidance of a CLIP of transformers.

A picture takes hundreds of steps, so what was reached is written down now and then: a process that
is killed goes on from there, and ends with the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from gnomon.errors import UsageError, check_no_name, importing
from gnomon.keep import Keep
from gnomon.models.transformers.checkpoint import check_device, check_folder, explained
from gnomon.models.transformers.loading import best_device, libraries, quiet, revision_of
from gnomon.models.transformers.processors import load_tokenizer
from gnomon.options import neutral
from gnomon.paint.factory import as_model
from gnomon.paint.records import Making, PaintedPicture, PaintRequest

CLIP = "openai/clip-vit-base-patch32"
LARGEST_SIDE = 2048
PADDED = 2.0  # side of the padded picture, as a multiple of the picture's


@dataclass(frozen=True, kw_only=True)
class GuidedSettings:
    """Every setting of the authors' code, with its value there."""

    size: int = 512  # pixels of the picture's side
    steps: int = 601
    rate: float = 0.5  # learning rate of AdamW
    decay: float = 0.1  # weight decay, only while a latent is beyond `decay_beyond`
    decay_beyond: float = 5.0
    spread: float = 0.5  # of the random latents at the start
    stretch: float = 1.9  # sinh(stretch * arcsinh(latent))
    clip_latents: float = 6.0  # latents are decoded within this and its negative
    towards: float = 10.0  # weight of the prompt
    away: float = 5.0  # weight of the negative prompt
    cuts: int = 32
    whole_cuts: int = 3  # the last cutouts, which are of one size
    whole_size: float = 1.4  # of these, as a share of the picture
    mean_size: float = 1.2
    size_deviation: float = 0.3
    least_size: float = 0.43
    most_size: float = 1.9
    turn: float = 24.0  # degrees, at most, by which the padded picture is turned
    shift: float = 0.1  # of its side, at most, by which it is moved
    noise: float = 0.11


@partial(as_model, settings=GuidedSettings)
@neutral("save_every", "device")
def guided(
    name: str,
    *,
    vqgan: str = "",
    clip: str = CLIP,
    negative: str = "incoherent, confusing, cropped, watermarks",
    save_every: int = 100,
    device: str = "",
    **settings: Any,
) -> GuidedPainter:
    """The painter of the spatial-commonsense paper: a VQGAN whose latents CLIP guides.

    vqgan      folder or name of a VQModel of diffusers; the paper's is the f16 VQGAN of ImageNet
               with 16,384 codes, converted
    clip       folder or name of a CLIPModel of transformers
    negative   what the picture must not look like; in the authors' code, not in their paper
    size       pixels of the picture's side
    steps      of the optimiser
    rate       its learning rate
    decay      its weight decay, used only while a latent is beyond decay_beyond
    decay_beyond  how large a latent may be without decay
    spread     standard deviation of the latents at the start
    stretch    they become sinh(stretch * arcsinh(latent))
    clip_latents  latents are decoded within -clip_latents and clip_latents
    towards    weight of the prompt in the loss
    away       weight of the negative prompt
    cuts       pieces of the picture that CLIP looks at in each step
    whole_cuts  of these, pieces of the size whole_size
    whole_size  as a share of the picture's side
    mean_size  of the other pieces
    size_deviation  of their sizes
    least_size  of a piece
    most_size  of a piece
    turn       degrees by which the padded picture is turned at most
    shift      share of its side by which it is moved at most
    noise      strength of the noise on each piece
    save_every  steps after which what was reached is written down
    device     cpu, cuda or mps (default: the fastest)
    """
    chosen = GuidedSettings(**settings)
    check_no_name("synth:guided", name, "Give --set vqgan=FOLDER.")
    if not vqgan:
        raise UsageError(
            "synth:guided needs the weights of a VQGAN.",
            "Give --set vqgan=FOLDER, a VQModel as diffusers saves it.",
        )
    _check(chosen, save_every)
    return GuidedPainter(
        vqgan, clip, chosen, negative=negative, save_every=save_every, device=device
    )


class GuidedPainter:
    """Paints one picture at a time: what comes out does not depend on its company."""

    spec = "synth:guided"
    batch = 1

    def __init__(
        self,
        vqgan: str,
        clip: str,
        settings: GuidedSettings,
        *,
        negative: str,
        save_every: int,
        device: str,
    ) -> None:
        self.settings, self.negative = settings, negative
        self._torch, _ = libraries()
        self._device = device or best_device()
        check_device(self._device)
        self._vqgan = _loaded(vqgan, _vqgan_of).to(self._device)
        self._clip = _loaded(clip, _clip_of).to(self._device)
        self._words = _loaded(clip, load_tokenizer)
        self._about = {
            "vqgan": revision_of(vqgan, self._vqgan.config),
            "clip": revision_of(clip, self._clip.config),
        }
        self._save_every = save_every
        self._store: Keep | None = None

    def describe(self) -> dict[str, Any]:
        """What determines the pictures."""
        return {**self._about, **asdict(self.settings), "negative": self.negative}

    def keep(self, folder: Path) -> None:
        """Write down in this folder how far a picture has come."""
        self._store = Keep(folder)

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """Each request with its picture."""
        for request in requests:
            yield request, self._paint(request)
            self._forget(request)

    def _paint(self, request: PaintRequest) -> PaintedPicture:
        from gnomon.paint.painters.guidance import Guidance

        guidance = Guidance(self.shape, self.settings, request.seed, self._device)
        self._resume(guidance, request)
        wanted = self.text_features(request.prompt)
        unwanted = self.text_features(self.negative)

        def loss(latents: Any, cuts: Any) -> Any:
            return self.loss(latents, cuts, wanted, unwanted)

        while guidance.step < self.settings.steps:
            guidance.advance(loss, self.seen)
            if guidance.step % self._save_every == 0 and guidance.step < self.settings.steps:
                self._save(guidance, request)
        with self._torch.no_grad():
            return PaintedPicture(_png(self.decoded(guidance.clipped())))

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the latents of one picture."""
        config = self._vqgan.config
        channels = config.vq_embed_dim or config.latent_channels
        side = self.settings.size // 2 ** (len(config.block_out_channels) - 1)
        return 1, channels, side, side

    @property
    def seen(self) -> int:
        """Pixels of the side of the pictures that CLIP takes."""
        return int(self._clip.config.vision_config.image_size)

    def decoded(self, latents: Any) -> Any:
        """The picture of some latents, values 0 to 1; they are not rounded to the codes."""
        sample = self._vqgan.decode(latents, force_not_quantize=True).sample
        return (sample.clip(-1, 1) + 1) / 2

    def loss(self, latents: Any, cuts: Any, wanted: Any, unwanted: Any) -> Any:
        """How far the picture of some latents is from what is wanted."""
        from gnomon.paint.painters.guidance import cutouts, loss_of, normalised

        pieces = cutouts(self.decoded(latents), cuts, self.settings, self.seen)
        features = self.image_features(normalised(pieces))
        return loss_of(features, wanted, unwanted, self.settings)

    def image_features(self, pieces: Any) -> Any:
        """CLIP's features of pictures."""
        found = self._clip.get_image_features(pixel_values=pieces)
        return getattr(found, "pooler_output", found)

    def text_features(self, text: str) -> Any:
        """CLIP's features of a text, which is cut off where CLIP's own limit is."""
        limit = self._clip.config.text_config.max_position_embeddings
        read = self._words(text, truncation=True, max_length=limit, return_tensors="pt")
        with self._torch.no_grad():
            found = self._clip.get_text_features(
                input_ids=read["input_ids"].to(self._device),
                attention_mask=read["attention_mask"].to(self._device),
            )
        return getattr(found, "pooler_output", found)

    def _key(self, request: PaintRequest) -> str:
        key = f"{request.item.id}\0{request.number}\0{request.seed}\0{request.prompt}"
        return sha256(key.encode(errors="surrogatepass")).hexdigest()[:32]

    def _save(self, guidance: Any, request: PaintRequest) -> None:
        """Write down how far a picture has come: whole or not at all."""
        from safetensors.torch import save

        if self._store:
            self._store.write(self._key(request), save(guidance.state()))

    def _resume(self, guidance: Any, request: PaintRequest) -> None:
        """Go on from what was written down, if that is sound and of this picture."""
        from safetensors import SafetensorError
        from safetensors.torch import load

        kept = self._store.read(self._key(request)) if self._store else None
        if kept is None:
            return
        try:
            state = load(kept)
            if state["latents"].shape == guidance.latents.shape:
                guidance.restore(state)
        except (SafetensorError, KeyError, RuntimeError):
            self._forget(request)

    def _forget(self, request: PaintRequest) -> None:
        if self._store:
            self._store.remove(self._key(request))


def _png(picture: Any) -> bytes:
    from PIL import Image

    values = (picture[0].permute(1, 2, 0) * 255).round().byte().cpu().numpy()
    out = BytesIO()
    Image.fromarray(values).save(out, "PNG")
    return out.getvalue()


def _loaded(name: str, load: Callable[[str], Any]) -> Any:
    """A part by its name or folder, its weights fixed; what is wrong with it is said in words."""
    check_folder(name, allow_pickle=False)
    with quiet(), explained(name, allow_pickle=False):
        found = load(name)
    if hasattr(found, "requires_grad_"):
        found.eval().requires_grad_(False)
    return found


def _vqgan_of(name: str) -> Any:
    with importing("A painter of pictures", "synthesis"):
        from diffusers import VQModel
    return VQModel.from_pretrained(name, use_safetensors=True)


def _clip_of(name: str) -> Any:
    from transformers import CLIPModel

    return CLIPModel.from_pretrained(name, use_safetensors=True)


def _check(settings: GuidedSettings, save_every: int) -> None:
    if not 16 <= settings.size <= LARGEST_SIDE:
        raise UsageError(
            f"A picture of {settings.size} pixels a side cannot be painted.",
            f"Give a size from 16 to {LARGEST_SIDE}.",
        )
    if settings.steps < 1 or settings.cuts < 1 or save_every < 1:
        raise UsageError("steps, cuts and save_every must be 1 or more.", "Leave them out.")
    sizes = (settings.least_size, settings.most_size, settings.whole_size)
    if min(sizes) <= 0 or max(sizes) >= PADDED or settings.least_size > settings.most_size:
        raise UsageError(
            "The sizes of pieces must be above 0 and below 2, which is the padded picture.",
            "Leave least_size, most_size and whole_size out for the paper's values.",
        )
