"""How a run is carried out: plan, batches, log, resume."""
