"""What people can be asked, and the run of one person."""

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon import __version__
from gnomon.errors import DataError, RunError, UsageError
from gnomon.forms import is_right
from gnomon.items.limits import spread
from gnomon.items.source import ItemSource
from gnomon.paint.records import PAINTED, PICTURE
from gnomon.people import tasks
from gnomon.people.order import AskedSlot, Extra, Extras, slots_for
from gnomon.people.tasks import AnnotationTask, ReadResponse, ResponseError
from gnomon.records import Answer, Fingerprint, Image, Item, digest
from gnomon.runs import MANIFEST, PICTURES, Manifest, Run, RunLog

# Pictures as people see them: pixels and nothing else that a file may hold.
#
# A rendered picture holds its scene, and a name or comment may hold the answer: neither is sent.


LONGER_SIDE = 1280  # pixels
QUALITY = 88
AT_HAND = 200  # pictures that are kept, of about 0.3 MB each


def check_picture(image: Image) -> Image:
    """The picture as it is; one that is not there, or not the one asked about, is refused."""
    from gnomon.vision.images import describe

    if "://" in image.path:
        raise DataError(
            f"The picture {image.path} is not on this machine.",
            "Fetch the pictures, and make the items with the folder that holds them (--images).",
        )
    found = describe(image.path)
    if image.sha256 and found.sha256 != image.sha256:
        raise DataError(
            "the picture is not the one that the items were made with.",
            "Restore the file from a copy.",
            file=image.path,
        )
    return found


def shown_picture(image: Image) -> bytes:
    """The picture as a JPEG file that holds pixels and nothing else; the latest are at hand."""
    found = check_picture(image)
    return _plain_jpeg(found.path, found.sha256)


@lru_cache(maxsize=AT_HAND)
def _plain_jpeg(path: str, sha256: str) -> bytes:
    from gnomon.vision.images import decode

    pixels = decode(path)
    pixels.thumbnail((LONGER_SIDE, LONGER_SIDE))
    pixels.info.clear()
    out = BytesIO()
    pixels.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


SCHEME = "people"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
SKIPPED = "skipped: "
LONGEST_COMMENT = 2000  # characters


class AskedItems(NamedTuple):
    """What people are asked: a set of items, and what it is called."""

    name: str  # NAME@SOURCE
    options: dict[str, Any]
    limit: int | None
    items: tuple[Item, ...]


class PersonSettings(NamedTuple):
    """How the items are put to each person."""

    task: AnnotationTask
    seed: int = 0
    repeat: int = 0
    catch: tuple[Item, ...] = ()

    def describe(self) -> dict[str, Any]:
        """What determines a person's answers, for the manifest."""
        return {
            "task": self.task.kind,
            "task_sha256": self.task.sha256,
            "seed": self.seed,
            "repeat": self.repeat,
            "catch": len(self.catch),
            "catch_sha256": _digest_of(self.catch),
        }


class SentResponse(NamedTuple):
    """A response as a person gave it."""

    response: Mapping[str, str]
    skipped: str = ""
    comment: str = ""
    seconds: float | None = None
    at: datetime | None = None  # now, where it is not said


