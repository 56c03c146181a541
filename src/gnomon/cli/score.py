"""Score runs, or a file of answers: each measure with its interval.

examples:
  gnomon score runs/*
  gnomon score runs --by scale --measure accuracy --measure symmetry
  gnomon score runs/scales* --draws 1000 --format json
  gnomon score --answers predictions.csv --benchmark scales --seed 3 --limit 40
  gnomon score --answers results-ada.tsv --benchmark spatialqa@published --data path/to/spatialqa
  gnomon score runs/posrel* --over-seeds
  gnomon score runs --prompts all
  gnomon score runs/spacenli* --like-paper --format latex
  gnomon score runs/posrel* --like-paper --over-seeds
  gnomon score runs/scales* --like-paper --on-items-of runs/scales@fresh-synth...
  gnomon score runs/spacenli* --by class+expression=between
  gnomon score runs/scales* --beliefs -o beliefs.html
  gnomon score logs/samples_mine.jsonl --read-with smollm2

Values are fractions in JSON and CSV, percentages elsewhere. Intervals are over the units that items
share, such as objects or patterns (docs/glossary.md). A failed or unread answer counts as
wrong, and an item that was not asked does not count; standard error says how many there are. Runs
of one model are labelled by the options in which they differ.

--beliefs shows what a model's answers say together: its order of things, and what would have to
change. An answer such as "a cow is larger than an ant" puts one thing over another. All answers in
one context (a scale and a form, a room, a story) are taken together: how many pairs were said both
ways, cycles of three, the largest tangle of things that lie on cycles together, and the least
number of answers to change so that all agree with one order. Tangles of up to 16 things are solved
exactly; of larger ones two bounds are given, and "at least" is the lower. "Right by the order" is
what would be right if all answers followed it. docs/beliefs.md says more.

Figures of the same numbers: `gnomon report RUN... --figures DIR` writes SVG, PDF, PNG and CSV.
"""

from __future__ import annotations

import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.dispatch import tell
from gnomon.cli.options import flags_of
from gnomon.cli.selection import (
    chosen_models,
    chosen_sources,
    tables_of,
)
from gnomon.errors import UsageError
from gnomon.items.writing import atomic_file
from gnomon.registry import measure
from gnomon.runs import open_runs
from gnomon.tabular import render
from gnomon.trust import check_begins

if TYPE_CHECKING:
    from gnomon.measures.entries import ScoredTable
    from gnomon.measures.scoring import Scored
    from gnomon.reports.beliefs import Believer
    from gnomon.runs import Run

ENDINGS = (".html", ".svg")


def main(args: Namespace) -> int:
    """Score and print."""
    from gnomon.measures.entries import entries_of, restricted, with_guesses
    from gnomon.measures.scoring import score_entries
    from gnomon.reports.tables.prompts import place_scores
    from gnomon.reports.tables.scores import shown

    _check(args)
    if args.beliefs:
        return _show_beliefs(args)
    given = [_from_file(args)] if args.answers else entries_of(_read_runs(args))
    entries = given if args.guess is None else with_guesses(given, args.guess)
    if args.like_paper:
        text = _like_papers(args, entries)
        _tell_remarks(args, given)
        print(text)
        return 0
    if args.on_items_of:
        entries = restricted(entries, tables_of(args.on_items_of))
        _tell_restriction(args, entries)
    if args.prompts:
        text = _over_prompts(args, entries)
        _tell_remarks(args, given)
        print(text)
        return 0
    found = score_entries(
        entries,
        by=args.by,
        measures=args.measure,
        minimum=args.minimum,
        draws=args.draws,
        level=args.level,
        seeds_together=args.over_seeds,
    )
    if args.measure and all(each.score.n == 0 for each in found):
        raise _nothing_to_score(args.measure, entries)
    _tell_remarks(args, given)
    _tell_few_units(found, entries)
    _tell_unsliced(args.by, entries)
    if args.over_seeds:
        _tell_deviations(found)
    if args.format in ("json", "csv"):
        found += place_scores(entries, level=args.level)
    print(shown(found, args.format, plain=args.plain, level=args.level))
    if args.format not in ("json", "csv"):
        print_places(entries, level=args.level, format=args.format, plain=args.plain)
    return 0


