"""Dataset folders as Hugging Face keeps them: data files by split, with a card, or save_to_disk.

Only data files are opened; scripts and pickles that lie beside them are not even read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gnomon.errors import DataError, UsageError
from gnomon.items.rows import READERS, Row, read_files, split_of

ENDINGS = tuple(READERS.keys() - {".json", ".txt", ".eval"})  # these lie beside the data
PREFERRED = ("test", "validation", "valid", "val", "dev")  # splits that are for asking
MOST_FILES = 10_000
CARD = "README.md"


def is_dataset(folder: Path) -> bool:
    """Whether a folder holds data files, at most two folders deep."""
    return folder.is_dir() and next(_data_files(folder), None) is not None


def _data_files(folder: Path) -> Iterator[Path]:
    for pattern in ("*", "*/*", "*/*/*"):
        for count, file in enumerate(sorted(folder.glob(pattern))):
            if count > MOST_FILES:
                raise DataError(
                    f"there are more than {MOST_FILES:,} files in it.",
                    "Give one of its folders, or one file.",
                    file=folder,
                )
            cached = file.name.startswith("cache-")  # what Hugging Face's datasets left behind
            ending = file.name.removesuffix(".gz").endswith(ENDINGS)
            if ending and not cached and file.is_file():
                yield file


def splits_in(folder: Path) -> dict[str, list[Path]]:
    """The files of each split; files that name none are of the split ""."""
    root = folder.resolve()
    found: dict[str, list[Path]] = {}
    for file in _data_files(folder):
        if not file.resolve().is_relative_to(root):
            raise DataError("this is a link out of the folder.", "Copy the file here.", file=file)
        split = split_of(file) or split_of(file.parent)
        found.setdefault(split, []).append(file)
    return found


def chosen_split(folder: Path, wanted: str) -> str:
    """The split to ask: as told, the only one, or the one for testing."""
    splits = splits_in(folder)
    if wanted:
        if wanted not in splits:
            raise UsageError(
                f"{folder} has no split '{wanted}'.", f"It has: {', '.join(filter(None, splits))}."
            )
        return wanted
    if len(splits) == 1:
        return next(iter(splits))
    for name in PREFERRED:
        if name in splits:
            return name
    listed = ", ".join(sorted(splits))
    raise UsageError(
        f"{folder} has several splits and none for testing: {listed}.",
        f"Choose one: --split {next(filter(None, sorted(splits)))}",
    )


def files_of_split(folder: Path, split: str) -> list[Path]:
    """The files of a split; those of several configurations cannot be read as one set."""
    files = splits_in(folder).get(split, [])
    if not files:
        raise DataError(
            "there is no data file of that split in it.", "Look at --split.", file=folder
        )
    places = sorted({file.parent for file in files})
    if len(places) > 1:
        listed = ", ".join(place.name for place in places)
        raise DataError(
            f"it holds several sets: {listed}.",
            f"Give the folder of one of them: {places[0]}",
            file=folder,
        )
    return files


def read_all_splits(folder: Path) -> Iterator[tuple[int, Row]]:
    """Number and fields of each row of all splits; a column `split` says of which it is."""
    number = 0
    for split in splits_in(folder):
        for _, row in read_split(folder, split):
            number += 1
            yield number, {"split": split, **row} if split else row


def read_split(folder: Path, split: str) -> Iterator[tuple[int, Row]]:
    """Number and fields of each row of a split."""
    return read_files(files_of_split(folder, split))