class PersonRun:
    """The run of one person, for writing. One thread uses it: the one that opened it."""

    def __init__(
        self, log: RunLog, manifest: Manifest, slots: tuple[AskedSlot, ...], task: AnnotationTask
    ) -> None:
        self.person = manifest.model.partition(":")[2]
        self.slots = slots
        self.task = task
        self._log = log
        self._manifest = manifest
        self._places = {slot.key: place for place, slot in enumerate(slots)}
        self._extras = Extras(log.path)
        self._log_lost_answers()

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self._log.path

    @property
    def given(self) -> Mapping[str, Extra]:
        """The last response to each slot that has one."""
        return self._extras.last

    def keep(self, slot: AskedSlot, response: Mapping[str, str], **how: Any) -> Extra:
        """Keep a response for good; it replaces an earlier one to the same slot.

        What else is known of it has the names of SentResponse: skipped, comment, seconds, at.
        """
        sent = SentResponse(response, **how)
        if sent.skipped and sent.skipped not in self.task.skip:
            raise ResponseError("Please choose why you skip the item.")
        if len(sent.comment) > LONGEST_COMMENT:
            raise ResponseError(
                f"The comment is too long: it may have {LONGEST_COMMENT:,} characters.",
                "Shorten it. Nothing else of your work is lost.",
            )
        right = None
        chosen: dict[str, str] = {}
        if not sent.skipped:
            chosen = self.checked(slot, sent.response)
            said = tasks.read_response(self.task, slot.item, chosen)
            right = is_right(slot.item, said.choice) if slot.kind == "catch" else None
        extra = Extra(
            slot=slot.key,
            kind=slot.kind,
            item=slot.item.id,
            place=self._places[slot.key],
            response=chosen,
            skipped=sent.skipped,
            comment=sent.comment,
            seconds=sent.seconds,
            at=sent.at or datetime.now(UTC),
            right=right,
        )
        self._extras.add(extra)
        self._log_answer(slot, extra)
        return extra

    def checked(self, slot: AskedSlot, response: Mapping[str, str]) -> dict[str, str]:
        """What of a response answers the question; whatever else was sent is left out."""
        return tasks.checked_response(tasks.question_of(self.task, slot.item), response)

    def close(self) -> None:
        """Bring the manifest up to date and let others in."""
        self._extras.close()
        self._log_lost_answers()
        self._update_manifest()
        self._log.close()

    def _log_answer(self, slot: AskedSlot, extra: Extra) -> None:
        if slot.kind != "item":
            return
        answer = answer_of(self.task, slot.item, extra)
        self._log.add_answers([(slot.number, answer)], replacing=True)
        if self._manifest.finished is None and not self._log.pending(-1, 1):
            self._update_manifest()

    def _log_lost_answers(self) -> None:
        """Log what was written down but not logged: the process ended, or the disk was full."""
        logged = {item.id: answer for item, answer in Run.open(self.folder).answers()}
        for slot in self.slots:
            extra = self.given.get(slot.key)
            if extra is None or slot.kind != "item":
                continue
            answer = answer_of(self.task, slot.item, extra)
            if logged.get(slot.item.id) != answer:
                self._log.add_answers([(slot.number, answer)], replacing=True)

    def _update_manifest(self) -> None:
        if self._manifest.finished is None and not self._log.pending(-1, 1):
            self._manifest.finished = datetime.now(UTC)
        self._manifest.counts = self._log.counts()
        self._log.write_manifest(self._manifest)


def answer_of(task: AnnotationTask, item: Item, extra: Extra) -> Answer:
    """The answer that a response is."""
    rule = f"{SCHEME}/{task.kind}"
    if extra.skipped:
        return Answer(item=item.id, rule=rule, seconds=extra.seconds, error=SKIPPED + extra.skipped)
    said: ReadResponse = tasks.read_response(task, item, extra.response)
    return Answer(
        item=item.id, choice=said.choice, reply=said.reply, rule=rule, seconds=extra.seconds
    )


def check_name(person: str) -> None:
    """Refuse a name that does not fit into an address and a folder."""
    if not NAME.fullmatch(person):
        raise UsageError(
            f"'{person}' cannot be the name of a person here.",
            "Give a pseudonym of at most 40 letters, digits, '.', '-' and '_'.",
        )


def person_folder(asked: AskedItems, person: str, task: AnnotationTask, runs: str | Path) -> Path:
    """Where a person's run lives: the same person, items and kind of task give the same folder."""
    identity = [asked.name, asked.options, asked.limit, task.kind, person]
    key = digest(msgspec.json.encode(identity, order="sorted").decode(), digits=16)
    slug = re.sub(r"[^A-Za-z0-9.@]+", "-", f"{asked.name}--{SCHEME}-{person}--{task.kind}")
    return Path(runs) / f"{slug.strip('-')[:80]}--{key}"


