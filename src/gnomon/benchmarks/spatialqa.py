"""Inference about motion, orientation, distance, containment and their metaphors (spatialQA).

An item is a premise and a hypothesis of one template; several labels may be right. The published
set is the authors' 20,480 rows with their repetitions; the fresh one is made from families of
templates in which neither a constant nor the hypothesis or the premise alone says anything about
the label (docs/families.md).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.families import LABELS, FamilyProblem, TemplateFamily, read_families
from gnomon.contracts import AnswerFormat, Listing
from gnomon.downloads.catalogue import expected, locate
from gnomon.errors import DataError, UsageError
from gnomon.files import package_data, read_table, read_yaml
from gnomon.grouped import grouped, tally
from gnomon.records import Item, Prediction, digest

CATEGORIES = ("motion", "orientation", "distance", "containment", "metaphor")
COLUMNS = ("premise", "hypothesis", "entailment", "reasoning_type", "function_name", "g_id")
PER_TEMPLATE = 6  # more of the same template say little that is new


def fresh(
    *, seed: int = 0, per_group: int = PER_TEMPLATE, patterns: str = "", paired: bool = False
) -> Iterator[Item]:
    """Items of our own templates, or of those in a file of families of your own.

    No hypothesis is used twice in a family. An id is the template and a digest of what is asked, so
    that the same problem has the same id under any seed, and another problem another one.

    seed       draws the words
    per_group  items of each template, at most
    patterns   a file of families of your own (docs/families.md)
    paired     yes asks all templates of a family with the same hypotheses, so that only the
               premise decides
    """
    if per_group < 1:
        raise UsageError(
            f"There must be 1 item or more of each template, not {per_group}.",
            "Give --set per_group=1.",
        )
    for family in families(patterns):
        for problem in family.problems(per_group, seed=seed, paired=paired):
            yield _item(family, problem)


def families(patterns: str = "") -> list[TemplateFamily]:
    """The families that ship with Gnomon, category by category, or those of a file."""
    folder = package_data("spatialqa")
    words = read_yaml(folder / "words.yaml")
    if patterns:
        return read_families(Path(patterns), words)
    found = []
    for category in CATEGORIES:
        found += read_families(folder / f"{category}.yaml", words)
    return found


def _item(family: TemplateFamily, problem: FamilyProblem) -> Item:
    template = problem.template
    asked = digest(problem.premise, problem.hypothesis, *template.labels)
    tags = {
        "category": "metaphor" if template.figurative else family.category,
        "template": template.id,
        "family": family.kin,
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


def published(*, data: str = "", per_group: int = 0) -> Iterator[Item]:
    """The authors' 20,480 items, from data.tsv or any of their results files: all hold the same.

    data       the authors' repository, or a folder with one of the files; else what was fetched
    per_group  items of each template at most, the same in every run; 0 for all
    """
    found = [item for item, _ in read(_published_file(locate(data, "spatialqa")))]
    if per_group < 1:
        yield from found
        return
    for template in grouped(found, lambda item: item.group).values():
        yield from sorted(template, key=lambda item: digest(item.id))[:per_group]


def read(file: str | Path) -> Iterator[tuple[Item, dict[str, str]]]:
    """The item of each row of data.tsv or of a results file, and the row itself.

    The row has `answer` in a results file. An id is the template, a digest of the two sentences
    and, for a row that is repeated, a running number: the files come in different orders, and the
    same row has the same id in all of them.
    """
    seen: Counter[str] = Counter()
    for line, row in read_table(file, COLUMNS, delimiter="\t"):
        labels = row["entailment"].split(",")
        problem = _row_problem(row, labels)
        if problem:
            hint = expected("spatialqa", "results/results-MODEL.tsv")
            raise DataError(f"{problem}.", hint, file=file, line=line)
        template = f"{row['function_name']}/{row['g_id']}"
        name = f"{template}/{digest(row['premise'], row['hypothesis'], digits=10)}"
        seen[name] += 1
        if seen[name] > 1:
            name += f"-{seen[name]}"
        item = Item(
            id=name,
            form="entailment",
            context=row["premise"],
            text=row["hypothesis"],
            choices=LABELS,
            group=template,
            gold=tuple(sorted(set(labels), key=LABELS.index)),
            tags={"category": row["reasoning_type"], "template": template},
        )
        yield item, row


def _row_problem(row: Mapping[str, str], labels: Sequence[str]) -> str:
    for field in COLUMNS:
        if not row[field].strip():
            return f"the field {field} is empty"
    if set(labels) <= set(LABELS):
        return ""
    known = f"one of {', '.join(LABELS)}, or several with commas between them"
    return f"the field entailment is {row['entailment'][:40]!r}, not {known}"


def _published_file(folder: Path) -> Path:
    if not folder.is_dir():
        raise DataError(
            "there is no such folder.",
            "Give the folder that holds the authors' files with --data.",
            file=folder,
        )
    for place in (folder, folder / "data", folder / "results"):
        for pattern in ("data.tsv", "data.tsv.gz", "results-*.tsv", "results-*.tsv.gz"):
            found = sorted(place.glob(pattern))
            if found:
                return found[0]
    raise DataError(
        "the items of spatialQA are missing: looked for data.tsv and results-*.tsv, plain or .gz.",
        "Give the authors' repository as checked out, or a flat folder of its files, with --data.",
        file=folder,
    )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Table 3 of the paper (and how many items differ), labels by category, metaphorical twins."""
    within = _by_category(items)
    sizes = [(name, *_sizes(found)) for name, found in within.items()]
    columns = ("category", "templates", "items", "different")
    tables = [
        Listing("Templates and items (Table 3)", columns, tuple(sizes)),
        _label_table(within),
    ]
    templates = {item.group: item for item in items}
    twins = tally(templates.values(), "domain", "reading")
    if twins:
        tables.append(_twin_table(twins))
    return tables


def _by_category(items: Sequence[Item]) -> dict[str, list[Item]]:
    """The items of each category, in the paper's order, and at the end of all."""
    within: dict[str, list[Item]] = {category: [] for category in CATEGORIES}
    for item in items:
        within.setdefault(item.tags["category"], []).append(item)
    found = {name: rows for name, rows in within.items() if rows}
    return {**found, "all": list(items)}


def _label_table(within: Mapping[str, Sequence[Item]]) -> Listing:
    golds = sorted({item.gold for item in within["all"]}, key=_gold_order)
    rows = []
    for name, found in within.items():
        counts = Counter(item.gold for item in found)
        rows.append((name, *(counts[gold] for gold in golds)))
    columns = ("category", *map(" or ".join, golds))
    return Listing("Labels", columns, tuple(rows))


def _gold_order(gold: Sequence[str]) -> tuple[int, list[int]]:
    return len(gold), [LABELS.index(label) for label in gold]


def _twin_table(counts: Counter[tuple[str, ...]]) -> Listing:
    rows = []
    for domain in CATEGORIES:
        literal, figurative = counts[domain, "literal"], counts[domain, "figurative"]
        if literal or figurative:
            rows.append((domain, literal, figurative))
    return Listing(
        "Metaphorical twins: templates with hypotheses in common",
        ("category", "literal", "figurative"),
        tuple(rows),
    )


def _sizes(items: Sequence[Item]) -> tuple[int, int, int]:
    templates = {item.group for item in items}
    different = {(item.group, item.context, item.text) for item in items}
    return len(templates), len(items), len(different)


SPATIALQA = described(
    "spatialqa",
    "spatialqa",
    sources={"fresh": fresh, "published": published},
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
