"""BibTeX of what to cite: Gnomon, and the papers behind benchmarks or runs.

examples:
  gnomon cite
  gnomon cite scales spacenli@published
  gnomon cite runs --format text
  gnomon cite runs > used.bib

Without a name, everything that Gnomon knows. Models are cited as their authors ask: for those of
the Hugging Face hub, a comment names the page that says how.
"""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from gnomon.errors import inert


def main(args: Namespace) -> int:
    """Print the entries."""
    import msgspec

    from gnomon.reports import citations
    from gnomon.tabular import as_json

    benchmarks, models = _used(args.used)
    known = citations.citations()
    wanted = [citations.GNOMON, *citations.papers_of(benchmarks)]
    if not args.used:
        wanted = list(known)
    works = [known[name] for name in wanted]
    if args.format == "json":
        print(as_json(msgspec.to_builtins(works)))
        return 0
    if args.format == "text":
        print("\n".join(map(citations.as_text, works)))
    else:
        print("\n\n".join(map(citations.bibtex, works)))
    for line in [*_without_paper(benchmarks), *citations.model_pages(models)]:
        print(inert(line if args.format == "text" else f"% {line}"))
    return 0


def _without_paper(benchmarks: list[str]) -> Iterator[str]:
    """What to cite for benchmarks that no paper is known of."""
    from gnomon.registry import BENCHMARKS
    from gnomon.reports.citations import without_paper

    for name in without_paper(benchmarks):
        if name.partition("@")[0] in BENCHMARKS:
            yield f"{name} is Gnomon's own: cite Gnomon"
        else:
            yield f"{name}: no paper is known; cite its authors"


def _used(names: list[str]) -> tuple[list[str], list[str]]:
    """The benchmarks and models behind names of benchmarks and folders of runs."""
    from gnomon.registry import benchmark, known_benchmark
    from gnomon.runs import open_runs

    benchmarks, models = [], []
    for name in names:
        if known_benchmark(name):  # though a folder may have the same name
            benchmarks.append(name)
        elif Path(name).is_dir():
            for run in open_runs([name]):
                benchmarks.append(run.benchmark)
                models.append(run.model)
        else:
            benchmark(name.partition("@")[0])  # says what there is
    return benchmarks, models
