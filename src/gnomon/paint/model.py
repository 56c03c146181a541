"""A painter and a judge as one model: pictures of each item are painted, kept, looked at and vote.

Painting and judging are two steps: pictures are kept in the run's folder with their prompts and
seeds, and what is there already is not painted again. A picture counts once its line is in the log.
Its file is durable before that, so a process that is killed loses at most the picture it is at.
Files are named by their content: nothing that a stranger wrote is in a path, and equal pictures are
stored once.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

from gnomon.contracts import TEXT, Benchmark, Scale
from gnomon.durable import link_or_copy, log_records, remove_torn_line, replace_file, sync_folder
from gnomon.errors import DataError, RunError, UnfitError
from gnomon.files import first_bytes
from gnomon.grouped import chunks, grouped
from gnomon.measures.correction import Trial
from gnomon.paint import records
from gnomon.paint.records import (
    Judge,
    JudgeVerdict,
    Made,
    Painted,
    PaintedPicture,
    Painter,
    PaintRequest,
    PaintTrouble,
)
from gnomon.records import Answer, Item, digest
from gnomon.runs import PICTURES
from gnomon.vision.images import MOST_DECODED, PNG, Pixels, decode_bytes, size_in

LOG = "pictures.jsonl"
UNFINISHED = "unfinished"  # what painters keep of pictures they are still at
MOST_BYTES = 64 * 2**20  # of one picture's file
MOST_LOG = 2**28  # bytes of a log that is read
LONGEST_REASON = 300  # characters
START_OVER = "Restore it from a copy, or start the run over with --restart."
Key = tuple[str, int]  # an item's id, and which of its pictures


class Pictures:
    """The pictures that were painted so far, by item and number. One process at a time writes.

    The run's lock sees to that.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._painted = read_log(folder)
            if (folder / LOG).is_symlink():  # lines would be added elsewhere
                raise DataError("the log of pictures is a link.", START_OVER, file=folder / LOG)
            remove_torn_line(folder / LOG)
        except OSError as error:
            raise _not_kept(folder, error) from None

    def find(self, item: str, number: int) -> Painted | None:
        """A picture that was kept, or why there is none; none if it was not painted yet."""
        return self._painted.get((item, number))

    def __len__(self) -> int:
        return len(self._painted)

    def keep(self, request: PaintRequest, made: Made, painter: str) -> Painted:
        """Keep a picture for good; one that cannot be looked at becomes its own trouble."""
        if isinstance(made, PaintedPicture):
            made = _trouble_of(made) or made
        painted = Painted(
            item=request.item.id,
            number=request.number,
            prompt=request.prompt,
            seed=request.seed,
            painter=painter,
        )
        try:
            if isinstance(made, PaintTrouble):
                painted = replace(painted, trouble=made.reason[:LONGEST_REASON])
            else:
                file, known = self._store(made.content)
                painted = replace(painted, file=file, sha256=known, truth=made.truth)
            self._note(painted)
        except OSError as error:
            raise _not_kept(self.folder, error) from None
        return painted

    def adopt(self, other: Path) -> int:
        """Take over the pictures of another run without copying them, where the disk allows it."""
        taken = 0
        for key, painted in read_log(other).items():
            if key in self._painted:
                continue
            try:
                if painted.file:
                    link_or_copy(other / painted.file, self.folder / painted.file)
                self._note(painted)
            except OSError as error:
                raise _not_kept(self.folder, error) from None
            taken += 1
        return taken

    def open(self, painted: Painted) -> Pixels:
        """The pixels of a picture that was kept; an error if its file is gone or changed."""
        file = self.folder / painted.file
        content = first_bytes(file, MOST_BYTES + 1, "Restore the file.")
        if sha256(content).hexdigest() != painted.sha256:
            raise DataError(
                "the picture is not the one that was painted.", "Restore it.", file=file
            )
        return decode_bytes(content, file)

    def _store(self, content: bytes) -> tuple[str, str]:
        """Write the bytes under their own name: whole or not at all."""
        known = sha256(content).hexdigest()
        ending = "png" if content.startswith(PNG) else "jpg"
        name = f"{known[:32]}.{ending}"
        file = self.folder / name
        if file.is_file() and file.stat().st_size == len(content):
            return name, known
        replace_file(file, content)
        sync_folder(self.folder)
        return name, known

    def _note(self, painted: Painted) -> None:
        with (self.folder / LOG).open("ab") as log:
            log.write(msgspec.json.encode(painted) + b"\n")
            log.flush()
            os.fsync(log.fileno())
        self._painted[painted.item, painted.number] = painted