def _nothing_to_score(measures: Sequence[str], entries: Sequence[ScoredTable]) -> UsageError:
    """What each measure lacks, and which would fit."""
    from gnomon.measures.chance import WORDS, unmet

    lacking = []
    for name in measures:
        need = unmet(measure(name), entries[0].table)
        lacking.append(f"{name} needs {WORDS[need]}" if need else f"{name} has no items")
    fitting = dict.fromkeys(name for entry in entries for name in entry.measures)
    hint = f"Measures that fit these runs: {', '.join(fitting)}."
    return UsageError(f"{'; '.join(lacking)}.", hint)


def _read_runs(args: Namespace) -> list[Run]:
    """The runs, and with --read-with what a second reader makes of their replies."""
    runs = open_runs(args.runs)
    if not args.read_with:
        return runs
    from gnomon.cli.judging import read_unread

    return [*runs, *read_unread(runs, args.read_with)]


def _over_prompts(args: Namespace, entries: Sequence[ScoredTable]) -> str:
    from gnomon.measures.prompts import score_over_prompts
    from gnomon.reports.tables.prompts import prompts_shown

    found = score_over_prompts(
        entries, by=args.by, measures=args.measure, minimum=args.minimum, level=args.level
    )
    return prompts_shown(found, args.format, plain=args.plain, level=args.level)


def print_places(
    entries: Sequence[ScoredTable],
    *,
    level: float = 0.95,
    format: str = "table",
    plain: bool = False,
) -> None:
    """The bias by place of runs whose choices were permuted."""
    from gnomon.reports.tables.prompts import place_listings
    from gnomon.reports.tables.scores import PLAIN

    for listing in place_listings(entries, level=level):
        text = render(listing, format)
        print("\n" + (text.translate(PLAIN) if plain else text))


def _check(args: Namespace) -> None:
    """Refuse options that have no effect together."""
    if args.runs and args.answers:
        raise UsageError(
            "Give either runs or a file with --answers.", "For example: gnomon score runs/*"
        )
    if not args.answers:
        args.runs = args.runs or ["runs"]
    if args.answers and args.read_with:
        raise UsageError(
            "--read-with reads the replies of runs.",
            f"Make one with `gnomon run BENCHMARK -m answers:{args.answers} --read-with MODEL`.",
        )
    args.by, args.measure = list(dict.fromkeys(args.by)), list(dict.fromkeys(args.measure))
    if args.like_paper and args.format == "json":
        raise UsageError(
            "The papers' layouts have no JSON form.",
            "Leave out --like-paper: the scores are the same.",
        )
    given = _given(args)
    if args.runs and given:
        shown = "--set all=yes" if given == "all" else f"--{given}"
        raise UsageError(
            f"{shown} belongs to a file of answers; a run holds its own items.",
            f"Leave out {shown}, or make another run with it.",
        )
    if args.output and not args.beliefs:
        raise UsageError("-o belongs to --beliefs.", "Leave it out; > FILE keeps the table.")
    if args.beliefs:
        others = ("answers", "by", "measure", "draws", "guess", "over_seeds", "prompts")
        _check_unused(args, "--beliefs", (*others, "on_items_of", "like_paper"))
    elif args.like_paper:
        _check_unused(args, "--like-paper", ("by", "measure", "draws", "prompts"))
    elif args.over_seeds:
        _check_unused(args, "--over-seeds", ("draws", "prompts"))
    elif args.prompts:
        _check_unused(args, "--prompts", ("draws", "answers"))


def _check_unused(args: Namespace, option: str, others: Sequence[str]) -> None:
    for name in others:
        if getattr(args, name):
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} has no effect with {option}.", "Leave out one of them.")


