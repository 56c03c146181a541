"""Logs of other programs as runs: the questions, what is right and what was said are in them.

Read are logs of lm-eval and lmms-eval, of Inspect, and tables with a column of predictions, as
VLMEvalKit writes them. Where a log says only whether an answer was right, that is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.files import first_bytes, read_json
from gnomon.fingerprint import sha256_of
from gnomon.grouped import chunks
from gnomon.items.answers import inspect, lmeval
from gnomon.items.answers.answering import answer_of
from gnomon.items.converting import convert, named_picture
from gnomon.items.mapping import ColumnMap, column_names, columns_among, named_columns
from gnomon.items.resolving import refuse, resolve
from gnomon.items.rows import bare_name, raw_rows
from gnomon.items.shapes import (
    Row,
    document_of,
    is_sample_of_inspect,
    is_sample_of_lm_eval,
    question_of_sample,
)
from gnomon.items.values import scalar
from gnomon.records import OUTCOMES, Answer, Fingerprint, Item, Prediction, digest, problem
from gnomon.runs import MANIFEST, Manifest, Run, RunLog

TASK = re.compile(r"samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?")  # as lm-eval names its logs
RIGHT = {"1": True, "0": False, "true": True, "false": False, "c": True, "i": False}
RIGHT |= {"yes": True, "no": False, "1.0": True, "0.0": False, "right": True, "wrong": False}
METRICS = ("acc", "exact_match", "em", "acc_norm")  # of lm-eval, where it does not list its own
READING = "2"  # of logs: a later one makes other runs than those that the cache holds
MOST_EPOCHS = 100_000
SHORT = 100  # characters of a value that becomes a tag
WINDOW = 4096


class LoggedAnswer(NamedTuple):
    """What a log says of one question and one answer to it."""

    item: Item
    answer: Answer
    model: str = ""


class LogFacts(NamedTuple):
    """What a log says of itself: whose answers these are, and to which set of questions."""

    model: str
    task: str = ""


def runs_of_log(file: Path) -> list[Run]:
    """The runs that a log holds, kept in the cache."""
    from gnomon.downloads.catalogue import cache_folder

    return import_log(file, cache_folder() / "logs")


def import_log(file: Path, folder: Path, *, name: str = "", task: str = "") -> list[Run]:
    """The runs that a log holds, one for each model, in folders below `folder`."""
    first_bytes(file, 1)  # pipes and devices are refused unread
    facts = facts_of(file)
    by_model: dict[str, list[LoggedAnswer]] = {}
    for each in logged_answers(file):
        by_model.setdefault(each.model, []).append(each)
    if not by_model:
        raise DataError("there are no answers in it.", "Give a log with samples.", file=file)
    if name and len(by_model) > 1:
        raise UsageError(
            f"{file} holds the answers of {len(by_model)} models.", "Leave out -m NAME."
        )
    runs = []
    for model, answers in by_model.items():
        called = name or model or facts.model
        runs.append(_kept_run(file, folder, called, task or facts.task, answers))
    return runs


def _kept_run(file: Path, folder: Path, name: str, task: str, answers: list[LoggedAnswer]) -> Run:
    items = {each.item.id: each.item for each in answers}
    made = Fingerprint()
    for item in items.values():
        made.add(item)
    benchmark = f"items@{task or 'log-' + digest(*sorted(items), digits=8)}"
    identity = digest(sha256_of(file), name, benchmark, READING, digits=16)
    slug = re.sub(r"[^A-Za-z0-9.@]+", "-", f"{benchmark}--{name}").strip("-")[:80]
    path = folder / f"{slug}--{identity}"
    if (path / MANIFEST).is_file():
        return Run.open(path)
    numbers = {name: number for number, name in enumerate(items)}
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    scored = any(each.answer.scores is not None for each in answers)
    manifest = Manifest(
        id=identity,
        benchmark=benchmark,
        options={"log": file.name},
        items_sha256=made.hexdigest(),
        model=f"log:{name}",
        name=name,
        scale="log-probability" if scored else "none",
        started=written,
        finished=written,
        command=f"gnomon runs import {file.name}",
    )
    with RunLog(path) as log:
        for start, part in enumerate(chunks(items.values(), WINDOW)):
            log.add_items(start * WINDOW, part)
        for some in chunks(answers, WINDOW):
            log.add_answers((numbers[each.item.id], each.answer) for each in some)
        manifest.counts = log.counts()
        log.write_manifest(manifest)
    return Run.open(path)


def logged_answers(file: Path) -> Iterator[LoggedAnswer]:
    """Every question of a log with every answer to it."""
    first = next(raw_rows(file), None)
    if first is None:
        return
    if is_sample_of_lm_eval(first[1]):
        yield from _of_lm_eval(file)
    elif is_sample_of_inspect(first[1]):
        yield from _of_inspect(file)
    else:
        yield from _of_table(file, list(first[1]))


def predictions_by_text(file: Path) -> Iterator[Prediction]:
    """What a table without ids says, each answer by the id that its question has by its text."""
    for number, (item, answer, _) in enumerate(logged_answers(file), start=2):
        if item.choices == OUTCOMES:
            raise DataError(
                "there is no field id, and no row has choices by which its question is known.",
                "Name the item in a column id.",
                file=file,
                line=number,
            )
        yield Prediction(number, item.id, label=answer.choice or "", reply=answer.reply)


# Whose answers these are, by what a log or its path says.


def facts_of(file: Path) -> LogFacts:
    """The model and the task of a log."""
    name = bare_name(file.name)
    match = TASK.fullmatch(Path(name).stem)
    if match:
        return LogFacts(file.absolute().parent.name, match[1])
    about: Any = None
    if name.endswith(".eval"):
        for _, raw in inspect.unpacked(file, "", "start.json"):
            about = _decoded(raw)
    elif name.endswith(".json"):
        about = read_json(file, object)
    spec = about.get("eval") if isinstance(about, dict) else None
    if not isinstance(spec, dict):
        return LogFacts(Path(name).stem)
    task = str(spec.get("task", "")).rpartition("/")[2]
    return LogFacts(str(spec.get("model") or Path(name).stem), task)


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


# lm-eval, and lmms-eval, which follows it.


def _of_lm_eval(file: Path) -> Iterator[LoggedAnswer]:
    """The samples of a log of lm-eval; of several filters the first that is asked for counts."""
    chosen = lmeval.chosen_filter(file, "")
    documents = partial(_documents, file, chosen)
    by_place = _converted(file, documents)
    for line, row in raw_rows(file):
        if row.get("filter", chosen) != chosen:
            continue
        try:
            sample = msgspec.convert(row, lmeval.Sample)
        except msgspec.ValidationError as error:
            raise DataError(f"not a sample: {error}.", file=file, line=line) from None
        said = lmeval.prediction_of(file, line, sample)
        name = scalar(row.get("doc_id")) or str(line)
        item = _with_choices(name, sample.doc, said, row.get("target")) or by_place.get(line)
        yield _answered(file, item, said, _metric(row), name, _told(sample.doc))


def _documents(file: Path, chosen: str) -> Iterator[tuple[int, Row]]:
    for line, row in raw_rows(file):
        if row.get("filter", chosen) == chosen and is_sample_of_lm_eval(row):
            yield line, {**document_of(row), "doc_id": row.get("doc_id")}


def _with_choices(name: str, doc: Row, said: Prediction, target: Any) -> Item | None:
    """The item of a multiple-choice sample, whose target is the place or the text of a choice."""
    if not said.choices or said.scores is None:
        return None
    choices = tuple(said.choices)
    text = scalar(target)
    if text is not None and text.strip() not in choices and text.isdecimal():
        place = int(text[:9])
        text = choices[place] if place < len(choices) else None
    gold = (text.strip(),) if text is not None else ()
    return _sound(name, doc, choices, gold)


def _sound(name: str, doc: Row, choices: tuple[str, ...], gold: tuple[str, ...]) -> Item | None:
    """An item, if it can be one."""
    tags = {}
    for key, value in doc.items():
        text = scalar(value)
        if text and len(text) <= SHORT:
            tags[key] = text
    item = Item(id=name, form="choice", text=_told(doc), choices=choices, gold=gold, tags=tags)
    return None if problem(item) else item


def _told(doc: Row) -> str:
    """The question of a document, whatever it is called; without a usual name the whole of it."""
    known = column_names()
    by_name = named_columns(doc)
    parts = []
    for what in ("context", "text"):
        names = columns_among(by_name, (*known.usual[what], *known.seldom[what]))
        parts += [value for value in (doc[name] for name in names[:1]) if isinstance(value, str)]
    if parts:
        return "\n".join(parts)
    return msgspec.json.encode(doc, order="sorted").decode()


def _metric(row: Row) -> Any:
    """Whether lm-eval counted a sample as right, by the first measure that says so."""
    names = row.get("metrics")
    for name in (*(names if isinstance(names, list) else ()), *METRICS):
        if isinstance(row.get(name), int | float):
            return row[name]
    return None


# Inspect, with all epochs.


def _of_inspect(file: Path) -> Iterator[LoggedAnswer]:
    questions = partial(_questions, file)
    by_place = _converted(file, questions)
    for line, row in raw_rows(file):
        try:
            sample = msgspec.convert(row, inspect.Sample)
        except msgspec.ValidationError as error:
            raise DataError(f"not a sample: {error}.", file=file, line=line) from None
        name = str(sample.id)
        said = inspect.prediction_of(line, sample)
        item = by_place.get(line)
        if item is not None and item.id != name:
            item = msgspec.structs.replace(item, id=name)
        outcome = inspect.outcome_of(row)
        found = _answered(file, item, said, outcome, name, question_of_sample(row).get("input", ""))
        epoch = min(max(1, sample.epoch), MOST_EPOCHS)
        answer = msgspec.structs.replace(found.answer, sample=epoch - 1)
        yield found._replace(answer=answer)


def _questions(file: Path) -> Iterator[tuple[int, Row]]:
    for line, row in raw_rows(file):
        if is_sample_of_inspect(row):
            yield line, question_of_sample(row)


# Tables: VLMEvalKit's, or any with a column of predictions or of what was right.


def _of_table(file: Path, columns: list[str]) -> Iterator[LoggedAnswer]:
    logs = column_names().logs
    by_name = named_columns(columns)
    replies = columns_among(by_name, logs["reply"])
    flags = columns_among(by_name, logs["correct"])
    models = columns_among(by_name, logs["model"])[:1]
    if not replies and not flags:
        raise DataError(
            "no column holds what a model said or whether it was right.",
            f"Call it prediction, or correct. The columns are: {', '.join(columns)}.",
            file=file,
        )
    if len(replies) > 1:
        raise DataError(
            f"several columns could be the answer: {', '.join(replies)}.",
            "Keep one of them.",
            file=file,
        )
    own = {*replies, *models, *flags}
    without = partial(_without, file, own)
    by_place = _converted(file, without) if replies else {}
    ids = columns_among(by_name, (*column_names().usual["id"], *column_names().seldom["id"]))
    for line, row in raw_rows(file):
        reply = scalar(row.get(replies[0])) if replies else None
        name = (scalar(row.get(ids[0])) if ids else None) or str(line)
        item = by_place.get(line)
        said = Prediction(line, name, reply=reply or "", choices=item.choices if item else None)
        outcome = row.get(flags[0]) if flags else None
        model = (scalar(row.get(models[0])) or "") if models else ""
        yield _answered(file, item, said, outcome, name, _told(_dropped(row, own)), model)


def _without(file: Path, own: set[str]) -> Iterator[tuple[int, Row]]:
    for line, row in raw_rows(file):
        yield line, _dropped(row, own)


def _dropped(row: Row, own: Iterable[str]) -> Row:
    return {name: value for name, value in row.items() if name not in own}


# What all have in common.


def _converted(file: Path, rows: Any) -> Mapping[int, Item]:
    """The items of rows by their lines, if the rows have choices; nothing if they have none."""
    try:
        mapping = resolve(file, rows, ColumnMap(), {}, refuse(file))
        found = convert(rows(), mapping, named_picture, tell=refuse(file))
        return {line: item for line, item, _ in found if item.choices}
    except GnomonError:  # one row without choices that are known, and no row has any
        return {}


def _answered(
    file: Path,
    item: Item | None,
    said: Prediction,
    outcome: Any,
    name: str,
    text: str,
    model: str = "",
) -> LoggedAnswer:
    """The answer to an item; where there is none to choose from, whether it was right."""
    if item is not None:
        return LoggedAnswer(item, answer_of(item, said, file), model)
    shown = Item(id=name, form="choice", text=text or name, choices=OUTCOMES, gold=OUTCOMES[:1])
    if said.error:
        return LoggedAnswer(shown, Answer(item=name, error=said.error), model)
    right = RIGHT.get((scalar(outcome) or "").strip().lower())
    if right is None:
        raise DataError(
            "the question has no choices that are known, and nothing says whether the answer was "
            f"right ({scalar(outcome) or 'no value'}).",
            "Add a column correct with 1 or 0, or columns of choices and of what is right.",
            file=file,
            line=said.line,
        )
    choice = OUTCOMES[0] if right else OUTCOMES[1]
    return LoggedAnswer(shown, Answer(item=name, choice=choice, reply=said.reply or None), model)
