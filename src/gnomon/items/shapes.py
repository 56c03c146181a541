"""Rows of known programs and collections as plain rows: one question each, in named columns.

Logs of lm-eval and Inspect hold their questions within, LLaVA's files hold conversations, GenEval
lists what a picture must include, and bAbI's stories are numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gnomon.items.values import scalar

Row = Mapping[str, Any]
NumberedRow = tuple[int, Row]
TURNS = ("conversations", "messages")
ROLES = {"human": "question", "user": "question", "gpt": "answer", "assistant": "answer"}
PICTURE_MARK = re.compile(r"\s*<image>\s*")
BABI_LINE = re.compile(r"(\d+) (.+)")


def plain_rows(rows: Iterable[NumberedRow]) -> Iterator[NumberedRow]:
    """The rows, those of known shapes as plain ones; of a log each question once.

    lm-eval writes a line for each filter, Inspect asks in epochs.
    """
    filter_of_log = None
    for number, row in rows:
        if is_sample_of_lm_eval(row):
            filter_of_log = filter_of_log or row.get("filter")
            if row.get("filter") == filter_of_log:
                yield number, document_of(row)
        elif is_sample_of_inspect(row):
            if row.get("epoch", 1) == 1:
                yield number, question_of_sample(row)
        elif _turns_of(row):
            for found in _of_conversation(row):
                yield number, found
        elif isinstance(row.get("include"), list) and "prompt" in row:
            yield number, _of_geneval(row)
        else:
            yield number, row


def is_sample_of_lm_eval(row: Row) -> bool:
    """Whether a row is a sample of a log of lm-eval, or of lmms-eval, which follows it."""
    return isinstance(row.get("doc"), dict) and "filtered_resps" in row


def is_sample_of_inspect(row: Row) -> bool:
    """Whether a row is a sample of a log of Inspect."""
    return "input" in row and "target" in row and "scores" in row


def document_of(row: Row) -> dict[str, Any]:
    """The document that a sample of lm-eval is about, with the choices of its requests."""
    found = {"doc_id": row.get("doc_id"), "choices": _requests(row), **row["doc"]}
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


def question_of_sample(row: Row) -> dict[str, Any]:
    """What a sample of Inspect asks; a conversation is the text of its messages."""
    found = {name: row.get(name) for name in ("id", "input", "choices", "target")}
    found = {name: value for name, value in found.items() if value not in (None, [])}
    if isinstance(row.get("input"), list):
        parts = [str(part.get("content", "")) for part in row["input"] if isinstance(part, dict)]
        found["input"] = " ".join(parts)
    return found


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
        said = scalar(turn.get("value", turn.get("content"))) or ""
        if role == "question":
            asked.append(PICTURE_MARK.sub(" ", said).strip())
        elif role == "answer" and asked:
            number += 1
            found = {**beside, "question": asked.pop(), "answer": said.strip()}
            if number > 1 and "id" in found:
                found["id"] = f"{found['id']}/{number}"
            yield found
            asked.clear()


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
