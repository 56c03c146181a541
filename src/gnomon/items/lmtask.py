"""lm-eval tasks of the multiple-choice kind, as a YAML file that names local data.

Texts and choices are fields or simple Jinja templates. Whatever would run code (`!function`, task
classes) or needs the network is refused with a sentence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from gnomon.errors import DataError
from gnomon.items import rows, values
from gnomon.items.shapes import Row
from gnomon.items.templates import TemplateError, render
from gnomon.records import Item, digest, problem
from gnomon.yamlnodes import Node, read_document

ENDINGS = (".yaml", ".yml")
LARGEST = 2**18  # bytes of a task's YAML
KINDS = ("multiple_choice",)
MOST_INCLUDES = 5
LOADERS = ("json", "csv", "parquet", "arrow")  # what dataset_path names beside data_files
REFUSED = {
    "class": "it names a class",
    "process_docs": "process_docs is code",
    "process_results": "process_results is code",
    "custom_dataset": "custom_dataset is code",
    "use_prompt": "use_prompt names a prompt of promptsource",
    "group": "it is a group of tasks",
}
CODE = "!function"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")  # of a choice
PROMPT = "verbatim"  # the task's own words, and nothing else


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is used of a task's YAML."""

    doc_to_text: str | int
    doc_to_choice: str | list[Any] | dict[str, Any]
    doc_to_target: str | int | list[Any]
    task: str | list[Any] = ""
    dataset_path: str = ""
    dataset_name: str | None = None
    dataset_kwargs: dict[str, Any] | None = None
    output_type: str = "generate_until"
    test_split: str | None = None
    validation_split: str | None = None
    training_split: str | None = None
    description: str = ""
    target_delimiter: str = " "
    num_fewshot: int | None = None


def is_task_file(spec: str) -> bool:
    """Whether a YAML file is a task of lm-eval: it says how to make a text of a document."""
    path = Path(spec)
    if path.suffix not in ENDINGS or not path.is_file():
        return False
    written = path.stat()
    return _is_task(path, written.st_mtime_ns, written.st_size)


@lru_cache(maxsize=256)
def _is_task(path: Path, written: int, size: int) -> bool:
    """The same, looked up once as long as the file stays as it is."""
    try:
        raw = _parsed(path)
    except DataError:
        return False
    return isinstance(raw, dict) and ("doc_to_text" in raw or "output_type" in raw)


def read_task(path: Path) -> Task:
    """The task of a YAML file."""
    raw = _with_includes(path, path, 0)
    for name, reason in REFUSED.items():
        if raw.get(name):
            raise _refused(path, f"{reason}, and Gnomon runs no code of strangers")
    for name, value in raw.items():
        if isinstance(value, Node):
            raise _refused(path, f"{name} is the function {value.text}, and Gnomon runs no code")
    kind = raw.get("output_type", "generate_until")
    if kind not in KINDS:
        raise _refused(path, f"its output_type is {kind}, not multiple_choice")
    try:
        found = msgspec.convert(raw, Task)
    except msgspec.ValidationError as error:
        raise _refused(path, f"it is not a whole task: {error}") from None
    if found.num_fewshot:
        raise _refused(
            path,
            f"it shows {found.num_fewshot} worked examples: set num_fewshot: 0 and use --shots",
        )
    return found


def _refused(path: Path, reason: str) -> DataError:
    return DataError(
        f"this lm-eval task cannot be asked here: {reason}.",
        "Give a task with output_type: multiple_choice, local data_files, and doc_to_text, "
        "doc_to_choice and doc_to_target as fields or templates; or its data with --map.",
        file=path,
    )


def _parsed(path: Path) -> Any:
    """Plain data; what would be code stays a node."""
    return read_document(path, limit=LARGEST, tags=[CODE]).plain()


def _with_includes(path: Path, file: Path, depth: int) -> dict[str, Any]:
    """The fields of a task's YAML and of those that it includes, from its own folder."""
    raw = _parsed(file)
    if not isinstance(raw, dict):
        raise _refused(path, "it is not a list of fields")
    include = raw.pop("include", None)
    if include is None:
        return raw
    other = (file.parent / str(include)).resolve()
    if depth == MOST_INCLUDES or not other.is_relative_to(path.parent.resolve()):
        raise _refused(path, f"it includes '{include}', which is not in its folder")
    return {**_with_includes(path, other, depth + 1), **raw}


