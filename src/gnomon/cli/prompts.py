"""Choose a prompt fairly: on some objects, to be scored on others. Or try every prompt on all.

examples:
  gnomon prompts scales -m smollm2 --set form=cloze --set scale=size --limit 100
  gnomon prompts posrel -m smollm2 --limit 60 --grid
  gnomon prompts scales -m hf:bert-base-uncased --set form=cloze --candidates my_candidates.yaml
  gnomon prompts scales -m smollm2 --set form=cloze --back-translate opus-mt-en-de,opus-mt-de-en

Candidates are sentences and answer words: every sentence is tried with every set of words. They
come from --candidates FILE (a list of candidates or a prompt file), else from our own list for the
benchmark, else they are the wordings of the model's prompt. --back-translate adds what a pair of
translation models makes of them.

Objects are divided into folds. In turn, each fold chooses the candidate that does best on the items
all of whose objects are in the fold; the choice is scored on the items none of whose objects are.
Printed are mean and standard deviation over folds. --grid prints every candidate on every item
instead, with median, worst, best and spread. Either way each candidate is a run in --runs, so that
a command that was stopped goes on where it was, and `gnomon report` draws the spread.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli.candidates import Candidates, gathered
from gnomon.cli.dispatch import tell
from gnomon.cli.selection import (
    chosen_sources,
    settings_of,
)
from gnomon.contracts import Measure
from gnomon.errors import UsageError, inert
from gnomon.items.source import ItemSource
from gnomon.models.machine import keeping_models
from gnomon.records import Item
from gnomon.tabular import render
from gnomon.trust import check_begins

if TYPE_CHECKING:
    from gnomon.measures.entries import ScoredTable
    from gnomon.measures.prompts import Search
    from gnomon.train.folds import Division


# in what this command wrote
OURS = rb'Prompts chosen on one fold|Every prompt on|"candidates":|\bprompts\b.{1,40}\bmedian\b'


def main(args: Namespace) -> int:
    """Gather candidates, ask them all, then choose and score, or show them all."""
    from gnomon.measures.entries import entries_of

    _check(args)
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit).remembered()
    items = _items(source)
    division = None if args.grid else _division(args, source, items)
    candidates = gathered(args, source, items)
    entries = entries_of(_ask(args, source, candidates))
    measures = _measures(args, source)
    if division is None:
        text = _grid(args, candidates, entries, measures)
    else:
        text = _searched(args, candidates, entries, division, items, measures)
    _give(args, text)
    return 0


def _check(args: Namespace) -> None:
    if "wording" in settings_of(args):
        raise UsageError(
            "wording chooses one way to ask, and `gnomon prompts` tries them all.",
            "Leave out --set wording.",
        )
    if args.candidates and args.prompt:
        raise UsageError(
            "--candidates and --prompt both say how items are put.", "Leave out one of them."
        )
    if args.output:
        check_begins(Path(args.output), OURS)
    if args.beams < 2:
        raise UsageError(f"beams is {args.beams}.", "Give 2 or more.")


def _items(source: ItemSource) -> list[Item]:
    items = list(source.items())
    forms = sorted({item.form for item in items})
    if not items:
        raise UsageError(f"{source.name} has no items with these options.", "Choose others.")
    if len(forms) > 1:
        raise UsageError(
            f"The items of {source.name} are of several forms: {', '.join(forms)}.",
            f"A prompt is chosen for one: add --set form={forms[0]}.",
        )
    return items


def _division(args: Namespace, source: ItemSource, items: Sequence[Item]) -> Division:
    from gnomon.train.folds import divide, objects_of

    kinds: list[tuple[str, ...]] = list(source.benchmark.units)
    if args.apart:
        kinds = [tuple(tag.strip() for tag in args.apart.split(",") if tag.strip())]
        for item in items:
            _check_tags(item, kinds[0])
    objects = [objects_of(item, kinds) for item in items]
    return divide(objects, args.folds, args.search_seed)


def _check_tags(item: Item, tags: Sequence[str]) -> None:
    lacking = [tag for tag in tags if not item.tags.get(tag)]
    if lacking:
        raise UsageError(
            f"The item '{item.id}' has no tag '{lacking[0]}'.",
            f"Choose among its tags: {', '.join(item.tags)}.",
        )


def _ask(args: Namespace, source: ItemSource, candidates: Candidates) -> list[Any]:
    """One run for each candidate; the model's weights are loaded once."""
    from gnomon.cli.progress import ask_model

    runs = []
    total = len(candidates.models)
    with keeping_models():
        for number, model in enumerate(candidates.models, 1):
            title = f"{source.name} · {model.spec} · prompt {number} of {total}"
            try:
                runs.append(ask_model(title, source, model, quiet=args.quiet, runs=args.runs))
            except KeyboardInterrupt:
                tell(f"stopped at prompt {number} of {total}. Give the command again to go on.")
                raise SystemExit(130) from None
    return runs