def painter_name(spec: str, description: dict[str, object]) -> str:
    """A painter as the log names it: by its spec and a digest of what determines its pictures."""
    about = msgspec.json.encode(description, order="sorted").decode()
    return f"{spec} {digest(about)}"


def _trouble_of(picture: PaintedPicture) -> PaintTrouble | None:
    """Why some bytes are no picture that can be kept and looked at."""
    if len(picture.content) > MOST_BYTES:
        return PaintTrouble(f"the picture has more than {MOST_BYTES // 2**20} MB")
    try:
        size = size_in(BytesIO(picture.content), Path("the picture"))
    except DataError as error:
        return PaintTrouble(error.message.removeprefix("the picture: ").rstrip("."))
    if size.width * size.height > MOST_DECODED:
        return PaintTrouble(f"a picture of {size.width:,} x {size.height:,} pixels is too large")
    return None


def read_log(folder: Path) -> dict[Key, Painted]:
    """All that a folder of pictures holds."""
    file = folder / LOG
    found: dict[Key, Painted] = {}
    for number, painted in log_records(file, Painted, "a picture", most=MOST_LOG, hint=START_OVER):
        if painted.file != Path(painted.file).name:
            problem = "the picture's file is in another folder."
            raise DataError(problem, START_OVER, file=file, line=number)
        found[painted.item, painted.number] = painted
    return found


def _not_kept(folder: Path, error: OSError) -> RunError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(
            f"The disk that holds {folder} is full.",
            "Free some space and give the same command again: pictures that were kept stay.",
        )
    return RunError(
        f"Pictures cannot be kept in {folder}: {error.strerror or error}.",
        "Check the folder's permissions, or give another with --runs.",
    )


LONGEST_PROMPT = 4000  # characters; no painter reads more
ALL_THERE = 64  # pictures of an item, where as many are wanted as there are


