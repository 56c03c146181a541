"""Rows of known programs and collections as plain rows: one question each, in named columns.

Logs of other programs hold their questions within, LLaVA's files hold conversations, GenEval
lists what a picture must include, and bAbI's stories are numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gnomon.items.mapping import column_names, columns_among, has_column, named_columns
from gnomon.items.values import as_list, marked_choices, scalar
from gnomon.records import Item, Prediction

Row = Mapping[str, Any]
NumberedRow = tuple[int, Row]
TURNS = ("conversations", "messages")
ROLES = {"human": "question", "user": "question", "gpt": "answer", "assistant": "answer"}
PAIR = {"image_0", "image_1", "caption_0", "caption_1"}  # two pictures, and the caption of each
QUESTIONS = ("questions", "qas", "qa_pairs")  # what a story may call those about it
DEEPEST = 4  # lists within lists in which questions are looked for
PICTURE_MARK = re.compile(r"\s*<image>\s*")
BABI_LINE = re.compile(r"(\d+) (.+)")


class LogRow(NamedTuple):
    """One answer in a log of another program."""

    said: Prediction
    question: Row  # what was asked, in named columns
    outcome: Any = None  # whether the program took the answer for right
    item: Item | None = None  # the question as an item, where the log leaves no doubt
    model: str = ""
    sample: int = 0  # of several answers to one question
    filter: str = ""  # through which the program read the reply, where it has several


class LogShape(NamedTuple):
    """How the rows of one program's logs are known, and the question that is in a row."""

    recognises: Callable[[Row], bool]
    question: Callable[[Row], dict[str, Any]]
    is_first: Callable[[Row], bool]  # whether it is the first answer to its question


def plain_rows(rows: Iterable[NumberedRow]) -> Iterator[NumberedRow]:
    """The rows, those of known shapes as plain ones; of a log each question once.

    lm-eval writes a line for each filter, other programs ask several times.
    """
    filter_of_log = None
    for number, row in rows:
        shape = log_shape(row)
        if shape:
            filter_of_log = filter_of_log or row.get("filter")
            if row.get("filter") == filter_of_log and LOG_SHAPES[shape].is_first(row):
                yield number, LOG_SHAPES[shape].question(row)
            continue
        for found in _plain_rows_of(row):
            yield number, found


def _plain_rows_of(row: Row) -> Iterable[Row]:
    """The questions of one row: one, unless a collection keeps several in it."""
    if _turns_of(row):
        return _of_conversation(row)
    if isinstance(row.get("include"), list) and "prompt" in row:
        return [_of_geneval(row)]
    if row.keys() >= PAIR:
        return _of_pair(row)
    if _questions_within(row):
        return _of_story(row)
    return [with_marked(opened(row))]


def opened(row: Row) -> Row:
    """A row that has its question within a record, with the fields of its records beside it.

    A question that is a list of messages is their text.
    """
    if asks(row):
        known = column_names()
        names = (*known.usual["text"], *known.seldom["text"])
        asked = columns_among(named_columns(row), names)[:1]
        text = message_text(row[asked[0]]) if isinstance(row[asked[0]], list) else ""
        return {**row, asked[0]: text} if text else row
    records = [value for value in row.values() if isinstance(value, Mapping)]
    if not any(map(asks, records)):
        return row
    found: dict[str, Any] = {}
    for record in reversed(records):  # where several have a field, the first counts
        found |= record
    return {**found, **row}


def message_text(value: Any) -> str:
    """The text of a question, which may be a list of messages; empty if it is neither."""
    if isinstance(value, list):
        roles = all(isinstance(each, dict) and "role" in each for each in value)
        return _text_of_messages(value) if roles else ""
    return value if isinstance(value, str) else ""


def asks(row: Row) -> bool:
    """Whether a row has a column with a usual name of questions."""
    return has_column(tuple(map(str, row)), "text")