def _given(args: Namespace) -> str:
    """The first option that was given of those which say what the answers in a file are to."""
    for name in ("benchmark", "limit", "scale", *flags_of("benchmarks"), "set", "all"):
        if getattr(args, name) not in (None, "", [], False):
            return name
    return ""


def _from_file(args: Namespace) -> ScoredTable:
    from gnomon.items.answers.joining import NOT_THERE, read_predictions
    from gnomon.measures.entries import ScoredTable
    from gnomon.measures.table import Table
    from gnomon.measures.units import Sharing

    if not args.benchmark:
        raise UsageError(
            "A file of answers needs its benchmark.",
            "Give it with --benchmark NAME or NAME@published.",
        )
    args.model = f"answers:{args.answers}"  # whose options say how the file is read
    reading = chosen_models(args, [args.model])[0].options
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit)
    benchmark = source.benchmark
    joined = read_predictions(args.answers, source.items(), **reading)
    rows = list(joined.rows)
    for note in joined.notes:
        tell(note)
    absent = sum(answer.error == NOT_THERE for _, answer in rows)
    table = Table.of(
        rows,
        benchmark=source.name,
        model=f"answers:{Path(args.answers).name}",
        scale=args.scale or "none",
        sharing=Sharing.of(benchmark),
        laws=benchmark.laws,
        seed=source.options.get("seed"),
    )
    return ScoredTable(table, benchmark.measures, table.model, absent)


def _tell_restriction(args: Namespace, entries: Sequence[ScoredTable]) -> None:
    """On standard error: how many items are left, and whose they are."""
    whose = " and ".join(args.on_items_of)
    for entry in entries:
        left = f"{len(entry.table):,} items, those to which {whose} has an answer"
        print(f"{entry.label} on {entry.table.benchmark}: {left}.", file=sys.stderr)


def _tell_remarks(args: Namespace, entries: Sequence[ScoredTable]) -> None:
    """On standard error: what the figures do not show."""
    from gnomon.measures.cautions import cautions
    from gnomon.measures.remarks import remarks

    for caution in cautions([(entry.label, entry.table) for entry in entries]):
        print(caution, file=sys.stderr)
    guessed = args.guess is not None
    for entry in entries:
        measures = args.measure or entry.measures
        if args.like_paper:  # which has remarks of its own on the measures of a paper
            measures = ()
        for remark in remarks(entry, measures, guessed=guessed):
            print(remark, file=sys.stderr)


def _tell_few_units(found: Sequence[Scored], entries: Sequence[ScoredTable]) -> None:
    """On standard error: figures that rest on hardly any pair, triple or group of items."""
    from gnomon.measures.accuracy import FEWEST

    items = {(entry.label, entry.table.benchmark): len(entry.table) for entry in entries}
    few: dict[str, dict[str, None]] = {}
    for score, label, *_ in found:
        asked = items.get((label, score.benchmark), 0)
        whole = not score.by and score.value is not None and asked >= FEWEST
        if whole and score.n < FEWEST:
            name = score.measure.removesuffix("_and_right")
            few.setdefault(f"{label} on {score.benchmark}", {})[name] = None
    for about, measures in few.items():
        rest = f"fewer than {FEWEST} pairs, triples or groups"
        print(f"{about}: {rest} say nothing yet about {', '.join(measures)}.", file=sys.stderr)


def _tell_unsliced(tags: Sequence[str], entries: Sequence[ScoredTable]) -> None:
    """On standard error: the benchmarks whose items lack a tag."""
    for tag in tags:
        lacking = [entry.table.benchmark for entry in entries if not entry.table.has(tag)]
        for benchmark in dict.fromkeys(lacking):
            print(f"{benchmark} has no tag '{tag}': it is not sliced by it.", file=sys.stderr)


