"""Inference about motion, orientation, distance, containment and their metaphors (spatialQA,
section 2).

An item is a premise and a hypothesis of one template; several labels may be right. The published
set is the authors' 20,480 rows with their repetitions; the fresh one is made from families of
templates in which neither a constant nor the hypothesis alone says anything about the label
(docs/families.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from gnomon.benchmarks.families import LABELS, Family, Problem, read_families
from gnomon.contracts import AnswerFormat, Benchmark, Listing
from gnomon.errors import DataError, UsageError
from gnomon.fetching.catalogue import locate
from gnomon.files import package_data, read_table, read_yaml
from gnomon.records import Item, Prediction, digest

CATEGORIES = ("motion", "orientation", "distance", "containment", "metaphor")
COLUMNS = ("premise", "hypothesis", "entailment", "reasoning_type", "function_name", "g_id")
PER_TEMPLATE = 107  # with 192 templates a little more than the 20,480 items of the published set


def fresh(
    *, seed: int = 0, per_group: int | None = None, patterns: str = "", paired: bool = False
) -> Iterator[Item]:
    """PER_GROUP items of each of our own templates; or of those in a file of families of your own
    (PATTERNS).

    No hypothesis is used twice in a family. With PAIRED, all its templates are asked with the same
    hypotheses: contrast sets in which only the premise decides. An id is the template and a digest
    of what is asked, so that the same problem has the same id under any seed, and another problem
    another one.
    """
    count = PER_TEMPLATE if per_group is None else per_group
    if count < 1:
        raise UsageError(f"There must be 1 item or more of each template, not {count}.")
    for family in families(patterns):
        for problem in family.problems(count, seed=seed, paired=paired):
            yield _item(family, problem)


def families(patterns: str = "") -> list[Family]:
    """The families that ship with Gnomon, category by category, or those of a file."""
    folder = package_data("spatialqa")
    words = read_yaml(folder / "words.yaml")
    files = (
        [Path(patterns)] if patterns else [folder / f"{category}.yaml" for category in CATEGORIES]
    )
    return [family for file in files for family in read_families(file, words)]


def _item(family: Family, problem: Problem) -> Item:
    template = problem.template
    asked = digest(problem.premise, problem.hypothesis, *template.labels)
    tags = {
        "category": "metaphor" if template.figurative else family.category,
        "template": template.id,
        "family": family.name,
    }
    if any(other.figurative for other in family.templates):
        tags |= {
            "domain": family.category,
            "reading": "figurative" if template.figurative else "literal",
        }
    return Item(
        id=f"{template.id}/{asked}",
        form="entailment",
        context=problem.premise,
        text=problem.hypothesis,
        choices=LABELS,
        gold=template.labels,
        group=template.id,
        tags=tags,
    )


def published(*, data: str = "") -> Iterator[Item]:
    """The authors' items: data.tsv, or one of their results files where it is not there (all hold
    the same rows)."""
    for item, _ in read(_published_file(locate(data, "spatialqa"))):
        yield item


def read(file: str | Path) -> Iterator[tuple[Item, dict[str, str]]]:
    """The item of each row of data.tsv or of a results file, and the row itself, with `answer`
    where there is one.

    An id is the template, a digest of the two sentences and, for a row that is repeated, a running
    number: the files come in different orders, and the same row has the same id in all of them.
    """
    seen: Counter[str] = Counter()
    for line, row in read_table(file, COLUMNS, delimiter="\t"):
        for field in COLUMNS:
            if not row[field].strip():
                raise DataError(
                    f"the field {field} is empty.",
                    "Is this a file of spatialQA?",
                    file=file,
                    line=line,
                )
        labels = row["entailment"].split(",")
        if not set(labels) <= set(LABELS):
            raise DataError(
                f"the field entailment is {row['entailment'][:40]!r}, not one of {', '.join(LABELS)}, or "
                "several with commas between them.",
                "Is this a file of spatialQA?",
                file=file,
                line=line,
            )
        template = f"{row['function_name']}/{row['g_id']}"
        name = f"{template}/{digest(row['premise'], row['hypothesis'], digits=10)}"
        seen[name] += 1
        yield (
            Item(
                id=name if seen[name] == 1 else f"{name}-{seen[name]}",
                form="entailment",
                context=row["premise"],
                text=row["hypothesis"],
                choices=LABELS,
                group=template,
                gold=tuple(label for label in LABELS if label in labels),
                tags={"category": row["reasoning_type"], "template": template},
            ),
            row,
        )


def _published_file(folder: Path) -> Path:
    if not folder.is_dir():
        raise DataError(
            "there is no such folder.",
            "Give the folder that holds the authors' files with --data.",
            file=folder,
        )
    for place in (folder, folder / "data", folder / "results"):
        for pattern in ("data.tsv", "data.tsv.gz", "results-*.tsv", "results-*.tsv.gz"):
            if found := sorted(place.glob(pattern)):
                return found[0]
    raise DataError(
        "the items of spatialQA are missing: looked for data.tsv and results-*.tsv, plain or .gz.",
        "Give the authors' repository as checked out, or a flat folder of its files, with --data.",
        file=folder,
    )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Table 3 of the paper (with the items that differ), labels by category, and the twins of the
    fresh set."""
    present = {item.tags["category"] for item in items}
    categories = [category for category in CATEGORIES if category in present] + sorted(
        present - set(CATEGORIES)
    )
    within = {
        category: [item for item in items if item.tags["category"] == category]
        for category in categories
    }
    sizes = [(name, *_sizes(found)) for name, found in [*within.items(), ("all", list(items))]]
    golds = sorted(
        {item.gold for item in items}, key=lambda gold: (len(gold), [LABELS.index(g) for g in gold])
    )
    labels = [
        (name, *(sum(item.gold == gold for item in found) for gold in golds))
        for name, found in [*within.items(), ("all", list(items))]
    ]
    tables = [
        Listing(
            "Templates and items (Table 3)",
            ("category", "templates", "items", "different"),
            tuple(sizes),
        ),
        Listing("Labels", ("category", *(" or ".join(gold) for gold in golds)), tuple(labels)),
    ]
    twins = Counter(
        (item.tags["domain"], item.tags["reading"], item.group)
        for item in items
        if "domain" in item.tags
    )
    if twins:
        rows = tuple(
            (
                domain,
                *(
                    sum(1 for d, r, _ in twins if (d, r) == (domain, reading))
                    for reading in ("literal", "figurative")
                ),
            )
            for domain in CATEGORIES
            if any(d == domain for d, _, _ in twins)
        )
        tables.append(
            Listing(
                "Metaphorical twins: templates with hypotheses in common",
                ("category", "literal", "figurative"),
                rows,
            )
        )
    return tables


def _sizes(items: Sequence[Item]) -> tuple[int, int, int]:
    return (
        len({item.group for item in items}),
        len(items),
        len({(i.group, i.context, i.text) for i in items}),
    )


SPATIALQA = Benchmark(
    name="spatialqa",
    summary="inference about motion, orientation, distance, containment and their metaphors",
    paper="spatialQA",
    sources={"fresh": fresh, "published": published},
    measures=(
        "partial_credit",
        "without_partial_credit",
        "accuracy",
        "macro_f1",
        "group_agreement",
    ),
    slices=("category",),
    noun="templates",
    hold_out=(("family",),),
    published_results="spatialqa",
    statistics=statistics,
)


def _is_results(file: Path, head: Sequence[str]) -> bool:
    columns = head[0].split("\t") if head else []
    return {"premise", "hypothesis", "function_name", "answer"} <= set(columns)


def _results(file: Path) -> Iterator[Prediction]:
    """Rows of results-MODEL.tsv; the answer "None" is a reply that could not be read."""
    for line, (item, row) in enumerate(read(file), start=2):
        label = None if row["answer"] == "None" else row["answer"]
        yield Prediction(line, item.id, label=label)


ANSWERS = AnswerFormat(name="spatialqa", recognises=_is_results, read=_results)
