"""How a run is carried out: plan, batches, workers, log, resume."""

from gnomon.engine.folders import run_folder
from gnomon.engine.progress import Progress
from gnomon.engine.running import run
from gnomon.engine.wanted import Wanted, wanted_workers

__all__ = ["Progress", "Wanted", "run", "run_folder", "wanted_workers"]
