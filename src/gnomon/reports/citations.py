"""What to cite: Gnomon, and the papers behind the benchmarks that were used."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from gnomon import __version__
from gnomon.errors import inert
from gnomon.files import package_data, read_yaml
from gnomon.registry import BENCHMARKS, benchmark, known_benchmark
from gnomon.runs import Run, open_runs
from gnomon.tabular import as_json, latex_text

GNOMON = "gnomon"
_HUB = re.compile(r"hf:(?P<name>[\w.-]+(/[\w.-]+)?)$")


class Citation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bibliographic facts of one work; an author is "Family, Given"."""

    key: str
    kind: Literal["paper", "software"]
    title: str
    authors: tuple[str, ...]
    year: int | None = None
    journal: str = ""
    book: str = ""  # the proceedings that it is in
    pages: str = ""  # FIRST-LAST
    arxiv: str = ""  # the paper's number
    url: str = ""  # its code and data


@cache
def citations() -> dict[str, Citation]:
    """Every work that Gnomon knows, by the name that benchmarks give its paper."""
    return msgspec.convert(read_yaml(package_data("citations.yaml")), dict[str, Citation])


def papers_of(benchmarks: Iterable[str]) -> list[str]:
    """The papers behind benchmarks (NAME or NAME@SOURCE), each once, in their order."""
    found: dict[str, None] = {}
    for name in benchmarks:
        benchmark = known_benchmark(name)
        if benchmark and benchmark.paper in citations():
            found[benchmark.paper] = None
    return list(found)


def without_paper(benchmarks: Iterable[str]) -> list[str]:
    """The benchmarks for which no paper is known: Gnomon's own, and those of plug-ins and files."""
    return [name for name in dict.fromkeys(benchmarks) if not papers_of([name])]


def cited(used: Sequence[str | Path | Run], form: str = "bibtex") -> str:
    """What to cite for benchmarks and runs, or all that is known; as bibtex, text or json."""
    benchmarks, models = _used(used)
    known = citations()
    wanted = [GNOMON, *papers_of(benchmarks)] if used else list(known)
    works = [known[name] for name in wanted]
    if form == "json":
        return as_json(msgspec.to_builtins(works))
    remarks = [inert(line) for line in (*_remarks(benchmarks), *model_pages(models))]
    if form == "text":
        return "\n".join([*map(as_text, works), *remarks])
    entries = "\n\n".join(map(bibtex, works))
    return "\n".join([entries, *(f"% {remark}" for remark in remarks)])


def _remarks(benchmarks: Iterable[str]) -> Iterator[str]:
    """What to cite for benchmarks that no paper is known of."""
    for name in without_paper(benchmarks):
        if name.partition("@")[0] in BENCHMARKS:
            yield f"{name} is Gnomon's own: cite Gnomon"
        else:
            yield f"{name}: no paper is known; cite its authors"


def _used(names: Sequence[str | Path | Run]) -> tuple[list[str], list[str]]:
    """The benchmarks and models behind names of benchmarks, runs and folders of runs."""
    benchmarks, models = [], []
    for name in names:
        if isinstance(name, str) and known_benchmark(name):  # though a folder may be called so
            benchmarks.append(name)
            continue
        if not isinstance(name, Run) and not Path(name).is_dir():
            benchmark(str(name).partition("@")[0])  # says what there is
        for run in [name] if isinstance(name, Run) else open_runs([name]):
            benchmarks.append(run.benchmark)
            models.append(run.model)
    return benchmarks, models


def model_pages(models: Iterable[str]) -> Iterator[str]:
    """Where the models say themselves how they are cited, for those of the hub.

    >>> list(model_pages(["hf:org/name", "random", "hf:./folder"]))
    ['hf:org/name: see https://huggingface.co/org/name']
    """
    for model in dict.fromkeys(models):
        found = _HUB.match(model)
        if found and not found["name"].startswith("."):
            yield f"{model}: see https://huggingface.co/{found['name']}"


def bibtex(work: Citation) -> str:
    """The entry for a bibliography."""
    title = latex_text(_with_tex_quotes(work.title))
    fields = {
        "title": f"{{{title}}}",
        "author": " and ".join(work.authors),
        "year": str(work.year or ""),
        "journal": work.journal,
        "booktitle": work.book,
        "pages": work.pages.replace("-", "--"),
        "eprint": work.arxiv,
        "archiveprefix": "arXiv" if work.arxiv else "",
        "note": f"Software, version {__version__}" if work.kind == "software" else "",
        "url": work.url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{_entry_type(work)}{{{work.key},", *lines, "}"])


def _entry_type(work: Citation) -> str:
    if work.journal:
        return "article"
    return "inproceedings" if work.book else "misc"


def _with_tex_quotes(title: str) -> str:
    return re.sub(r'"([^"]*)"', "“\\1”", title)


def as_text(work: Citation) -> str:
    """The work as a line of a list of references."""
    parts = [
        ", ".join(map(_given_first, work.authors)),
        str(work.year or ""),
        work.title,
        work.journal,
        f"{work.book}, pages {work.pages}" if work.book else "",
        f"arXiv:{work.arxiv}" if work.arxiv else "",
        f"Version {__version__}" if work.kind == "software" else "",
        work.url,
    ]
    return inert(". ".join(filter(None, parts)) + ("" if work.url else "."))


def in_short(work: Citation) -> str:
    """The title, the first author and the year.

    >>> in_short(citations()["VSR"])
    'Visual Spatial Reasoning, Liu et al. (2023)'
    """
    families = [author.split(",")[0] for author in work.authors]
    authors = " and ".join(families) if len(families) <= 2 else f"{families[0]} et al."
    year = f" ({work.year})" if work.year else ""
    return f"{work.title}, {authors}{year}"


def paper_page(work: Citation) -> str:
    """Where the paper can be read; empty if that is not known."""
    return f"https://arxiv.org/abs/{work.arxiv}" if work.arxiv else ""


def _given_first(author: str) -> str:
    """An author as one reads the name.

    >>> _given_first("Liu, Xiao"), _given_first("{The developers}")
    ('Xiao Liu', 'The developers')
    """
    family, comma, given = author.strip("{}").partition(", ")
    return f"{given} {family}" if comma else family
