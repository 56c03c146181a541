"""A task for Inspect AI: a Python file with dataset, solver and scorer, and the items beside it.

The choices keep Gnomon's labels, so that `gnomon score --answers LOG.eval` reads what comes of it.
"""

from collections.abc import Iterator
from typing import Any

from gnomon.errors import UsageError
from gnomon.files import package_data
from gnomon.items.export.job import Exported, Job
from gnomon.items.writing import FIELD, atomic_file, write_records
from gnomon.records import MASK, Item

DATA = "items.jsonl"
MOST_CHOICES = 26  # Inspect's letters
BLANK = "____"

SEVERAL_IMPORTS = (
    "from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr"
)


def write_inspect(job: Job) -> Exported:
    """Write TASK.py, items.jsonl and the pictures."""
    several = any(len(item.gold) > 1 for item in job.source.items())
    data, file = job.folder / DATA, job.folder / f"{job.name}.py"
    items = write_records(data, lettered_records(job))
    with atomic_file(file) as part:
        part.write_text(_code(job, several=several), encoding="utf-8")
    return Exported([file, data], items, f"inspect eval {file} --model PROVIDER/MODEL")


def _code(job: Job, *, several: bool) -> str:
    """The Python file; nothing but Gnomon's own words and a checked name stands in its code."""
    return _program("inspect").format(
        title=inert(f"{job.title}, exported by Gnomon"),
        canary=inert(job.canary),
        name=job.name,
        data=DATA,
        imports=SEVERAL_IMPORTS if several else "from inspect_ai.scorer import choice",
        scorer=_program("inspect-one-of") if several else "",
        scored="one_of" if several else "choice",
    )


def _program(name: str) -> str:
    return package_data(f"exports/{name}.py.txt").read_text(encoding="utf-8")


def inert(text: str) -> str:
    """Text that cannot leave a docstring."""
    return "".join(sign for sign in text if sign.isprintable() and sign not in '"\\{}')


def lettered_records(job: Job) -> Iterator[dict[str, Any]]:
    """Each item with its choices, and the letters of those that are right."""
    for item in job.items_with_choices():
        if len(item.choices) > MOST_CHOICES:
            raise UsageError(
                f"Item '{item.id}' has {len(item.choices)} choices, and there are letters for "
                f"{MOST_CHOICES}.",
                "Make it with --as dataset.",
            )
        places = [item.choices.index(label) for label in item.gold]
        metadata = {"group": item.group, "form": item.form, "tags": item.tags}
        if job.canary:
            metadata[FIELD] = job.canary
        yield {
            "id": item.id,
            "input": question(item),
            "choices": item.choices,
            "target": [chr(ord("A") + place) for place in places],
            "images": [image.path for image in item.images],
            "metadata": metadata,
        }


def question(item: Item) -> str:
    """An item as a question whose choices are listed below it."""
    asked = {
        "entailment": f"Statement: {item.text}\nWhat is the statement, given the text before it?",
        "cloze": f"Which choice fits the blank? {item.text.replace(MASK, BLANK)}",
        "caption": f"Is this true of the picture? {item.text}",
    }
    text = asked.get(item.form, item.text)
    return f"{item.context.strip()}\n{text}".strip()
