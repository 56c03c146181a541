"""Logs of other programs as runs: the questions, what is right and what was said are in them.

Each program has a reader from its file to LogRows; all that follows is the same for all. Where a
log says only whether an answer was right, that is kept.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import AnswerFileWarning, DataError, GnomonError, UsageError
from gnomon.files import first_bytes, read_json
from gnomon.fingerprint import sha256_of
from gnomon.grouped import chunks
from gnomon.items.answers import helm, inspect, lmeval, own
from gnomon.items.answers.answering import answer_of
from gnomon.items.converting import convert, named_picture
from gnomon.items.mapping import ColumnMap, question_text
from gnomon.items.resolving import refuse, resolve
from gnomon.items.rows import LOOKED_AT, bare_name, raw_rows
from gnomon.items.shapes import LogRow, Row, log_shape
from gnomon.items.values import NLI, Choices, by_text, read_gold, scalar
from gnomon.records import OUTCOMES, Answer, Fingerprint, Item, Prediction, digest
from gnomon.runs import MANIFEST, Manifest, Run, RunLog

MOST_SAMPLES = 100_000  # of one question: a log may claim any number
# As lm-eval names its logs, with the date at the end, and lmms-eval, with the date before it.
TASK = re.compile(r"(?:\d{8}_\d{6}_)?samples_(.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?")
RIGHT = {"1": True, "0": False, "true": True, "false": False, "c": True, "i": False}
RIGHT |= {"yes": True, "no": False, "1.0": True, "0.0": False, "right": True, "wrong": False}
READING = "4"  # of logs: a later one makes other runs than those that the cache holds
WINDOW = 4096
LONGEST_STATUS = 40  # characters
OF_HELM = ("scenario_state", "display_predictions", "per_instance_stats")
READERS: dict[str, Callable[[Path], Iterator[LogRow]]] = {
    "lm-eval": lmeval.log_rows,
    "inspect": inspect.log_rows,
    "helm": helm.log_rows_of_helm,
    "evalscope": helm.log_rows_of_evalscope,
    "": own.log_rows,  # tables
}


class LoggedAnswer(NamedTuple):
    """What a log says of one question and one answer to it."""

    item: Item
    answer: Answer
    model: str = ""
    filter: str = ""


class LogFacts(NamedTuple):
    """What a log says of itself: whose answers these are, and to which set of questions."""

    model: str
    task: str = ""
    status: str = ""  # of a log that says whether its run went well


def runs_of_log(file: Path) -> list[Run]:
    """The runs that a log holds, kept in the cache."""
    from gnomon.downloads.catalogue import cache_folder

    return import_log(file, cache_folder() / "logs")


def import_log(file: Path, folder: Path, *, name: str = "", task: str = "") -> list[Run]:
    """The runs that a log holds, one for each model, in folders below `folder`."""
    if file.exists():
        first_bytes(file, 1)  # pipes and devices are refused unread
    facts = facts_of(file)
    if facts.status not in ("", "success"):
        warnings.warn(
            f"{file.name}: the log says that its run did not end well (status {facts.status}): it "
            "may hold some of the answers only.",
            AnswerFileWarning,
            stacklevel=2,
        )
    by_model: dict[tuple[str, str], list[LoggedAnswer]] = {}
    for each in logged_answers(file):
        by_model.setdefault((each.model, each.filter), []).append(each)
    if not by_model:
        raise DataError("there are no answers in it.", "Give a log with samples.", file=file)
    models = {model for model, _ in by_model}
    if name and len(models) > 1:
        raise UsageError(f"{file} holds the answers of {len(models)} models.", "Leave out -m NAME.")
    runs = []
    for (model, filter), answers in by_model.items():
        called = name or model or facts.model
        if filter:
            called += f" ({filter})"
        runs.append(_kept_run(file, folder, called, task or facts.task, answers))
    return runs


def _kept_run(file: Path, folder: Path, name: str, task: str, answers: list[LoggedAnswer]) -> Run:
    items: dict[str, Item] = {}
    for each in answers:
        before = items.setdefault(each.item.id, each.item)
        if _question_of(before) != _question_of(each.item):
            raise DataError(
                f"the id '{each.item.id[:80]}' names two questions, or one with two right answers: "
                f"{before.text[:60]!r} and {each.item.text[:60]!r}.",
                "Give each question an id of its own.",
                file=file,
            )
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


def _question_of(item: Item) -> tuple[str, str, list[str], list[str]]:
    """What is asked, and what is right, in whatever order the choices stand."""
    return item.context, item.text, sorted(item.choices), sorted(item.gold)


def logged_answers(file: Path) -> Iterator[LoggedAnswer]:
    """Every question of a log with every answer to it."""
    shapes = [log_shape(row) for _, row in islice(raw_rows(file), LOOKED_AT)]
    if not shapes:
        return
    shape = next(filter(None, shapes), "")  # the first sample may lack what the others have
    log_rows = partial(READERS[shape], file)
    asked = _converted(file, log_rows)
    samples: dict[tuple[str, str, str], set[int]] = {}
    for row in log_rows():
        found = _answered(file, row, asked)
        sample = min(max(0, row.sample), MOST_SAMPLES)
        taken = samples.setdefault((row.model, row.filter, found.item.id), set())
        if sample in taken:  # rows of one question without numbers are several answers to it
            sample = len(taken)
        taken.add(sample)
        answer = msgspec.structs.replace(found.answer, sample=sample)
        yield found._replace(answer=answer, filter=row.filter)


def predictions_by_text(file: Path) -> Iterator[Prediction]:
    """What a table without ids says, each answer by the id that its question has by its text."""
    for number, (item, answer, *_) in enumerate(logged_answers(file), start=2):
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
    stem = Path(name).stem
    above = file.absolute().parent
    match = TASK.fullmatch(stem)
    if match:
        return LogFacts(above.name, match[1])
    if above.parent.name == "reviews":  # of evalscope
        return LogFacts(above.name, stem)
    if stem in OF_HELM:
        return _facts_of_helm(above.name)
    about: Any = None
    if name.endswith(".eval"):
        about = {"status": "started"}  # until the header says how it ended
        for _, raw in inspect.unpacked(file, "", ("start.json", "header.json")):
            part = _decoded(raw)
            about |= part if isinstance(part, dict) else {}
    elif name.endswith(".json"):
        about = read_json(file, object)
    spec = about.get("eval") if isinstance(about, dict) else None
    if not isinstance(spec, dict):
        return LogFacts(stem)
    task = str(spec.get("task", "")).rpartition("/")[2]
    status = str(about.get("status", ""))[:LONGEST_STATUS]
    return LogFacts(str(spec.get("model") or stem), task, status)


def _facts_of_helm(folder: str) -> LogFacts:
    """The folder of a run is named SCENARIO:KEY=VALUE,KEY=VALUE, of which one is the model.

    >>> _facts_of_helm("mmlu:subject=anatomy,model=openai_gpt2")
    LogFacts(model='openai_gpt2', task='mmlu:subject=anatomy', status='')
    """
    parts = folder.split(",")
    models = [part for part in parts if re.search(r"(^|:)model=", part)]
    if not models:
        return LogFacts(folder)
    before, _, model = models[0].partition("model=")
    others = [part for part in parts if part not in models]
    return LogFacts(model, ",".join(filter(None, (before.rstrip(":"), *others))))


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


# What all have in common.


class LoggedQuestion(NamedTuple):
    """The questions of a log's rows as items by their lines, or why they are none."""

    items: Mapping[int, Item]
    gold_is: str = ""  # how the rows name right answers
    refusal: str = ""


