"""CoDa: the colours of objects as people see them (Paik et al. 2021), which ViPhy compares with.

The files are those of the released dataset, default_train.jsonl and so on: a line for each
object and template, with the shares of eleven colours by the alphabet. Gnomon does not ship or
fetch them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from gnomon.benchmarks.viphy.files import Colours
from gnomon.errors import DataError, UsageError
from gnomon.files import read_jsonl
from gnomon.vision.knowledge import COLOURS, typical_labels

ORDER = tuple(sorted(COLOURS))
HINT = "Give the folder that holds default_train.jsonl and the other files with --data."


class Row(msgspec.Struct):
    """What is read of a line."""

    display_name: str
    label: Annotated[list[float], msgspec.Meta(min_length=len(ORDER), max_length=len(ORDER))]


def read_coda(folder: str) -> list[Colours]:
    """Each object once, with the shares of its typical colours by the rule of ViPhy's code.

    "Basketball (Ball)" is called basketball: ViPhy's objects have no such additions.
    """
    if not folder:
        raise UsageError("The objects of CoDa are read from a folder of your own.", HINT)
    found: dict[str, Colours] = {}
    for file in sorted(Path(folder).glob("*.jsonl")):
        for _, row in read_jsonl(file, Row):
            name = row.display_name.partition(" (")[0].lower()
            shares = dict(zip(ORDER, row.label, strict=True))
            found.setdefault(name, Colours(name, typical_labels(shares)))
    if not found:
        raise DataError("there is no file of CoDa here.", HINT, file=folder)
    return list(found.values())