def _tell_deviations(found: Sequence[Scored]) -> None:
    """On standard error: the mean and the deviation over seeds, as papers print them."""
    from gnomon.measures.seeds import NONE_TOGETHER

    several = [each for each in found if each.over_seeds and each.over_seeds.runs > 1]
    if not several:
        print(NONE_TOGETHER, file=sys.stderr)
    alike = [each.label for each in several if each.over_seeds and each.over_seeds.alike]
    for label in dict.fromkeys(alike):
        said = (
            f"{label}: the seed changes neither items nor answers, so the deviation says nothing."
        )
        print(said, file=sys.stderr)
    for line in _deviations(several):
        print(line, file=sys.stderr)


def _deviations(found: Sequence[Scored]) -> Iterator[str]:
    for each in found:
        score, over_seeds = each.score, each.over_seeds
        if score.by or over_seeds is None or len(over_seeds.values) < 2:
            continue
        mean = 100 * (score.value or 0)
        yield (
            f"{each.label} on {score.benchmark}, {score.measure}: {mean:.1f} ± "
            f"{100 * over_seeds.deviation:.1f} over {len(over_seeds.values)} seeds."
        )


def _like_papers(args: Namespace, entries: Sequence[ScoredTable]) -> str:
    """The results tables of the papers whose benchmarks these are."""
    from gnomon.reports.papertables import beside_papers

    tables = [entry.table for entry in entries]
    others = tables_of(args.on_items_of)
    listings, caveats = beside_papers(tables, seeds_together=args.over_seeds, recognised_by=others)
    if not listings:
        raise UsageError(
            "No table of a paper has a place for these runs.",
            "See `gnomon score` without --like-paper.",
        )
    for caveat in caveats:
        print(caveat, file=sys.stderr)
    return "\n\n".join(render(listing, args.format) for listing in listings)


# What the answers of a run say together.


def _show_beliefs(args: Namespace) -> int:
    """Find the beliefs, print them, and write the page or the map."""
    _check_output(args.output)
    found = _believers(args.runs)
    if not found:
        raise UsageError(
            "The answers in these runs put nothing in an order.",
            "Ask a benchmark of sizes, heights or places, such as scales, or chains with "
            "--set ask=pairs.",
        )
    if args.output:
        _write_beliefs(found, args)
    print(_beliefs_shown(found, args.format))
    return 0


def _check_output(output: str | None) -> None:
    if output and Path(output).suffix.lower() not in ENDINGS:
        raise UsageError(f"'{output}' ends in none of {', '.join(ENDINGS)}.", "Change its ending.")


def _believers(paths: Sequence[str]) -> list[Believer]:
    from gnomon.measures.beliefs import beliefs
    from gnomon.measures.entries import entries_of
    from gnomon.reports.beliefs import Believer

    found = []
    for entry in entries_of(open_runs(paths)):
        for belief in beliefs(entry.table):
            found.append(Believer(entry.table.benchmark, entry.label, belief))
    return found


def _beliefs_shown(found: Sequence[Believer], format: str) -> str:
    from gnomon.reports.beliefs import by_model, flat_records, records, sentence, summary

    if format == "json":
        return render(records(found), format)
    if format == "csv":
        return render(flat_records(found), format)
    for own in by_model(found):
        print(sentence(own), file=sys.stderr)
    return render(summary(found), format)


def _write_beliefs(found: Sequence[Believer], args: Namespace) -> None:
    from gnomon.reports.beliefs import map_file, page
    from gnomon.reports.shell import page_file

    output = Path(args.output)
    if output.suffix.lower() == ".svg":
        largest = max(found, key=lambda one: one.belief.answers)
        content = map_file(largest)
        check_begins(output, re.escape(content[:40].encode()))
    else:
        page_file(output, "beliefs.html")
        command = ["gnomon", "score", *args.runs, "--beliefs", "-o", args.output]
        content = page(found, shlex.join(command))
    with atomic_file(output.resolve()) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
    print(f"{output}: {len(content) / 1e6:.1f} MB", file=sys.stderr)