def rows_of_task(path: Path, task: Task, split: str) -> Iterator[tuple[int, Row]]:
    """The documents of a split of the task's data."""
    wanted = split or task.test_split or task.validation_split or task.training_split or ""
    files = (task.dataset_kwargs or {}).get("data_files")
    if files is not None:
        yield from rows.read_files(_named_files(path, files, wanted))
        return
    place = _local_data(path, task.dataset_path)
    if place is None:
        raise _refused(path, f"its data '{task.dataset_path}' are not in the task's folder")
    if place.is_file():
        yield from rows.read_rows(place)
    else:
        yield from rows.read_split(place, rows.chosen_split(place, wanted))


def _local_data(path: Path, name: str) -> Path | None:
    """The file or folder of data in its own folder that a task names, if it is there."""
    if not name or name in LOADERS:
        return None
    for place in _places(path, path.parent / name, Path(name)):
        if place.is_file() or rows.is_dataset(place):
            return place
    return None


def _places(path: Path, *places: Path) -> list[Path]:
    """Those places that lie in the task's folder: no task may have other files of the user read."""
    folder = path.parent.resolve()
    return [place for place in places if place.resolve().is_relative_to(folder)]


def _named_files(path: Path, given: Any, split: str) -> list[Path]:
    names = given
    if isinstance(given, dict):
        if split not in given:
            listed = ", ".join(map(str, given))
            raise _refused(path, f"its data_files have no split '{split}', only {listed}")
        names = given[split]
    names = values.as_list(names)
    if not all(isinstance(name, str) for name in names):
        raise _refused(path, "its data_files are neither a path nor a list of paths")
    of_split = [name for name in names if rows.split_of(Path(name)) == split]
    return [_found(path, name) for name in of_split or names]


def _found(path: Path, name: str) -> Path:
    """A data file: where the task says it is, or beside the task if the folder was moved."""
    for place in _places(path, path.parent / name, Path(name), path.parent / Path(name).name):
        if place.is_file():
            return place
    raise _refused(path, f"its data file '{name}' is not in the task's folder")


def task_item(task: Task, row: Row, number: int) -> Item:
    """One document as an item whose text is what lm-eval shows, up to the answer."""
    try:
        text = task.description + _text(task.doc_to_text, row) + task.target_delimiter
        choices = _choices(task.doc_to_choice, row)
        target = _field(task.doc_to_target, row)
    except TemplateError as error:
        raise values.OddCellError(error.message.rstrip(".")) from None
    space = _shared_space(choices.texts)
    texts = tuple(choice[len(space) :] for choice in choices.texts)
    gold = _gold(target, values.Choices(texts))
    identity = values.scalar(row.get("id"))
    item = Item(
        id=identity or digest(text, *texts, str(number)),
        form="choice",
        text=text + space,
        choices=texts,
        gold=gold,
        group=values.scalar(row.get("group")) or "",
        tags=_tags(row),
    )
    wrong = problem(item)
    if wrong:
        raise values.OddCellError(wrong)
    return item


def _tags(row: Row) -> dict[str, str]:
    given = row.get("tags")
    if isinstance(given, str):  # as `gnomon make` writes them
        given = values.literal(given)
    if not isinstance(given, dict):
        return {}
    texts = ((str(name), values.scalar(value)) for name, value in given.items())
    return {name: text for name, text in texts if text}


def _text(given: str | int, row: Row) -> str:
    """What is asked, as it is written: digits are not a number here."""
    if not isinstance(given, str):
        return str(given)
    return str(row[given]) if given in row else render(given, row)


def _field(given: Any, row: Row) -> Any:
    """What a field or template of a task gives; a text that is a number or a list is that."""
    if not isinstance(given, str):
        return given
    if given in row:
        return row[given]
    text = render(given, row)
    if _NUMBER.fullmatch(text):
        return int(text)
    if text.startswith("[") and text.endswith("]"):
        return values.literal(text)
    return text


def _choices(given: Any, row: Row) -> values.Choices:
    if isinstance(given, dict):
        return values.as_choices(list(given.values()))
    return values.as_choices(_field(given, row))


def _shared_space(choices: tuple[str, ...]) -> str:
    """The space that all choices begin with: it belongs to the text before them."""
    if all(choice.startswith(" ") for choice in choices):
        return " "
    return ""


def _gold(target: Any, choices: values.Choices) -> tuple[str, ...]:
    return tuple(_meant(each, choices) for each in values.as_list(target))


def _meant(target: Any, choices: values.Choices) -> str:
    """The choice that a target means: a number counts from 0, a text is that of the choice."""
    found = None
    if isinstance(target, int):
        found = values.by_number(target, choices, 0)
    elif isinstance(target, str):
        found = values.by_text(target.removeprefix(" "), choices)
    if found is None:
        told = repr(str(target)[:80])
        raise values.OddCellError(f"the target {told} is not one of the choices, nor its number")
    return found