def open_person_run(
    asked: AskedItems, person: str, settings: PersonSettings, runs: str | Path, *, command: str = ""
) -> PersonRun:
    """The run of a person, begun or continued."""
    check_name(person)
    log = RunLog(person_folder(asked, person, settings.task, runs))
    try:
        manifest = _begun_before(log, asked, settings) or _begin(
            log, asked, person, settings, command
        )
        slots = slots_for(
            person,
            asked.items,
            seed=settings.seed,
            repeat=settings.repeat,
            catch=settings.catch,
        )
        return PersonRun(log, manifest, slots, settings.task)
    except BaseException:
        log.discard()
        raise


def _begin(
    log: RunLog, asked: AskedItems, person: str, settings: PersonSettings, command: str
) -> Manifest:
    manifest = Manifest(
        id=log.path.name,
        benchmark=asked.name,
        options=asked.options,
        limit=asked.limit,
        model=f"{SCHEME}:{person}",
        model_description=settings.describe(),
        versions={"gnomon": __version__, "python": platform.python_version()},
        command=command,
        started=datetime.now(UTC),
    )
    log.begin_anew(manifest)
    log.add_items(0, asked.items)
    manifest.items_sha256 = _digest_of(asked.items)
    manifest.counts = log.counts()
    log.write_manifest(manifest)
    return manifest


def _begun_before(log: RunLog, asked: AskedItems, settings: PersonSettings) -> Manifest | None:
    """The manifest of a run to go on with; none if there is none."""
    if not (log.path / MANIFEST).exists():
        return None
    manifest = Run.open(log.path).manifest
    if not manifest.items_sha256:
        return None
    before = manifest.model_description
    now = settings.describe()
    changed = sorted(name for name in now if before.get(name) != now[name])
    if manifest.items_sha256 != _digest_of(asked.items):
        changed = ["items"]
    if changed:
        raise RunError(
            f"{manifest.model} has begun in {log.path} with other settings: {', '.join(changed)}.",
            "Give the same settings as then, or another folder with --runs.",
        )
    return manifest


def _digest_of(items: Sequence[Item]) -> str:
    found = Fingerprint()
    for item in items:
        found.add(item)
    return found.hexdigest()


# What people can be asked: a benchmark, a file of items, or the pictures that a model painted.


def asked_from_source(source: ItemSource) -> AskedItems:
    """The items of a benchmark, or of a file."""
    return _checked(source.name, dict(source.options), source.limit, source.items())


def asked_from_painted(run: Run, limit: int | None = None) -> AskedItems:
    """The pictures that a model painted for the scenes of a run, each an item of its own."""
    from gnomon.paint.model import read_log

    folder = run.path / PICTURES
    painted = read_log(folder)
    if not painted:
        raise RunError(
            f"{run.path} has no painted pictures.", "Give a run of an image-synthesis model."
        )
    most = max(number for _, number in painted)
    items = []
    for item in run.items():
        for number in range(most + 1):
            found = painted.get((item.id, number))
            if found is not None and found.file:
                image = Image(path=str(folder / found.file), sha256=found.sha256)
                # with one picture an item, ids stay those of the scenes
                id = f"{item.id}#{number}" if most else item.id
                tags = {**item.tags, PAINTED: item.id, PICTURE: str(number)}
                items.append(msgspec.structs.replace(item, id=id, tags=tags, images=(image,)))
    if limit is not None:
        items = [items[place] for place in spread(len(items), limit)]
    return _checked(run.benchmark, run.manifest.options, limit, items)


def _checked(
    name: str, options: dict[str, object], limit: int | None, items: Iterable[Item]
) -> AskedItems:
    """The items, whose pictures are all there."""
    found = tuple(items)
    if not found:
        raise DataError(f"{name} has no items.", "Give another file, or other options.")
    for image in {image.path: image for item in found for image in item.images}.values():
        check_picture(image)
    return AskedItems(name, options, limit, found)