def _converted(file: Path, log_rows: Callable[[], Iterator[LogRow]]) -> LoggedQuestion:
    """The items of rows that have choices; none if one of them has not."""

    def open_rows() -> Iterator[LogRow]:
        return (row for row in log_rows() if row.item is None)

    def questions() -> Iterator[tuple[int, Row]]:
        for row in open_rows():
            yield row.said.line, row.question

    first = next(open_rows(), None)
    if first is None:
        return LoggedQuestion({})
    try:
        mapping = resolve(file, questions, ColumnMap(), {}, refuse(file))
        few = len(mapping.labels) <= 2 or mapping.labels == NLI
        if first.outcome is not None and not few:
            return LoggedQuestion(
                {}
            )  # answers that recur are no choices where the program says it was right
        found = convert(questions(), mapping, named_picture, tell=refuse(file), numbered=False)
        items = {line: item for line, item, _ in found if item.choices}
    except GnomonError as error:  # one row without choices that are known, and no row has any
        return LoggedQuestion({}, refusal=error.message.removeprefix(f"{file}: "))
    return LoggedQuestion(items, mapping.gold_is)


def _answered(file: Path, row: LogRow, asked: LoggedQuestion) -> LoggedAnswer:
    """The answer to an item; where there is none to choose from, whether it was right."""
    said = row.said
    name = str(said.item)
    item = row.item or asked.items.get(said.line)
    if item is not None:
        if said.choices is None:
            said = said._replace(choices=item.choices)
        if (
            asked.gold_is in ("index0", "index1")
            and by_text(said.reply, Choices(item.choices)) is None
        ):
            label = read_gold(said.reply, Choices(item.choices), asked.gold_is)
            said = said._replace(label=label[0] if label else None)
        return LoggedAnswer(item, answer_of(item, said, file), row.model)
    text = question_text(row.question) or name
    shown = Item(id=name, form="choice", text=text, choices=OUTCOMES, gold=OUTCOMES[:1])
    if said.error:
        return LoggedAnswer(shown, Answer(item=name, error=said.error), row.model)
    right = RIGHT.get((scalar(row.outcome) or "").strip().lower())
    if right is None:
        told = scalar(row.outcome) or "no value"
        raise DataError(
            f"the question has no choices that are known, and nothing says whether the answer was "
            f"right ({told}). {asked.refusal}".rstrip(". ")
            + ".",
            "Add a column correct with 1 or 0, or columns of choices and of what is right. If the "
            "questions stand elsewhere: gnomon score --answers FILE --benchmark NAME",
            file=file,
            line=said.line,
        )
    choice = OUTCOMES[0] if right else OUTCOMES[1]
    answer = Answer(item=name, choice=choice, reply=said.reply or None)
    return LoggedAnswer(shown, answer, row.model)
