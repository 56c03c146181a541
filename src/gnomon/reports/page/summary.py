"""The first paragraph: what the runs say, in sentences that the numbers support."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, sqrt
from typing import NamedTuple

import numpy as np

from gnomon import registry
from gnomon.contracts import Measure
from gnomon.measures.accuracy import items_each
from gnomon.measures.cautions import one_answer, told_answer
from gnomon.measures.chance import verdict
from gnomon.measures.columns import Codes, Floats
from gnomon.measures.intervals import interval
from gnomon.measures.scoring import score
from gnomon.measures.statistics import Statistics, mean_of, ratio, standard_error
from gnomon.measures.table import Table, in_order
from gnomon.records import Score
from gnomon.registry import role
from gnomon.reports.figures.groups import group_shares
from gnomon.reports.figures.slices import tags_of
from gnomon.reports.page.headline import Headline
from gnomon.reports.papers import results
from gnomon.reports.study import Entrant, Study, all_runs
from gnomon.reports.words import axis_name, counted, listed, percentage, plain

# Does a model do significantly better on one part of the items than on another?
#
# Every two parts are compared by the interval of their difference, put together from the
# intervals of both (Newcombe's method, with Wilson's intervals, so that shares near 0 and 1 and
# few units are treated fairly). Units with items in both parts make the two depend on each other:
# that is measured and taken into account. The level is corrected for all pairs of all tags looked
# at (Bonferroni), as a reader is told about the widest gap only.


LEVEL = 0.05  # the chance that a report names any difference where there is none
LEAST_ITEMS, LEAST_UNITS = 20, 5  # that a part must have to be looked at
MOST_PARTS = 40


class Gap(NamedTuple):
    """Two parts of which the first is answered right significantly more often."""

    tag: str
    better: str
    worse: str
    better_share: float
    worse_share: float


class _Part(NamedTuple):
    """The items that have one value of a tag."""

    name: str
    rows: Codes
    accuracy: Statistics


class Differences(NamedTuple):
    """What was looked at, and the widest significant gap."""

    tags: tuple[str, ...]
    gap: Gap | None


def differences(table: Table, tags: Sequence[str]) -> Differences:
    """The widest significant difference in accuracy between two values of a tag, if any."""
    every = {tag: _parts(table, tag) for tag in tags}
    known = {tag: parts for tag, parts in every.items() if parts}
    comparisons = sum(comb(len(parts), 2) for parts in known.values())
    for gap, one, two in _widest_first(known):
        if _differ(table, one, two, LEVEL / comparisons):
            return Differences(tuple(known), gap)
    return Differences(tuple(known), None)


def _parts(table: Table, tag: str) -> list[_Part]:
    """The parts by the values of a tag that are large enough.

    None of them where fewer than two are, or where the values are numbers.
    """
    if tag not in table.tags or not len(table):
        return []

    column = table.tags[tag]
    known = column.codes[column.codes >= 0]
    items = np.bincount(known, minlength=len(column.values))
    large = np.flatnonzero(items >= LEAST_ITEMS)
    if not 2 <= len(large) <= MOST_PARTS:
        return []

    found = []
    for code in large.tolist():
        rows = np.flatnonzero(column.codes == code)
        accuracy = mean_of(table.right[rows], table.clusters[rows])
        if accuracy.clusters >= LEAST_UNITS:
            found.append(_Part(column.values[code], rows, accuracy))
    if len(found) < 2 or all(in_order(part.name)[0] == 0 for part in found):
        return []
    return found


def _widest_first(several: Mapping[str, list[_Part]]) -> list[tuple[Gap, _Part, _Part]]:
    """Every two parts of a tag, those with the widest gap first."""
    found = []
    for tag, parts in several.items():
        in_turn = sorted(parts, key=lambda part: -part.accuracy.value)
        for one, two in combinations(in_turn, 2):
            shares = one.accuracy.value, two.accuracy.value
            found.append((Gap(tag, one.name, two.name, *shares), one, two))
    found.sort(key=lambda each: each[0].worse_share - each[0].better_share)
    return found


def _differ(table: Table, better: _Part, worse: _Part, level: float) -> bool:
    """Whether the difference of two parts does not reach 0 within its interval."""
    high, low = better.accuracy.value, worse.accuracy.value
    down = high - interval(better.accuracy, level=1 - level).low
    up = interval(worse.accuracy, level=1 - level).high - low
    if high - low <= abs(down - up):  # what no dependence could make significant
        return False
    together = 2 * _correlation(table, better, worse) * down * up
    reach = sqrt(max(0.0, down**2 + up**2 - together))
    return high - low - reach > 1e-9


def _correlation(table: Table, one: _Part, two: _Part) -> float:
    """How far the shares of two parts move together; 0 where one of them does not move at all."""
    first, second = standard_error(one.accuracy), standard_error(two.accuracy)
    if first == 0 or second == 0:
        return 0.0
    rows = np.concatenate([one.rows, two.rows])
    columns = np.zeros((len(rows), 4))
    columns[: len(one.rows), 0] = table.right[one.rows]
    columns[: len(one.rows), 1] = 1
    columns[len(one.rows) :, 2] = table.right[two.rows]
    columns[len(one.rows) :, 3] = 1
    both = Statistics.of(table.clusters[rows], columns, _difference)
    shared = (first**2 + second**2 - standard_error(both) ** 2) / (2 * first * second)
    return min(1.0, max(-1.0, shared))


def _difference(sums: Floats) -> Floats:
    return ratio(sums[..., :2]) - ratio(sums[..., 2:])


FEW = 30  # items, below which a share in per cent pretends too much
RUNS_NAMED = 3  # runs that a sentence names before it counts the rest


def title(studies: list[Study]) -> str:
    """The heading of the page."""
    runs = all_runs(studies)
    models = list(dict.fromkeys(run.name for run in runs if not role(run.model)))
    baselines = {run.name for run in runs if role(run.model)}
    own = [plain(study.source) for study in studies if study.name.startswith("items@")]
    is_own = len(own) == len(studies)  # nobody says that one's own items are about space
    s = "s" if len(models) == 1 else ""
    does = f"answer{s} on {_first_few(own)}" if is_own else f"know{s} about space"
    if len(models) > 2:
        beside = f", beside {counted(len(baselines), 'baselines')}" if baselines else ""
        return f"What {len(models)} models {does}{beside}"
    if models:
        return f"What {listed(models)} {does}"
    if any(role(run.model) == "shortcut" for run in runs):
        return "What guesses and shortcuts are worth"
    return "What guesses are worth"


def sentences(study: Study, table: Headline) -> list[str]:
    """What a study shows: the best model, where it is weak, and how the others compare."""
    ranked = table.entrants(study)
    if not ranked:
        return []
    if not study.items:
        return [f"No item of {_called(study)} names a right answer: there are no figures."]
    asked = [entrant for entrant in ranked if len(entrant.table)]
    if not asked:
        names = _first_few([entrant.label for entrant in ranked])
        return [f"Nothing of {_called(study)} has been asked of {names} yet."]

    models = [entrant for entrant in asked if not entrant.is_baseline]
    best = (models or asked)[0]
    others = [entrant for entrant in asked if entrant is not best]
    measure = registry.measure(table.measures[0])
    figures = {line.model: line.cells[0] for line in table.lines if line.series >= 0}
    parts = [
        _result(study, best, measure, figures[best.label]),
        _weakness(study, best),
        *_others(best, others, measure, figures),
        _paper(study, table),
    ]
    return list(filter(None, parts))


def _result(study: Study, entrant: Entrant, measure: Measure, figure: Score | None) -> str:
    """The figure by which runs are ranked, and how often the model is right.

    Beside chance, and with how many groups are right throughout.
    """
    who = entrant.label
    if entrant.blind:
        who += ", asked without its pictures,"
    items = _items(study, entrant)
    if not entrant.table.answered.any():
        return f"{who} gave no answer that could be read to any of {items}."

    right = figure
    if figure and not is_share_of_items(measure):
        who += f" reaches {percentage(figure.value)} {axis_name(measure.name)} and"
        right = None
    right = right or score(entrant.table, registry.measure("accuracy"))
    share = right.value or 0.0
    count = percentage(share)
    if len(entrant.table) < FEW:
        count = f"{round(share * len(entrant.table))}"
    chance = _beside_chance(entrant, right)
    return f"{who} is right on {count} of {items}{chance}{_whole_groups(study, entrant, share)}."


def _items(study: Study, entrant: Entrant) -> str:
    """The items that a model was asked, counted."""
    name = _called(study)
    if len(entrant.table) == entrant.total:
        return f"{counted(entrant.total, 'items')} of {name}"
    asked = f"the {len(entrant.table):,} of {counted(entrant.total, 'items')}"
    return f"{asked} of {name} asked so far"


def _called(study: Study) -> str:
    """The benchmark inside a sentence."""
    if study.title == study.name:
        return plain(study.name)
    return f"“{plain(study.title)}” ({plain(study.source)})"


def _beside_chance(entrant: Entrant, right: Score) -> str:
    """What guessing gets, and on which side of it the interval of a share lies."""
    told = verdict(right.low, right.high, right.chance)
    is_guess = role(entrant.run.model) == "guess"  # by luck or not
    if is_guess or not told:
        return f" (chance: {percentage(right.chance)})"
    joint = "which " if told == "may be chance" else ""
    return f", {joint}{told} ({percentage(right.chance)})"


def is_share_of_items(measure: Measure) -> bool:
    """Whether a figure is the share of items that are right, not a mean over groups of them."""
    return measure.guessable and not measure.needs


def _whole_groups(study: Study, entrant: Entrant, share: float) -> str:
    """The share of groups that are right throughout, where items come in groups."""
    named = entrant.table.where(entrant.table.group.codes >= 0)
    names, shares = group_shares(named)
    if len(names) < 3 or len(named) < 2 * len(names) or share == 0:
        return ""
    groups = f"its {len(names):,} {study.noun} ({items_each(named)})"
    whole = float((shares == 1).mean())
    if whole == 0:
        return f", and gets none of {groups} right throughout"
    joint = "and" if whole > share - 0.05 else "but"
    only = "only " if whole < share - 0.2 else ""
    return f", {joint} gets {only}{percentage(whole)} of {groups} right throughout"


def _weakness(study: Study, entrant: Entrant) -> str:
    """Where the model does better and where worse, if a test shows it."""
    if not entrant.table.answered.any():
        return ""
    given = one_answer(entrant.table)
    if given is not None:
        return f"But it {told_answer(given, entrant.table)}"
    found = differences(entrant.table, tags_of(study))
    if found.gap is not None:
        gap = found.gap
        high, low = study.words(gap.tag, gap.better), study.words(gap.tag, gap.worse)
        better = f"{plain(high)} ({percentage(gap.better_share)})"
        worse = f"{plain(low)} ({percentage(gap.worse_share)})"
        return f"It does significantly better on {better} than on {worse} ({study.words(gap.tag)})."
    if found.tags:
        tags = listed(list(map(study.words, found.tags)), "or")
        return f"Its accuracy does not differ significantly by {tags}."
    return ""


def _others(
    best: Entrant, others: list[Entrant], measure: Measure, figures: Mapping[str, Score | None]
) -> list[str]:
    """The other runs: those on the same items, and then those that were asked others."""
    same, apart = [], []
    for entrant in others:
        figure = figures[entrant.label]
        value = figure.value if figure else None
        told = f"{entrant.label} {percentage(value)}"
        if (entrant.asked == best.asked).all():
            same.append(told)
        else:
            apart.append(f"{told} of {len(entrant.table):,}")

    by = "" if is_share_of_items(measure) else f", by {axis_name(measure.name)}"
    said = []
    if same:
        said.append(f"On the same items{by}: {_first_few(same)}.")
    if apart:
        said.append(f"On other items, and so not ranked with it{by}: {_first_few(apart)}.")
    return said


def _first_few(parts: Sequence[str]) -> str:
    """The first few in a row, and how many more there are.

    >>> _first_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(parts) <= RUNS_NAMED:
        return listed(parts)
    return listed([*parts[:RUNS_NAMED], f"{len(parts) - RUNS_NAMED} more"])


