"""A run is a folder: run.json (the manifest) and answers.sqlite (items and answers).

The engine writes it; everything else only reads it. This room is the only one that knows the SQL.
"""

from gnomon.runs.finding import (
    check_holds_a_run_alone,
    open_runs,
    remove,
    remove_folder,
    runs_in,
    survey,
    without_merged,
)
from gnomon.runs.log import RunLog
from gnomon.runs.manifest import (
    LOG,
    MANIFEST,
    PICTURES,
    Counts,
    LastLook,
    Manifest,
    check_not_in_use,
    is_in_use,
)
from gnomon.runs.merging import Merged, merge
from gnomon.runs.notes import Doubt, Notes, change_notes, read_notes, wording_of
from gnomon.runs.reading import AskedRow, Run
from gnomon.runs.recovering import recover

__all__ = [
    "LOG",
    "MANIFEST",
    "PICTURES",
    "AskedRow",
    "Counts",
    "Doubt",
    "LastLook",
    "Manifest",
    "Merged",
    "Notes",
    "Run",
    "RunLog",
    "change_notes",
    "check_holds_a_run_alone",
    "check_not_in_use",
    "is_in_use",
    "merge",
    "open_runs",
    "read_notes",
    "recover",
    "remove",
    "remove_folder",
    "runs_in",
    "survey",
    "without_merged",
    "wording_of",
]