def with_marked(row: Row) -> Row:
    """A row whose choices carry marks, with those that are right named beside them.

    Where several columns do, `--map` says which: COLUMN.choices and COLUMN.right.
    """
    columns = tuple(map(str, row))
    if has_column(columns, "gold"):
        return row
    found = {}
    for name in columns_among(named_columns(columns), column_names().marked):
        marked = marked_choices(row.get(name))
        if marked is not None:
            found[name] = marked
    if len(found) == 1:
        (name, (choices, right)) = found.popitem()
        others = {key: value for key, value in row.items() if key != name}
        return {**others, "choices": choices, "answer": right}
    more: dict[str, Any] = {}
    for name, (choices, right) in found.items():
        more |= {f"{name}.choices": choices, f"{name}.right": right}
    return {**row, **more}


def log_shape(row: Row) -> str:
    """The program in whose logs such rows stand; empty if none is known.

    >>> log_shape({"input": "Where?", "target": "A", "scores": {}})
    'inspect'
    """
    for name, shape in LOG_SHAPES.items():
        if shape.recognises(row):
            return name
    return ""


def _is_lm_eval(row: Row) -> bool:
    """A sample of lm-eval, or of lmms-eval, which keeps the prompt instead of the document."""
    asked = isinstance(row.get("doc"), dict) or isinstance(row.get("input"), str)
    return asked and "filtered_resps" in row


def _is_inspect(row: Row) -> bool:
    return "input" in row and "target" in row and "scores" in row


def _is_helm(row: Row) -> bool:
    """A request of HELM, or what it counted for an instance."""
    asked = isinstance(row.get("instance"), dict) and "request" in row
    return asked or ("instance_id" in row and "stats" in row)


def _is_evalscope(row: Row) -> bool:
    return isinstance(row.get("sample_score"), dict) and "index" in row


def _document(row: Row) -> dict[str, Any]:
    """The document that a sample of lm-eval is about, with the choices of its requests."""
    asked = row.get("doc")
    if not isinstance(asked, dict):
        asked = {"question": row["input"], "answer": row.get("target")}
    found = {"doc_id": row.get("doc_id"), "choices": _requests(row), **asked}
    if not found["choices"]:
        del found["choices"]
    return found


def _requests(row: Row) -> list[str]:
    arguments = row.get("arguments")
    if not isinstance(arguments, dict):
        return []
    requests = [each for each in arguments.values() if isinstance(each, dict)]
    texts = [str(request.get("arg_1", "")).strip() for request in requests]
    return texts if len(texts) > 1 else []


def _of_inspect(row: Row) -> dict[str, Any]:
    """What a sample of Inspect asks; a conversation is the text of its messages."""
    found = {name: row.get(name) for name in ("id", "input", "choices", "target")}
    found = {name: value for name, value in found.items() if value not in (None, [])}
    if isinstance(row.get("input"), list):
        found["input"] = _text_of_messages(row["input"])
    return found


def _text_of_messages(messages: Sequence[Any]) -> str:
    """What was written in messages of which each may have several parts, such as pictures."""
    texts = []
    for message in messages:
        record = message if isinstance(message, dict) else {}
        content = record.get("content", record.get("prompt", ""))
        parts = content if isinstance(content, list) else [content]
        for part in parts:
            written = part.get("text") if isinstance(part, dict) else part
            if isinstance(written, str):
                texts.append(written)
    return " ".join(texts)


def _of_helm(row: Row) -> dict[str, Any]:
    """An instance: its references are the choices, those tagged as correct are right."""
    instance = row.get("instance")
    if not isinstance(instance, dict):
        return {"id": row.get("instance_id")}
    found = {"id": instance.get("id"), "question": _text_within(instance.get("input"))}
    references = instance.get("references")
    choices, right = [], []
    for each in references if isinstance(references, list) else ():
        if isinstance(each, dict):
            choices.append(_text_within(each.get("output")))
            tags = each.get("tags")
            if isinstance(tags, list) and "correct" in tags:
                right.append(choices[-1])
    if len(choices) > 1 and len(right) < len(choices):
        found |= {"choices": choices, "answer": right}
    return found


