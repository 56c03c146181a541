"""How a run is carried out: plan, batches, log, resume."""

from gnomon.engine.running import Progress, run, run_folder

__all__ = ["Progress", "run", "run_folder"]
