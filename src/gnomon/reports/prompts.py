"""The prompt of an item of a run, from what its manifest keeps: no model is loaded."""

from functools import lru_cache

import msgspec

from gnomon.errors import GnomonError
from gnomon.models.prompts.preview import HOW, PromptFormat
from gnomon.records import Item, Preview
from gnomon.runs import Run


def prompt_of(run: Run, item: Item) -> Preview | None:
    """Exactly what the model read for an item of a run; none where that cannot be told.

    Runs of models without a prompt have none, and so have those of an earlier Gnomon, whose
    manifests do not keep it.

    >>> import tempfile
    >>> from gnomon import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run("scales", "random", limit=1, runs=folder)
    ...     prompt_of(done, next(done.items())) is None
    True
    """
    if not run.manifest.asking:
        return None
    asking = _asking(msgspec.json.encode(run.manifest.asking))
    if asking is None:
        return None
    if run.manifest.blind:
        item = msgspec.structs.replace(item, images=())
    try:
        return asking.preview(item)
    except (GnomonError, LookupError, ValueError):  # a prompt that no Gnomon would have asked
        return None


@lru_cache(maxsize=64)  # a page shows many items of few runs
def _asking(kept: bytes) -> PromptFormat | None:
    try:
        found = msgspec.json.decode(kept, type=PromptFormat)
    except msgspec.MsgspecError:  # another Gnomon wrote it, in its own way
        return None
    return found if found.way in HOW else None
