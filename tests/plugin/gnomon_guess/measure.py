"""How often the first choice is picked: a measure on one page."""

from gnomon import Measure
from gnomon.measures.statistics import mean_of


def first_choice(table):
    return mean_of(table.picked == 0, table.clusters)


FIRST = Measure(
    name="first_choice",
    summary="share of items answered with the first choice",
    statistics=first_choice,
    better="lower",
)
