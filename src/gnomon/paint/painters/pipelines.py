"""`synth:diffusers/NAME`: any text-to-image pipeline of diffusers, in batches.

Every picture has a generator of its own, seeded by its item, so it does not matter what else is in
its batch (beyond float noise).
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from gnomon.errors import UsageError, check_known, importing
from gnomon.fingerprint import fingerprint
from gnomon.models.transformers.checkpoint import check_device, explained
from gnomon.models.transformers.loading import DTYPES, best_device, libraries, quiet
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