def _text_within(value: Any) -> str:
    """A text, or the text that a record of HELM holds (old logs have it bare)."""
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _of_evalscope(row: Row) -> dict[str, Any]:
    """What a review of evalscope was about: the messages of the user."""
    messages = row.get("messages")
    asked = row.get("input")
    if isinstance(messages, list):
        users = [each for each in messages if isinstance(each, dict) and each.get("role") == "user"]
        asked = _text_of_messages(users)
    return {"id": evalscope_id(row), "question": asked, "answer": row.get("target")}


def evalscope_id(row: Row) -> Any:
    """What names a question: the group of its samples where it was asked several times."""
    group = row["sample_score"].get("group_id")
    return row.get("index") if group is None else group


def _is_first_of_evalscope(row: Row) -> bool:
    return not row["sample_score"].get("generation_index")


LOG_SHAPES: dict[str, LogShape] = {
    "lm-eval": LogShape(_is_lm_eval, _document, lambda row: True),
    "inspect": LogShape(_is_inspect, _of_inspect, lambda row: row.get("epoch", 1) == 1),
    "helm": LogShape(_is_helm, _of_helm, lambda row: not row.get("train_trial_index")),
    "evalscope": LogShape(_is_evalscope, _of_evalscope, _is_first_of_evalscope),
}


def joined_events(rows: Iterable[NumberedRow]) -> Iterator[NumberedRow]:
    """The rows; of the events of OpenAI's evals one for each sample that was judged."""
    model = ""
    sampled: dict[str, Row] = {}
    for line, row in rows:
        is_event = "event_id" in row or row.keys() in ({"spec"}, {"final_report"})
        spec, data = row.get("spec"), row.get("data")
        if not is_event:
            yield line, row
        elif isinstance(spec, dict):
            model = ",".join(map(str, as_list(spec.get("completion_fns", []))))
        elif isinstance(data, dict):
            name = str(row.get("sample_id"))
            if row.get("type") == "sampling":
                sampled[name] = data
            elif row.get("type") == "match":
                yield line, {"model": model, **_of_match(name, sampled.pop(name, data), data)}


def _of_match(name: str, said: Row, judged: Row) -> Row:
    found: dict[str, Any] = {"id": name, "question": message_text(said.get("prompt")) or name}
    found |= {"answer": judged.get("expected"), "correct": judged.get("correct")}
    reply = as_list(said.get("sampled")) or [""]
    options = judged.get("options")
    if isinstance(options, list) and len(options) > 1:
        found["choices"] = options
    return {**found, "prediction": reply[0]}


def _turns_of(row: Row) -> list[Any]:
    """The turns of a conversation, if a row is one and has no question beside it."""
    for name in TURNS:
        turns = row.get(name)
        if isinstance(turns, list) and turns and "question" not in row:
            return turns if all(isinstance(turn, dict) for turn in turns) else []
    return []


def _of_conversation(row: Row) -> Iterator[Row]:
    """A row for each question of a conversation that has an answer; what was said is left out."""
    beside = {name: value for name, value in row.items() if name not in TURNS}
    asked: list[str] = []
    number = 0
    for turn in _turns_of(row):
        role = ROLES.get(str(turn.get("from", turn.get("role", ""))))
        content = turn.get("value", turn.get("content"))
        said = scalar(content) or _text_of_messages([{"content": content}])
        beside |= _pictures_of_parts(content)
        if role == "question":
            asked.append(PICTURE_MARK.sub(" ", said).strip())
        elif role == "answer" and asked:
            number += 1
            found = {**beside, "question": asked.pop(), "answer": said.strip()}
            if number > 1 and "id" in found:
                found["id"] = f"{found['id']}/{number}"
            yield found
            asked.clear()


