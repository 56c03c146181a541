"""Measure a small real language model on slices of five fresh benchmarks, and small eyes on one.

It prints a table and writes a page. The first time, the weights (SmolLM2-135M-Instruct, 93 MB, and
19 MB of a detector and a depth map) are fetched into the cache, and some pictures are drawn; the
second time it takes seconds. Units, in the table, are what items share, such as objects or families
of patterns: intervals are over these (docs/glossary.md).

examples:
  gnomon demo
  gnomon demo --limit 300 -o demo.html
  gnomon demo -m hf:path/to/model
"""

import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from gnomon import registry
from gnomon.errors import MissingExtraError, ModelError
from gnomon.items.source import ItemSource, load
from gnomon.registry import model
from gnomon.runs import Run


def main(args: Namespace) -> int:
    """Run, score, report."""
    from gnomon import api
    from gnomon.cli.run import headline_of
    from gnomon.measures.entries import entries_of
    from gnomon.reports.shell import page_file

    needed = ("jinja2", "xllamacpp") if args.model == "smollm2" else ("jinja2",)
    if not all(map(find_spec, needed)):  # told before anything is fetched
        raise MissingExtraError("The demo", "demo")
    page_file(args.output, "gnomon-demo.html")  # a slip is told before anything is asked
    models = [model(args.model), model("random")]
    runs: list[Run] = []
    for name in registry.DEMO:
        runs += _asked(args, load(name).limited(args.limit), models)
    runs += _seen(args)
    print(headline_of(entries_of(runs), 1))
    page = api.report(runs, Path(args.output))
    print(f"\nThe report: {page}  (open it in a browser)")
    print(f"The runs:   {args.runs}  (gnomon view --runs {args.runs})")
    print("Your own model: pip install 'gnomon[hf]', then gnomon run quick -m hf:PATH")
    return 0


def _seen(args: Namespace) -> list[Run]:
    """The runs with pictures; none where the eyes cannot be fetched, with a word on why."""

    source = load(registry.DEMO_SEEN, **registry.DEMO_SEEN_OPTIONS).limited(args.limit)
    try:
        return _asked(args, source, [model(registry.DEMO_EYES), model("random")])
    except (ModelError, MissingExtraError) as error:
        print(f"Without {source.name}: {error}", file=sys.stderr)
        return []


def _asked(args: Namespace, source: ItemSource, models: list[registry.ModelSpec]) -> list[Run]:
    """The runs of the models on one benchmark."""
    from gnomon.cli.progress import ask_model

    runs = []
    for asked in models:
        title = f"{source.name} · {asked.spec}"
        run = ask_model(
            title, source, asked, quiet=args.quiet, runs=args.runs, restart=args.restart
        )
        runs.append(run)
    if not args.quiet and not sys.stderr.isatty():
        items = runs[-1].manifest.counts.items
        who = " and ".join(asked.spec for asked in models)
        print(f"{source.name}: asked {who} {items:,} items.", file=sys.stderr)
    return runs
