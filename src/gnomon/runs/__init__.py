"""A run is a folder: run.json (the manifest) and answers.sqlite (items and answers).

The engine writes it; everything else only reads it. This room is the only one that knows the SQL.
"""

from gnomon.runs.finding import (
    Survey,
    check_holds_a_run_alone,
    check_not_in_use,
    open_runs,
    remove,
    remove_folder,
    runs_in,
    survey,
)
from gnomon.runs.log import RunLog
from gnomon.runs.manifest import (
    FORMAT,
    LOG,
    MANIFEST,
    PICTURES,
    Counts,
    Manifest,
    determining,
)
from gnomon.runs.merging import Merged, merge
from gnomon.runs.reading import Asked, Run
from gnomon.runs.recovering import Recovered, recover
from gnomon.runs.usage import Usage

__all__ = [
    "FORMAT",
    "LOG",
    "MANIFEST",
    "PICTURES",
    "Asked",
    "Counts",
    "Manifest",
    "Merged",
    "Recovered",
    "Run",
    "RunLog",
    "Survey",
    "Usage",
    "check_holds_a_run_alone",
    "check_not_in_use",
    "determining",
    "merge",
    "open_runs",
    "recover",
    "remove",
    "remove_folder",
    "runs_in",
    "survey",
]