def _pictures_of_parts(content: Any) -> dict[str, Any]:
    """The pictures among the parts of a message, as servers take them."""
    pictures = []
    for part in content if isinstance(content, list) else ():
        shown = None
        if isinstance(part, dict):
            shown = part.get("image_url", part.get("image"))
        pictures.append(shown.get("url") if isinstance(shown, dict) else shown)
    pictures = [picture for picture in pictures if picture]
    return {"images": pictures} if pictures else {}


def _of_pair(row: Row) -> Iterator[Row]:
    """A row of Winoground: each picture with both captions, of which one is its own."""
    beside = {name: value for name, value in row.items() if name not in PAIR}
    for own, other in (("0", "1"), ("1", "0")):
        found = {**beside, "caption": row[f"caption_{own}"], "foil": row[f"caption_{other}"]}
        found["image"] = row[f"image_{own}"]
        if "id" in row:
            found |= {"id": f"{row['id']}/{own}", "group": row["id"]}
        yield found


def _questions_within(row: Row, depth: int = 0) -> str:
    """The column that lists the questions about a story, if a row is one; SQuAD's lie deeper."""
    if "question" in row or depth == DEEPEST:
        return ""
    for name, listed in row.items():
        if not isinstance(listed, list) or not listed:
            continue
        if not all(isinstance(each, dict) for each in listed):
            continue
        known = name in QUESTIONS or (not asks(row) and asks(listed[0]))
        if known or (not asks(row) and _questions_within(listed[0], depth + 1)):
            return name
    return ""


def _of_story(row: Row) -> Iterator[Row]:
    """A row for each question about a story, as SpartQA, ReSQ and SQuAD list them."""
    lists = _questions_within(row)
    beside = {name: _joined(value) for name, value in row.items() if name != lists}
    for asked in row[lists]:
        if _questions_within(asked):
            yield from _of_story({**asked, **beside, **asked})
            continue
        own = {name: value for name, value in asked.items() if name not in ("id", "q_id")}
        if "question" in own:
            own["question"] = _joined(own["question"])
        yield {**beside, **own}


def _joined(value: Any) -> Any:
    """Sentences of a list as one text."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return value


def _of_geneval(row: Row) -> Row:
    """A prompt of GenEval: two things and how the second stands to the first, where it is told."""
    things = [thing for thing in row["include"] if isinstance(thing, dict)]
    names = [scalar(thing.get("class")) or "" for thing in things]
    found = {name: value for name, value in row.items() if name not in ("include", "exclude")}
    found |= {"thing_a": "", "thing_b": "", "relation": ""}
    if len(things) != 2:
        return found
    found |= {"thing_a": names[0], "thing_b": names[1]}
    position = things[1].get("position")
    if isinstance(position, list) and len(position) == 2 and position[1] == 0:
        found |= {"thing_a": names[1], "thing_b": names[0], "relation": position[0]}
    return found


def is_babi(lines: Sequence[str]) -> bool:
    """Whether some lines are a story of bAbI: numbered from 1, and questions with tabs.

    >>> is_babi(["1 Ann sits.", "2 Is Ann in bed?\\tno\\t1"])
    True
    """
    if not lines or not lines[0].startswith("1 "):
        return False
    return all(map(BABI_LINE.fullmatch, lines)) and any("\t" in line for line in lines)


def babi_rows(lines: Iterable[tuple[int, str]]) -> Iterator[NumberedRow]:
    """A row for each question, with the story so far."""
    story: list[str] = []
    number = 0
    for line, text in lines:
        match = BABI_LINE.fullmatch(text)
        if match is None:
            yield line, {"story": "", "question": "", "answer": None}  # told of as a row
            continue
        if match[1] == "1":
            story = []
            number += 1
        said, tab, rest = match[2].partition("\t")
        if not tab:
            story.append(said.strip())
            continue
        answer = rest.partition("\t")[0].strip()
        yield (
            line,
            {
                "story": " ".join(story),
                "question": said.strip(),
                "answer": answer,
                "group": f"story {number}",
            },
        )
