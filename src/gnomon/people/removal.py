"""Forgetting a person: their runs, and what was made from their answers, as far as that is known.

What was made carries the person's name: items with their vote or by their hand, pages that show
their run. Runs on such items depend on them in turn.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import GnomonError, MissingExtraError
from gnomon.items.itemfiles import is_item_file, read_items
from gnomon.people.validation import AGAIN, VOTE
from gnomon.people.votes import SCHEME, person_of
from gnomon.runs import Run, survey

DEEPEST = 2  # folders below those that are looked into
BLOCK = 2**20  # bytes that are read at a time
LARGEST = 2**30  # bytes of a file that is looked into
PACKED = ".parquet"  # the ending of files in which no text can be searched
PAGE = ".html"
VOTES, CAPTIONS = "items with their votes", "captions that they wrote"


class KnownPerson(NamedTuple):
    """What is here of a person."""

    name: str
    runs: list[Run]

    @property
    def answers(self) -> int:
        """How many items they answered."""
        return sum(run.counts().answered for run in self.runs)


class Dependent(NamedTuple):
    """Something that a person's answers went into."""

    path: Path
    what: str  # in words


def people_in(folder: str | Path) -> list[KnownPerson]:
    """The people who have runs in a folder, by name."""
    found: dict[str, list[Run]] = {}
    for run in survey(folder).runs:
        name = person_of(run.model)
        if name:
            found.setdefault(name, []).append(run)
    return [KnownPerson(name, runs) for name, runs in sorted(found.items())]


def dependents_of(name: str, runs: str | Path, folders: Iterable[str | Path]) -> list[Dependent]:
    """What in some folders depends on a person's answers: files that name them, and then runs."""
    files = []
    for path in _files_in(folders):
        what = _depends(path, name)
        if what:
            files.append(Dependent(path, what))
    return [*files, *_runs_on(files, runs)]


def _depends(path: Path, name: str) -> str:
    """In which way a file holds a person's answers; empty if it does not."""
    if path.suffix == PACKED:
        return _depends_packed(path, name)
    tag = f"{VOTE}{name}"
    traces = {  # a tag of JSON, and one in a cell of CSV, where quotes are doubled
        VOTES: [f'"{tag}"', f'"{tag}{AGAIN}'],
        CAPTIONS: [f'"annotator":"{name}"', f'""annotator"":""{name}""'],
    }
    if path.suffix == PAGE:  # with what stands behind a name, so that ann is not found in anna
        traces = {"a page that shows them": [f"{SCHEME}{name}{end}" for end in "<\"'& ,;)\\\n"]}
    for what, texts in traces.items():
        if _holds(path, texts):
            return what
    return ""


def _depends_packed(path: Path, name: str) -> str:
    """The same of a file whose text is packed: its items are read one by one."""
    vote = f"{VOTE}{name}"
    try:
        for item in read_items(path):
            if any(tag == vote or tag.startswith(vote + AGAIN) for tag in item.tags):
                return VOTES
            if item.tags.get("annotator") == name:
                return CAPTIONS
    except MissingExtraError:
        return "perhaps: it cannot be read without gnomon[parquet]"
    except (GnomonError, OSError):  # what cannot be read cannot be told
        return ""
    return ""


def _holds(path: Path, texts: Sequence[str]) -> bool:
    wanted = [text.encode() for text in texts]
    overlap = max(map(len, wanted)) - 1
    try:
        if path.stat().st_size > LARGEST:
            return False
        with path.open("rb") as stream:
            kept = b""
            while block := stream.read(BLOCK):
                window = kept + block
                if any(text in window for text in wanted):
                    return True
                kept = window[-overlap:]
    except OSError:  # what cannot be read cannot be told
        return False
    return False


def _files_in(folders: Iterable[str | Path]) -> Iterator[Path]:
    """Files of items and pages in folders and just below, each once."""
    seen = set()
    for folder in folders:
        for path in _below(Path(folder), DEEPEST):
            is_wanted = path.suffix == PAGE or is_item_file(path.name)
            if is_wanted and path.resolve() not in seen:
                seen.add(path.resolve())
                yield path


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_file():
            yield path
        elif depth:
            yield from _below(path, depth - 1)


def _runs_on(files: Sequence[Dependent], runs: str | Path) -> Iterator[Dependent]:
    """Runs that asked the items of such files."""
    made = {dependent.path.resolve() for dependent in files}
    for run in survey(runs).runs:
        file = run.manifest.options.get("file")
        if isinstance(file, str) and Path(file).resolve() in made:
            yield Dependent(run.path, f"a run of {run.model} on such items")