def _measures(args: Namespace, source: ItemSource) -> list[Measure]:
    from gnomon import registry

    names = args.measure
    if not names:
        usual = ("accuracy", "macro_f1")  # as the paper
        names = [name for name in usual if name in ("accuracy", *source.benchmark.measures)]
    return [registry.measure(name) for name in names]


def _grid(
    args: Namespace,
    candidates: Candidates,
    entries: Sequence[ScoredTable],
    measures: Sequence[Measure],
) -> str:
    from gnomon.measures.prompts import score_over_prompts
    from gnomon.measures.scoring import score
    from gnomon.reports.tables.prompts import grid_listing, prompts_shown

    names = [measure.name for measure in measures]
    over = score_over_prompts(entries, measures=names)
    if args.format in ("json", "csv"):
        return prompts_shown(over, args.format)
    each = [score(entry.table, measures[0]) for entry in entries]
    listing = grid_listing(each, candidates.labels)
    text = f"{render(listing, args.format)}\n\n{prompts_shown(over, args.format)}"
    return text if args.format != "table" else f"{text}\n{inert(_sentence(candidates.told))}"


def _searched(
    args: Namespace,
    candidates: Candidates,
    entries: Sequence[ScoredTable],
    division: Division,
    items: Sequence[Item],
    measures: Sequence[Measure],
) -> str:
    from gnomon.measures.prompts import SearchFold, search
    from gnomon.reports.tables.prompts import fold_listing, mean_listing

    parts = []
    for fold in range(division.folds):
        choosing = frozenset(items[number].id for number in division.choosing(fold))
        scoring = frozenset(items[number].id for number in division.scoring(fold))
        parts.append(SearchFold(choosing, scoring))
    found = search([entry.table for entry in entries], parts, measures)
    if args.format == "json":
        return _json(candidates, division, found)
    objects = [len(division.objects_in(fold)) for fold in range(division.folds)]
    listings = [fold_listing(found, candidates.labels, objects), mean_listing(found)]
    text = "\n\n".join(render(listing, args.format) for listing in listings)
    if args.format != "table":
        return text
    told = [_sentence(candidates.told), _rule(division)]
    return "\n".join([text, *map(inert, told)])


def _rule(division: Division) -> str:
    """What happens to items between two folds, and what other rules would cost."""
    from gnomon.train.folds import losses

    found = losses(division)
    rule = (
        "A fold chooses by the items all of whose objects are in it, and its choice is scored on "
        f"those none of whose are: of {found.items:,} items, {found.lost_apart:,.0f} do neither."
    )
    if not found.lost_within:
        return f"{rule} No item falls between two folds."
    return (
        f"{rule} Scoring only items that belong to a fold would lose {found.lost_within:,}. Folds "
        f"by the first object would lose none, but {100 * found.shared_by_first:.0f} % of the "
        "scored items would name an object that was chosen by."
    )


def _json(candidates: Candidates, division: Division, found: Search) -> str:
    import msgspec

    from gnomon.reports.tables.prompts import search_fields
    from gnomon.train.folds import losses

    fields = {
        "candidates": candidates.labels,
        "dropped": candidates.dropped,
        **search_fields(found, candidates.labels),
        "objects": [division.objects_in(fold) for fold in range(division.folds)],
        "losses": losses(division)._asdict(),
    }
    return msgspec.json.format(msgspec.json.encode(fields)).decode()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _give(args: Namespace, text: str) -> None:
    if not args.output:
        print(text)
        return
    Path(args.output).write_text(f"{text}\n", encoding="utf-8")
    if not args.quiet:
        tell(f"wrote {args.output}.")