def _paper(study: Study, table: Headline) -> str:
    """The paper's best model and, where it has them, people."""
    parts = []
    model = _best_published(table, "model")
    if model:
        name, best = model
        by = "" if best.measure == "accuracy" else f" by {axis_name(best.measure)}"
        which = "model asked in this form" if _has_forms(study) else "model"
        parts.append(f"the best {which}, {name}, reaches {percentage(best.value)}{by}")
    people = _best_published(table, "human")
    if people:
        parts.append(f"people reach {percentage(people[1].value)}")
    if not parts:
        return ""
    where = "In the paper, on its own items,"
    if study.name.endswith("@published"):
        where = "In the paper"
    return f"{where} {' and '.join(parts)}."


def _has_forms(study: Study) -> bool:
    """Whether the paper asked some models in another form, so that the best of all is not told."""
    spec = study.spec
    if spec is None:
        return False
    own = [each for each in results(spec.published_results) if each.benchmark == spec.name]
    return len({each.form for each in own if each.kind == "model"}) > 1


def _best_published(table: Headline, kind: str) -> tuple[str, Score] | None:
    """The highest figure of models or of people, by the first measure or by accuracy, and whose."""
    wanted = {"accuracy"}
    if registry.measure(table.measures[0]).better == "higher":
        wanted.add(table.measures[0])
    found = []
    for line in table.lines:
        for cell in filter(None, line.cells):
            if line.kind == kind and cell.measure in wanted and cell.value is not None:
                found.append((line.model, cell))
    return max(found, key=lambda pair: pair[1].value or 0.0, default=None)
