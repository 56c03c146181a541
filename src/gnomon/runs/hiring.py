"""From what a user wants (`--workers`) to workers that have opened the model."""

from __future__ import annotations

from gnomon.errors import UsageError
from gnomon.registry import ModelSpec
from gnomon.runs.crew import Crew
from gnomon.runs.sameness import model_files
from gnomon.runs.sites import Site
from gnomon.runs.task import Task


def hired(task: Task, run: str) -> Crew:
    """The workers of a run, of which one at least has opened the model."""
    model = task.model
    if not isinstance(model, ModelSpec):
        raise UsageError(
            f"Workers elsewhere load a model by its name, and {model.spec} is loaded here already.",
            f'Give its name, such as gnomon.model("{model.spec}"), or leave out the workers.',
        )
    site = _site(task, model, run)
    try:
        return Crew(site, model_files(model))
    except BaseException:
        site.close()
        raise


def _site(task: Task, model: ModelSpec, run: str) -> Site:
    if task.workers.on_ray:
        from gnomon.runs.ray import RaySite

        return RaySite(model, task.workers, run=run, blind=task.blind)
    from gnomon.runs.processes import ProcessSite

    return ProcessSite(model, task.workers.count or 1, run=run, blind=task.blind)
