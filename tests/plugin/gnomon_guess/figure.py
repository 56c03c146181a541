"""How often each model picks the first choice: a figure on one page."""

from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.figures import Figure
from gnomon_guess.measure import FIRST


def first_choices(study):
    shares = [FIRST.statistics(entrant.table).value for entrant in study.entrants]
    estimates = [Estimate(label, n, shares[n]) for n, label in enumerate(study.labels)]
    yield Figure(
        name="first-choices",
        title="How often the first choice is picked",
        caption="A model that reads the question has no reason to prefer it.",
        description="The share of items answered with the first choice, for each model.",
        body=bars(estimates, study.labels, "share of items"),
        columns=("model", "share"),
        rows=tuple(zip(study.labels, shares, strict=True)),
    )
