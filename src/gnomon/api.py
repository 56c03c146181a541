"""The Python API. Each function takes what its command takes, and gives records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnomon.errors import UsageError, check_known
from gnomon.items.source import ItemSource
from gnomon.items.source import load as load
from gnomon.registry import ModelSpec, with_prompt
from gnomon.registry import model as model

if TYPE_CHECKING:
    from gnomon.contracts import Model
    from gnomon.measures.compared import Agreement
    from gnomon.measures.power import PlannedSet
    from gnomon.measures.regression import RunChange
    from gnomon.measures.stopping import StoppingRule
    from gnomon.records import Item, Preview
    from gnomon.reports.figures import Figure
    from gnomon.reports.overview import Overview
    from gnomon.reports.results import Catalogue, Comparisons, Scores
    from gnomon.runs import Run
    from gnomon.runs.progress import RunProgress

    # a run, its folder, a folder of runs, or several of them
    SomeRuns = Run | str | Path | Sequence["SomeRuns"]

TABLES = ("latex", "markdown", "html", "csv", "json")  # the formats of a table for a paper


def run(
    source: ItemSource | str,
    model: Model | ModelSpec | str | Callable[[Item], Any],
    *,
    limit: int | None = None,
    permute: int | None = None,
    shard: str | None = None,
    name: str = "",
    runs: str | Path = "runs",
    restart: bool = False,
    retry_errors: bool = False,
    blind: bool = False,
    watch: Callable[[RunProgress], None] | None = None,
    progress: bool | None = None,
    stopping: Callable[[], None] | None = None,
    command: str = "",
    shots_from: str | Path = "",
    workers: str | int = 1,
    cpus_per_worker: float | None = None,
    gpus_per_worker: float | None = None,
    until: float | None = None,
    until_differs: Run | str | Path | None = None,
    by: float | None = None,
    helped_by: SomeRuns = (),
    read_with: ModelSpec | str | None = None,
) -> Run:
    """Ask a model the items of a source; called again, it continues where it stopped.

    `until` stops the run as soon as its headline measure is known to plus or minus so many points,
    `until_differs` as soon as it is better or worse than another run, or within `by` points of it
    (3 if not given). `limit` is then the largest number of items. `helped_by` are runs of other
    models on the same items, whose answers make fewer do; "facts" among them are what the items'
    tags, forms and right answers tell.

    `permute` is a seed by which the choices of each item are put in another order. `shard` asks one
    part of the items, such as "3/8"; `merge` makes one run of all parts. `name` is what tables and
    pages call the model. `shots_from` is a file of items to draw the worked examples from that the
    model's option `shots` asks for. `workers` is a number of processes, "ray" or "ray:N".

    `read_with` is a model that reads the replies that no rule could read: what it makes of them is
    a run of its own beside the first, and is what is given.

    A model may also be a function from an item to one of its choices, or to a number for each; its
    run is continued only by the same source with the same values. `progress` draws a line, by
    default in a notebook and on a terminal; `watch` is told instead, if it is given. `stopping` is
    called at the first Ctrl-C, and `command` is kept with the run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run("scales", "random", limit=10, runs=folder).manifest.counts.answered
    10
    """
    from gnomon.runs import identity, running
    from gnomon.runs.progress import progress_line
    from gnomon.runs.workers import plan_workers

    items = _narrowed(source, limit, permute, shard)
    asked = _asked_model(model, items, shots_from)
    more = None
    if until is not None or until_differs is not None:
        rule = stopping_rule(items, until, until_differs, by, helped_by)
        folder = identity.run_folder(items, asked, runs, blind=blind)
        items, more = _by_rounds(items, rule, folder, restart=restart)
    elif by is not None or helped_by:
        raise _without_a_rule()
    shown = False if watch else progress
    with progress_line(f"{asked.spec} on {items.name}", shown=shown) as line:
        carried_out = running.run(
            items,
            asked,
            runs=runs,
            restart=restart,
            retry_errors=retry_errors,
            blind=blind,
            watch=watch or line,
            stopping=stopping,
            command=command,
            name=name,
            workers=plan_workers(workers, cpus=cpus_per_worker, gpus=gpus_per_worker),
            more=more,
        )
    if read_with is None:
        return carried_out
    return _read_again(carried_out, read_with, runs=runs, restart=restart, progress=progress)


def _without_a_rule() -> UsageError:
    return UsageError(
        "--by and --with (in Python by and helped_by) are for runs that stop by themselves.",
        "Add --until or --until-differs.",
    )


def _read_again(first: Run, reader: ModelSpec | str, **settings: Any) -> Run:
    """A run with its unread replies read by another model."""
    from gnomon.items.experiments import source_of_run
    from gnomon.runs.secondreader import SecondReader

    spec = model(reader) if isinstance(reader, str) else reader
    return run(source_of_run(first), SecondReader(first, spec), **settings)


BY = 3.0  # points by which two runs may differ and still be as good as equal


def stopping_rule(
    items: ItemSource,
    until: float | None,
    until_differs: Run | str | Path | None = None,
    by: float | None = None,
    helped_by: SomeRuns = (),
) -> StoppingRule:
    """When a run on these items may stop, of which it is asked `items.limit` at most."""
    from gnomon.measures.stopping import FACTS, Goal, StoppingRule
    from gnomon.registry import measure

    if until is not None and until_differs is not None:
        raise UsageError("A run cannot stop by two rules.", "Give until or until_differs.")
    if until is not None and by is not None:
        raise UsageError("`by` is for until_differs.", "Leave it out.")
    if items.shard is not None:
        raise UsageError(
            "A part of a run cannot tell when the whole is known.",
            "Ask a round in parts: --limit N --shard I/M, merge them, then give --until: it goes "
            "on from there, and --dry-run says the next N.",
        )
    against = None
    if until_differs is not None:
        others = _opened(until_differs)
        if len(others) != 1:
            raise UsageError(
                f"{until_differs} has {len(others)} runs, and one is to be told from.",
                "Name one run of the folder.",
            )
        against = others[0]
        by = BY if by is None else by

    def first_items(limit: int) -> Iterable[Item]:
        return items.limited(limit).without_pictures()

    headline = measure(items.benchmark.measures[0])
    named = _listed(helped_by)
    runs = [each for each in named if each != FACTS]
    if named and (against is not None or headline.name != "accuracy"):
        raise UsageError(
            f"Neither other runs nor facts can help here: {headline.name}"
            f"{' of two runs' if against else ''} is no mean over items.",
            "Leave out --with.",
        )
    goal = Goal.of(until, by)
    return StoppingRule(
        goal,
        items.benchmark,
        headline,
        len(items),
        first_items,
        against,
        tuple(_opened(runs)),
        facts=FACTS in named,
    )


def _by_rounds(
    items: ItemSource, rule: StoppingRule, folder: Path, *, restart: bool
) -> tuple[ItemSource, Callable[[Run], int | None]]:
    """The items of the round that comes next, and what is told when they are answered."""
    from dataclasses import replace

    from gnomon.items.limits import is_larger

    place = folder.resolve()
    if rule.against is not None and rule.against.path.resolve() == place:
        raise UsageError(f"{folder} is the run itself.", "Name another run to tell it from.")
    helpers = tuple(run for run in rule.helpers if run.path.resolve() != place)
    rule = replace(rule, helpers=helpers)

    def more(run: Run) -> int | None:
        manifest = run.manifest
        counts = manifest.counts
        limit, look = rule.decide(run, whole=counts.asked == counts.items)
        if look is None:
            return limit
        asked_more = is_larger(manifest.limit, look.items)
        if manifest.last_look is not None or not asked_more:
            manifest.last_look = rule.note(look)
        return limit

    limit, look = rule.of_begun(folder, restart=restart)
    if limit is None and look is not None:
        limit = look.items
    return items.limited(limit), more


def reward(item: Item, reply: str) -> float:
    """How right a free reply to an item is, from 0 to 1: read as a run reads it, for training.

    A choice is right or wrong; a number gets its mean relative accuracy, which grows as it comes
    nearer.

    >>> from gnomon.records import Item
    >>> sides = ("left", "right")
    >>> asked = Item(id="1", form="choice", text="Where?", choices=sides, gold=("left",))
    >>> reward(asked, "It is on the left."), reward(asked, "right")
    (1.0, 0.0)
    """
    from gnomon.forms import ANSWER_FORMS, credit
    from gnomon.models.prompts.library import load_prompt
    from gnomon.models.reading.replies import as_answer

    said = as_answer(item, reply, load_prompt("chat")).choice
    form = ANSWER_FORMS.get(item.form)
    if form is None:
        return credit(item, said)
    marks = form.marks(item.choices, item.gold, said)
    return marks.get("relative_accuracy", marks["right"])


def _narrowed(
    source: ItemSource | str, limit: int | None, permute: int | None, shard: str | None
) -> ItemSource:
    """The items to ask; what is not said stays as the source has it."""
    if isinstance(source, str):
        source = load(source)
    if limit is not None:
        source = source.limited(limit)
    if permute is not None:
        source = source.permuted(permute)
    if shard is not None:
        source = source.sharded(shard)
    return source


def _asked_model(
    given: Model | ModelSpec | str | Callable[[Item], Any],
    items: ItemSource,
    shots_from: str | Path,
) -> Model | ModelSpec:
    """The model to ask, with the prompt and the worked examples that fit the items."""
    from gnomon.contracts import Model as Opened
    from gnomon.items.examples import with_examples
    from gnomon.models.functions import FunctionModel

    if isinstance(given, str):
        given = model(given)
    if isinstance(given, ModelSpec):
        return with_examples(items, with_prompt(given, items.benchmark.prompt), shots_from)
    if isinstance(given, Opened):
        return given
    return FunctionModel(given)


def merge(
    *shards: Run | str | Path, output: str | Path | None = None, incomplete: bool = False
) -> Run:
    """Make one run of its shards, beside the first of them or in the folder `output`.

    A set that lacks one is refused unless it is said to be `incomplete`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one = run("scales", "random", limit=9, shard="1/2", runs=folder)
    ...     two = run("scales", "random", limit=9, shard="2/2", runs=folder)
    ...     merge(one, two).manifest.counts.items
    9
    """
    from gnomon.runs import merge as merge_runs

    place = None if output is None else Path(output)
    return merge_runs(_opened(shards), place, incomplete=incomplete).run


def score(
    *runs: SomeRuns,
    by: str | Sequence[str] = (),
    measures: str | Sequence[str] = (),
    minimum: int = 1,
    draws: int = 0,
    level: float = 0.95,
    guess: int | None = None,
    over_seeds: bool = False,
    read_with: ModelSpec | str | None = None,
) -> Scores:
    """What the answers of runs are worth: over the items asked and then, with BY, per slice.

    runs        runs, their folders, or folders of runs
    measures    by name, instead of those of the runs' benchmarks
    by          a tag or several; slices with fewer than `minimum` items are left out
    draws       0 gives analytic intervals, more gives bootstrap intervals
    level       of the intervals
    guess       a seed with which items without an answer are guessed, instead of counted as wrong
    over_seeds  combine runs that differ only in the seed
    read_with   a model that reads the replies that no rule could read: its runs are scored, too

    Answers from elsewhere are scored as a run of them: `score(run(source, "answers:FILE"))`. The
    list of scores is a table in a notebook, and `.to_frame()` a DataFrame.
    """
    from gnomon.measures.entries import entries_of, with_guesses
    from gnomon.measures.scoring import score_entries
    from gnomon.reports.results import Scores

    opened = _opened(runs)
    if read_with is not None:
        again = [_read_again(each, read_with, runs=each.path.parent) for each in opened]
        opened = [*opened, *again]
    entries = entries_of(opened)
    if guess is not None:
        entries = with_guesses(entries, guess)
    found = score_entries(
        entries,
        by=_several(by),
        measures=_several(measures),
        minimum=minimum,
        draws=draws,
        level=level,
        seeds_together=over_seeds,
    )
    labels = {each.score.run: each.label for each in found if each.score.run}
    return Scores([each.score for each in found], labels)


def compare(
    *runs: SomeRuns,
    measure: str = "",
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    over_seeds: bool = False,
    unfinished: bool = False,
) -> Comparisons:
    """Do runs on the same items differ: each pair with its difference, interval and p-value.

    measure     by name; the first of the benchmark if not given
    level       of the intervals of differences
    draws       of the paired bootstrap, with `seed`
    over_seeds  combine a model's runs that differ only in the seed
    unfinished  compare unfinished runs too, on the items that both were asked
    """
    from gnomon.measures.chance import needs_two_runs
    from gnomon.measures.compared import compare_entries
    from gnomon.measures.entries import entries_of
    from gnomon.reports.results import Comparisons

    if needs_two_runs(measure):
        raise UsageError(
            f"{measure} is a measure over two runs: it has no difference.",
            f'Use gnomon.agreement(..., measure="{measure}").',
        )
    found = compare_entries(
        entries_of(_opened(runs)),
        measures=_several(measure or ()),
        level=level,
        draws=draws,
        seed=seed,
        seeds_together=over_seeds,
        unfinished=unfinished,
    )
    pairs = Comparisons()
    for part in found.compared:
        pairs += part.pairs
    return pairs


def changes(
    old: SomeRuns, new: SomeRuns, *, by: float = 0.05, measure: str = "", level: float = 0.95
) -> list[RunChange]:
    """Is any new run worse than the old one of its benchmark; `by` is the loss that must show.

    Each change has a verdict ("worse", "not worse" or "cannot tell"), the comparison, how many
    items turned wrong and right, and where most of the loss lies.
    """
    from gnomon.measures.entries import entries_of
    from gnomon.measures.regression import changes as found

    measures = [measure] if measure else []
    before, after = entries_of(_opened((old,))), entries_of(_opened((new,)))
    return found(before, after, by=by, measures=measures, level=level)


def agreement(
    *runs: SomeRuns,
    measure: str = "agreement",
    match: str = "",
    level: float = 0.95,
    unfinished: bool = False,
) -> list[Agreement]:
    """How often each two runs on the same items agree, or another measure over two runs.

    measure     by name: "agreement", "both_right" or a plug-in's
    match       a tag, such as "fact", that names the same question in several forms
    level       of the intervals
    unfinished  use unfinished runs too, on the items that both were asked
    """
    from gnomon.measures.compared import compare_entries
    from gnomon.measures.entries import entries_of, matched_by
    from gnomon.registry import pair_measure

    pair_measure(measure)  # says what there is, if it is none
    entries = entries_of(_opened(runs))
    if match:
        entries = matched_by(entries, match)
    found = compare_entries(entries, measures=[measure], level=level, unfinished=unfinished)
    return found.agreements


def report(
    runs: SomeRuns,
    output: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
    command: str = "",
) -> Path:
    """Write one self-contained page about runs, and give its path.

    With `figures`, each figure is also written to that folder. The page says by which `command` it
    was made.
    """
    from gnomon.reports.page.page import write_report

    return write_report(_opened(runs), Path(output), figures_folder=figures, command=command)


def overview(*runs: SomeRuns, level: float = 0.95) -> Overview:
    """Models by benchmarks: each cell with its score, interval, chance and marks.

    It is a table in a notebook and in `print`; `.to_frame()` has a row for each cell. `level` is
    that of the intervals.
    """
    from gnomon.reports.overview import overview as overview_of
    from gnomon.reports.study import studies

    return overview_of(studies(_opened(runs)), level=level)


def table(
    *runs: SomeRuns,
    format: str = "latex",
    by: str = "",
    marks: Literal["letters", "stars", "none"] = "letters",
    intervals: bool = True,
    published: bool = False,
    caption: str = "",
    label: str = "",
    level: float = 0.95,
) -> str:
    """Models by benchmarks for a paper: as latex, markdown, html, csv or json.

    by          a tag, for runs on one benchmark: a column for each of its values
    marks       "letters", "stars" or "none" for what differs significantly
    published   with the models of the benchmark's paper
    caption     of the table in LaTeX; one that says how it was made if not given
    """
    from gnomon.reports.overview import overview as overview_of
    from gnomon.reports.study import studies
    from gnomon.reports.tables.pivot import pivot, written

    check_known("format", format, TABLES)
    check_known("kind of marks", marks, ("letters", "stars", "none"))
    found = studies(_opened(runs))
    made = overview_of(found, by=by, level=level)
    shown: dict[str, Any] = {"marks": marks, "intervals": intervals, "published": published}
    printed = pivot(made, found, by=by, caption=caption, label=label, **shown)
    return written(printed, format)


def figures(*runs: SomeRuns) -> list[Figure]:
    """The overview and every figure of the report; a notebook shows each, `.save(path)` writes it.

    The name of a figure follows that of its benchmark: "scales-fresh-confusion".
    """
    from dataclasses import replace

    from gnomon.reports.figures import figures as figures_of
    from gnomon.reports.figures import file_name
    from gnomon.reports.overview import overview as overview_of
    from gnomon.reports.study import draw_alike, row_labels, studies

    found = studies(_opened(runs))
    draw_alike(found, row_labels(found))
    drawn = [overview_of(found).plot()]
    for study in found:
        for figure in figures_of(study):
            drawn.append(replace(figure, name=f"{file_name(study.name)}-{figure.name}"))
    return drawn


def cite(*used: str | Path | Run, format: str = "bibtex") -> str:
    """What to cite for benchmarks, runs or folders of runs: as bibtex, text or json.

    >>> "Visual Spatial Reasoning" in cite("vsr")
    True
    """
    from gnomon.reports.citations import cited

    check_known("format", format, ("bibtex", "text", "json"))
    return cited(used, format)


def power(
    source: ItemSource | str,
    *,
    difference: float = 0.03,
    accuracy: float = 0.7,
    limit: int | None = None,
) -> PlannedSet:
    """Which difference between two models the items can show, and what a smaller one takes.

    >>> power("scales", limit=200).is_enough
    False
    """
    from gnomon.measures.power import plan_set

    asked = _narrowed(source, limit, None, None)
    items = list(asked.without_pictures())
    return plan_set(items, asked.benchmark, difference=difference, accuracy=accuracy)


def preview(
    source: ItemSource | str,
    model: ModelSpec | str,
    *,
    n: int = 3,
    shots_from: str | Path = "",
) -> list[Preview]:
    """What a model would read for a few items: the text or messages, and what is scored.

    The model is loaded, but not asked.
    """
    items = _narrowed(source, n, None, None)
    opened: Any = _asked_model(model, items, shots_from)
    if isinstance(opened, ModelSpec):
        opened = opened.open()
    try:
        if not hasattr(opened, "preview"):
            raise UsageError(
                f"{opened.spec} reads no prompt.",
                "Choose a model that does, such as smollm2, hf:NAME or openai:NAME.",
            )
        return [opened.preview(item) for item in items]
    finally:
        close = getattr(opened, "close", None)
        if close:
            close()


def list_benchmarks() -> Catalogue:
    """What can be asked, by name: built-in benchmarks and those of plug-ins.

    >>> "scales" in list_benchmarks().names
    True
    """
    return _catalogue("benchmarks")


def list_models() -> Catalogue:
    """Who can be asked: the schemes of models, such as "hf" for hf:NAME."""
    return _catalogue("models")


def list_prompts() -> Catalogue:
    """The prompts that ship with Gnomon."""
    from gnomon.models.prompts.library import load_prompt, prompt_names
    from gnomon.reports.results import Catalogue, KnownName

    return Catalogue(KnownName(name, load_prompt(name).summary) for name in prompt_names())


def _catalogue(kind: str) -> Catalogue:
    from gnomon.registry import entries
    from gnomon.reports.results import Catalogue, KnownName

    return Catalogue(KnownName(name, entry.summary) for name, entry in entries(kind).items())


def _opened(runs: SomeRuns) -> list[Run]:
    """Runs and folders of runs, one or several, all opened."""
    from gnomon.runs import open_runs

    found: list[Run] = []
    for each in _listed(runs):
        found += open_runs([each]) if isinstance(each, (str, Path)) else [each]
    return found


def _listed(runs: SomeRuns) -> list[Run | str | Path]:
    """Runs and paths, one or several, in one list."""
    from gnomon.runs import Run as Opened

    if isinstance(runs, (Opened, str, Path)):
        return [runs]
    found: list[Run | str | Path] = []
    for each in runs:
        found += _listed(each)
    return found


def _several(names: str | Sequence[str]) -> list[str]:
    return list(dict.fromkeys([names] if isinstance(names, str) else names))
