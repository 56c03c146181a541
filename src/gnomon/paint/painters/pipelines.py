"""Painters with weights: text-to-image pipelines, and a VQGAN under CLIP's guidance.

Every picture has a generator of its own, seeded by its item, so it does not matter what else is in
its batch (beyond float noise).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from gnomon.errors import UsageError, check_known, check_no_name, importing
from gnomon.fingerprint import fingerprint
from gnomon.keep import Keep
from gnomon.models.transformers.checkpoint import check_device, check_folder, explained
from gnomon.models.transformers.loading import DTYPES, best_device, libraries, quiet, revision_of
from gnomon.models.transformers.processors import load_tokenizer
from gnomon.options import neutral
from gnomon.paint.factory import as_model
from gnomon.paint.records import Making, PaintedPicture, PaintRequest, PaintTrouble

LARGEST_SIDE = 4096


@as_model
@neutral("paint_batch", "device", "allow_pickle")
def pipeline(
    name: str,
    *,
    steps: int = 0,
    guidance: float | None = None,
    height: int = 0,
    width: int = 0,
    negative: str = "",
    revision: str = "",
    dtype: str = "float32",
    device: str = "",
    paint_batch: int = 4,
    allow_pickle: bool = False,
) -> PipelinePainter:
    """A text-to-image pipeline by its name on the hub, or its folder.

    steps      of denoising (default: the pipeline's own)
    guidance   how strictly the prompt is followed (default: the pipeline's own)
    height     pixels (default: the pipeline's own)
    width      pixels (default: the pipeline's own)
    negative   what the picture must not show
    revision   a branch, tag or commit of the weights
    dtype      float32, bfloat16 or float16
    device     cpu, cuda or mps (default: the fastest)
    paint_batch  pictures that are painted together
    allow_pickle  load pickled weights, which can run any code
    """
    if not name:
        raise UsageError("synth:diffusers needs a pipeline.", "Write synth:diffusers/NAME.")
    check_known("dtype", dtype, DTYPES)
    if paint_batch < 1 or steps < 0 or not 0 <= max(height, width) <= LARGEST_SIDE:
        raise UsageError(
            f"A picture has at most {LARGEST_SIDE} pixels a side, and a batch one picture or more.",
            "Leave height, width, steps and paint_batch out for their defaults.",
        )
    how: dict[str, Any] = {"num_inference_steps": steps, "height": height, "width": width}
    how = {option: value for option, value in how.items() if value}
    if guidance is not None:
        how["guidance_scale"] = guidance
    if negative:
        how["negative_prompt"] = negative
    pipe, about = _opened(name, revision, DTYPES[dtype], device, allow_pickle=allow_pickle)
    return PipelinePainter(name, pipe, how, {**about, "dtype": DTYPES[dtype]}, batch=paint_batch)


class PipelinePainter:
    """Paints in batches."""

    def __init__(
        self, name: str, pipe: Any, how: dict[str, Any], about: dict[str, Any], *, batch: int
    ) -> None:
        self.spec = f"synth:diffusers/{name}"
        self.batch = batch
        self._pipe, self._how, self._about = pipe, how, about

    def describe(self) -> dict[str, Any]:
        """What determines the pictures."""
        return {**self._about, **self._how}

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """Each request with its picture."""
        torch, _ = libraries()
        generators = []
        for request in requests:  # on the cpu, so that a picture is the same on every device
            generators.append(torch.Generator("cpu").manual_seed(request.seed))
        how = dict(self._how)
        if "negative_prompt" in how:
            how["negative_prompt"] = [how["negative_prompt"]] * len(requests)
        prompts = [request.prompt for request in requests]
        with quiet():
            found = self._pipe(prompts, generator=generators, output_type="pil", **how)
        flagged = getattr(found, "nsfw_content_detected", None) or [False] * len(requests)
        for request, picture, hidden in zip(requests, found.images, flagged, strict=True):
            if hidden:
                yield request, PaintTrouble("the pipeline's own filter hid the picture")
                continue
            out = BytesIO()
            picture.convert("RGB").save(out, "PNG")
            yield request, PaintedPicture(out.getvalue())


def _opened(
    name: str, revision: str, dtype: str, device: str, *, allow_pickle: bool
) -> tuple[Any, dict[str, Any]]:
    """The pipeline, and what identifies it."""
    torch, _ = libraries()
    with importing("A painter of pictures", "synthesis"):
        import diffusers
    device = device or best_device()
    check_device(device)
    with quiet(), explained(name, allow_pickle=allow_pickle):
        pipe = diffusers.AutoPipelineForText2Image.from_pretrained(
            name,
            revision=revision or None,
            torch_dtype=getattr(torch, dtype),
            use_safetensors=None if allow_pickle else True,
        ).to(device)
    pipe.set_progress_bar_config(disable=True)
    folder = Path(name)
    known = str(getattr(pipe.config, "_commit_hash", None) or "")
    if folder.is_dir():
        parts = [fingerprint(part) for part in sorted(folder.iterdir()) if part.is_dir()]
        known = f"content:{fingerprint(folder)[:20]}:{'-'.join(part[:8] for part in parts)}"
    about = {
        "pipeline": type(pipe).__name__,
        "revision": known or revision,
        "diffusers": diffusers.__version__,
        "torch": str(torch.__version__),
    }
    return pipe, about


# `synth:guided`: a VQGAN decoder of diffusers under the guidance of a CLIP of transformers.
#
# A picture takes hundreds of steps, so what was reached is written down now and then: a process
# that is killed goes on from there, and ends with the same pixels.


CLIP = "openai/clip-vit-base-patch32"
LARGEST_GUIDED = 2048
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
    if not 16 <= settings.size <= LARGEST_GUIDED:
        raise UsageError(
            f"A picture of {settings.size} pixels a side cannot be painted.",
            f"Give a size from 16 to {LARGEST_GUIDED}.",
        )
    if settings.steps < 1 or settings.cuts < 1 or save_every < 1:
        raise UsageError("steps, cuts and save_every must be 1 or more.", "Leave them out.")
    sizes = (settings.least_size, settings.most_size, settings.whole_size)
    if min(sizes) <= 0 or max(sizes) >= PADDED or settings.least_size > settings.most_size:
        raise UsageError(
            "The sizes of pieces must be above 0 and below 2, which is the padded picture.",
            "Leave least_size, most_size and whole_size out for the paper's values.",
        )
