"""Answers that were given elsewhere, read from a file and joined with the items.

CSV and TSV with the columns id and label (or a column for each choice: its probability), JSON lines
with the same fields or with Gnomon's own Answer records, and the files of other programs
(registry.ANSWER_FORMATS).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.files import read_jsonl, read_lines, read_table
from gnomon.records import Answer, Item, Prediction, pick

IDS, LABELS = ("id", "item", "item_id"), ("label", "choice", "prediction", "answer")


def read_predictions(file: str, items: Iterable[Item]) -> Iterator[tuple[Item, Answer | None]]:
    """Every item with the answer that the file has for it, or none."""
    path = Path(file)
    found = _by_item(_predictions(path), path)
    used = 0
    for place, item in enumerate(items):
        prediction = found.get(item.id, found.get(place))
        used += prediction is not None
        yield item, None if prediction is None else _answer(item, prediction, file)
    if not used:
        raise DataError(
            "no id in the file is the id of an item.",
            "Give the benchmark, its source and its options as they were when the answers were made.",
            file=file,
        )
    if (spare := len(found) - used) > 0 and any(isinstance(key, int) for key in found):
        raise DataError(
            f"the file has {spare:,} more predictions than there are items.",
            "Give the split that the predictions were made for with --split.",
            file=file,
        )


def _predictions(file: Path) -> Iterator[Prediction]:
    """What the file says, in whichever format it is."""
    from gnomon.registry import answer_formats

    head = [] if file.suffix == ".eval" else [line for _, line in islice(read_lines(file), 3)]
    for known in answer_formats().values():
        if known.recognises(file, head):
            return known.read(file)
    return _own(file)


def _by_item(predictions: Iterable[Prediction], file: Path) -> dict[str | int, Prediction]:
    found: dict[str | int, Prediction] = {}
    for prediction in predictions:
        before = found.setdefault(prediction.item, prediction)
        if before is not prediction:
            raise DataError(
                f"the id '{prediction.item}' was there already, in line {before.line}.",
                "Remove one of the two.",
                file=file,
                line=prediction.line,
            )
    return found


def _own(file: Path) -> Iterator[Prediction]:
    """Rows with an id and a label, scores, or a column for each choice."""
    name = file.name.removesuffix(".gz")
    rows: Iterable[tuple[int, dict[str, Any]]]
    if name.endswith((".jsonl", ".json", ".ndjson")):
        rows = read_jsonl(file, dict[str, Any])
    else:
        head = next(read_lines(file), (1, ""))[1]
        rows = read_table(file, (), delimiter="\t" if "\t" in head else ",")
    for line, row in rows:
        key = next((name for name in IDS if name in row), None)
        if key is None:
            raise DataError(
                "there is no field id.", f"It has: {', '.join(row)}.", file=file, line=line
            )
        label: Any = next((row[name] for name in LABELS if name in row), None)
        scores: Any = row.get("scores", row.get("probabilities"))
        yield Prediction(
            line,
            str(row[key]),
            label=None if label in (None, "") else str(label),
            scores=row if scores is None and label is None else scores,
            reply=row.get("reply") or None,
            error=row.get("error") or None,
        )


def _answer(item: Item, said: Prediction, file: str) -> Answer:
    if said.error:
        return Answer(item=item.id, error=said.error, reply=said.reply)
    scores = _scores(item, said, file)
    if said.place is not None:
        return Answer(
            item=item.id, choice=item.choices[said.place], scores=scores, reply=said.reply
        )
    if said.label is not None:
        return Answer(
            item=item.id,
            choice=said.label if said.label in item.choices else None,
            scores=scores,
            reply=said.reply or said.label,
        )
    if scores is not None:
        return pick(item, scores)
    if said.reply is not None:
        from gnomon.models.reading.replies import read

        place = read(said.reply, [[choice] for choice in item.choices])
        return Answer(
            item=item.id, choice=None if place is None else item.choices[place], reply=said.reply
        )
    return Answer(item=item.id)


def _scores(item: Item, said: Prediction, file: str) -> tuple[float, ...] | None:
    """From a list, a mapping by choice, or a row with a column for each choice."""
    given = said.scores
    if isinstance(given, dict):
        if not any(choice in given for choice in item.choices):
            return None
        given = [given.get(choice) for choice in item.choices]
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != len(item.choices):
        raise DataError(
            f"there must be {len(item.choices)} scores, one for each choice of item '{item.id}'.",
            f"Its choices: {', '.join(item.choices)}.",
            file=file,
            line=said.line,
        )
    try:
        return tuple(float("nan") if value in (None, "") else float(value) for value in given)
    except (TypeError, ValueError):
        raise DataError(
            "a score is not a number.", "Mend the line.", file=file, line=said.line
        ) from None