class Synth:
    """Answers items by painting them and looking at the pictures."""

    takes = TEXT
    scale: Scale = "probability"

    def __init__(
        self,
        painter: Painter,
        judge: Judge | None,
        *,
        pictures: int = 1,
        seed: int = 0,
        trial: int = 0,
    ) -> None:
        self.spec = painter.spec
        self.batch = max(1, painter.batch // max(1, pictures))
        self._painter, self._judge = painter, judge
        self._pictures, self._seed = pictures, seed
        self._scenes_of_trial = trial
        self._trial: Trial | None = None
        self._kept: Pictures | None = None
        self._lent: TemporaryDirectory[str] | None = None
        self._signed = painter_name(painter.spec, painter.describe())

    def describe(self) -> dict[str, Any]:
        """What determines the answers: painter, judge, and how many pictures vote.

        And how the judge fared on pictures of which one knows what they show.
        """
        trial = {"trial": self._trial._asdict()} if self._trial else {}
        return {
            **trial,
            "painter": self._painter.describe(),
            "judge": self._judge.describe() if self._judge else "none",
            "pictures": self._pictures,
            "paint_seed": self._seed,
        }

    def prepare(self, items: Iterable[Item], benchmark: Benchmark) -> None:
        """Refuse a benchmark whose items are no scenes, and try the judge, before any painting."""
        rest = iter(items)
        first = list(islice(rest, 1))
        for item in first:
            trouble = self._unfit(item)
            if trouble:
                raise UnfitError(f"{self.spec} cannot be asked this: {trouble}.", _remedy(item))
        if self._judge is not None and self._scenes_of_trial:
            from gnomon.paint.judges.trials import trial_of

            asked = chain(first, rest)
            self._trial = trial_of(self._judge, asked, self._scenes_of_trial, self._pictures or 1)

    def keep(self, folder: Path) -> None:
        """Keep the pictures in a run's folder, where an earlier process may have left some."""
        self._let_go()
        self._kept = Pictures(folder / PICTURES)
        earlier = getattr(self._painter, "folder", None)
        if earlier is not None:
            self._kept.adopt(earlier / PICTURES)
        keep = getattr(self._painter, "keep", None)
        if keep:
            keep(folder / PICTURES / UNFINISHED)

    def close(self) -> None:
        """Let go of the pictures, the painter and the judge."""
        self._let_go()
        for part in (self._painter, self._judge):
            close = getattr(part, "close", None)
            if close:
                close()

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """One answer for each item: first all missing pictures are painted, then all are judged."""
        kept = self._keeper()
        fit = [item for item in items if not self._unfit(item)]
        self._paint(list(self._missing(fit, kept)), kept)
        return [self._answer(item, kept) for item in items]

    def _missing(self, items: Iterable[Item], kept: Pictures) -> Iterator[PaintRequest]:
        for item in items:
            for number in range(self._count(item)):
                painted = kept.find(item.id, number)
                if painted is None or painted.trouble:
                    seed = records.seed_of(self._drawn_by(item), number, self._seed)
                    yield PaintRequest(item, number, prompt_of(item), seed)

    def _drawn_by(self, item: Item) -> str:
        """What decides an item's seeds: its id, or of a question the scene that it is about.

        The two questions of one action are so asked about one picture, as in the paper.
        """
        return item.id if item.form == "scene" else prompt_of(item)

    def _count(self, item: Item) -> int:
        """How many pictures of an item there are to be."""
        count = getattr(self._painter, "count", None)
        if count is None:
            return max(1, self._pictures)
        there: int = count(item)
        return max(1, min(self._pictures or ALL_THERE, there))

    def _paint(self, requests: Sequence[PaintRequest], kept: Pictures) -> None:
        """Paint what is missing; each picture is kept before the next one is taken."""
        sharing = grouped(requests, self._picture_of)
        wanted = [same[0] for same in sharing.values()]
        for part in chunks(wanted, self._painter.batch):
            for request, made in self._painter.paint(part):
                for each in sharing[self._picture_of(request)]:
                    kept.keep(each, made, self._signed)

    def _picture_of(self, request: PaintRequest) -> tuple[str, int, str]:
        """What requests for one and the same picture have in common."""
        is_own = request.item.form == "scene" or hasattr(self._painter, "count")
        return request.prompt, request.seed, request.item.id if is_own else ""

    def _answer(self, item: Item, kept: Pictures) -> Answer:
        trouble = self._unfit(item)
        if trouble:
            return Answer(item=item.id, error=trouble)
        wanted = [kept.find(item.id, number) for number in range(self._count(item))]
        there = [painted for painted in wanted if painted is not None]
        whole = [painted for painted in there if not painted.trouble]
        if not whole:
            reason = there[0].trouble if there else "nothing was painted"
            return Answer(item=item.id, error=reason)
        files = tuple(f"{PICTURES}/{painted.file}" for painted in whole)
        if self._judge is None:
            return Answer(item=item.id, files=files)
        try:
            verdicts: list[JudgeVerdict | None] = []
            for painted in whole:
                here = replace(painted, file=str(kept.folder / painted.file))
                verdicts.append(self._judge.look(item, here, kept.open(painted)))
        except DataError as error:
            return Answer(item=item.id, files=files, error=error.message)
        from gnomon.paint.judges.trials import vote

        return replace(vote(item, whole, verdicts), files=files)

    def _unfit(self, item: Item) -> str:
        """Why an item cannot be painted and judged; empty if it can."""
        if not prompt_of(item):
            return "there is nothing to paint: the prompt is empty"
        if len(prompt_of(item)) > LONGEST_PROMPT:
            return f"the prompt is longer than {LONGEST_PROMPT:,} characters"
        if self._judge is None:
            return ""
        if item.form == "scene" and not item.choices:
            return "the scene has no choices to judge by"
        asks = getattr(self._judge, "asks", False)
        if not asks and (item.form != "scene" or records.asked_of(item) is None):
            return "boxes judge scenes that name two things"
        return ""

    def _keeper(self) -> Pictures:
        """Where pictures are kept: in the run's folder, or as long as this model is open."""
        if self._kept is None:
            self._lent = TemporaryDirectory(prefix="gnomon-pictures-")
            self._kept = Pictures(Path(self._lent.name))
        return self._kept

    def _let_go(self) -> None:
        if self._lent is not None:
            self._lent.cleanup()
        self._kept = self._lent = None


def prompt_of(item: Item) -> str:
    """What is painted for an item: a scene as it is, a question by the scene that it is about.

    >>> prompt_of(Item(id="1", form="choice", context="A man drives the car.",
    ...                text="Is the man inside the car?", choices=("yes", "no"), gold=("yes",)))
    'A man drives the car.'
    """
    if item.form == "scene":
        return item.text.strip()
    return (item.tags.get("scene") or item.context or item.text).strip()


def _remedy(item: Item) -> str:
    if item.form == "scene":
        return "Give its items the tags thing_a and thing_b, and choices."
    return (
        "Ask for scenes with --set form=scene, or let a model that sees judge: "
        "--set judge=vqa:MODEL."
    )
