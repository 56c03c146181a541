"""Table 1 of the ViPhy paper, counted from items, and what its Figures 7, 8 and 10 count."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from statistics import fmean, pstdev

from gnomon.benchmarks.viphy.files import order_report, read_names
from gnomon.contracts import Listing
from gnomon.downloads.catalogue import locate
from gnomon.files import package_data, read_yaml
from gnomon.grouped import tally
from gnomon.records import Item
from gnomon.vision.knowledge import subtype_counts, subtypes

COLUMNS = ("of", "count", "paper")


def _paper() -> dict[str, dict[str, str]]:
    """What Table 1 prints, to stand beside what the items give."""
    printed: dict[str, dict[str, str]] = read_yaml(package_data("viphy/table1.yaml"))
    return printed


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Table 1 for the items of one task.

    For colours and elevations also how they are distributed, for sizes how far from an order.
    """
    if not items:
        return []
    task = items[0].tags.get("task")
    if task is None:  # numbers are asked for
        return []
    found: dict[str, object] = {"objects": len(_objects(items)), "instances": len(items)}
    if task == "color":
        found["classes"] = len(items[0].choices)
    else:
        found["relations"] = len(set(chain.from_iterable(item.gold for item in items)))
    cardinality = [len(item.gold) for item in items]
    found["label cardinality"] = f"{fmean(cardinality):.2f} ({pstdev(cardinality):.2f})"
    scenes = tally(items, "scene")
    if scenes:
        found["scenes"] = len(scenes)

    paper = _paper().get(task, {}) if tally(items, "split") else {}
    rows = [(of, value, paper.get(of, "")) for of, value in found.items()]
    tables = [Listing(f"Table 1: {task}", COLUMNS, tuple(rows))]
    if task == "color":
        return [*tables, colour_shares(items), colours_by_cardinality(items)]
    if task == "spatial":
        return [*tables, relations_by_scene(items)]
    if tally(items, "premises"):  # what premises say need not be an order
        return tables
    return [*tables, order_listing(items)]


def _objects(items: Sequence[Item]) -> set[tuple[str, ...]]:
    return {*tally(items, "object"), *tally(items, "obj_a"), *tally(items, "obj_b")}


def colour_shares(items: Sequence[Item]) -> Listing:
    """Figure 7: how often each colour is typical of an object, and as a share of all colours."""
    counts = Counter(colour for item in items for colour in item.gold)
    rows = [(colour, n, n / counts.total()) for colour, n in counts.most_common()]
    return Listing("Figure 7: colours", ("colour", "objects", "share"), tuple(rows))


def colours_by_cardinality(items: Sequence[Item]) -> Listing:
    """Figure 8: the same by how many colours are typical of the object."""
    objects = Counter(len(item.gold) for item in items)
    counts = Counter((len(item.gold), colour) for item in items for colour in item.gold)
    colours = items[0].choices
    rows = []
    for number in sorted(objects):
        each = [counts[number, colour] for colour in colours]
        rows.append((number, objects[number], *each))
    columns = ("typical colours", "objects", *colours)
    return Listing("Figure 8: colours by label cardinality", columns, tuple(rows))


def relations_by_scene(items: Sequence[Item]) -> Listing:
    """Figure 10: which relations are typical of the pairs of objects in each kind of room."""
    counts = Counter((item.tags["scene"], item.gold) for item in items)
    scenes = Counter(item.tags["scene"] for item in items)
    relations = sorted({item.gold for item in items}, key=lambda gold: (len(gold), gold))
    rows = []
    for scene, total in scenes.most_common():
        rows.append((scene, *(counts[scene, relation] for relation in relations), total))
    heads = [" or ".join(relation) for relation in relations]
    return Listing("Figure 10: relations by scene", ("scene", *heads, "pairs"), tuple(rows))


def order_listing(items: Sequence[Item]) -> Listing:
    """Whether the size relations of items are an order: cycles, tangles, repeats."""
    smaller = []
    for item in items:
        a, b = item.tags["obj_a"], item.tags["obj_b"]
        smaller.append((a, b) if item.tags["relation"] == "<" else (b, a))
    report = order_report(smaller)
    largest = len(report.components[0]) if report.components else 0
    rows = (
        ("unordered pairs", report.pairs - report.contradictions),
        ("pairs labelled both ways", report.contradictions),
        ("cycles of three objects", report.cycles),
        ("objects in the largest tangle", largest),
        ("pairs inside a tangle", report.tangled),
        ("is an order", "yes" if report.is_order else "no"),
        ("repeated items", len(items) - len({item.text for item in items})),
    )
    return Listing("Are the sizes an order?", ("of", "count"), rows)


def subtype_statistics(items: Sequence[Item], *, data: str = "") -> list[Listing]:
    """Table 1 for comparisons of subtypes.

    Of published ones also its first block, from the object names in DATA.
    """
    tables = statistics(items)
    if not tally(items, "split"):
        return tables
    counts = subtype_counts(subtypes(read_names(locate(data, "viphy"))))
    found = {
        "objects": counts.objects,
        "objects with subtype": counts.with_subtypes,
        "subtype cardinality": f"{counts.cardinality:.2f} ({counts.deviation:.2f})",
    }
    rows = tuple((of, n, _paper()["names"][of]) for of, n in found.items())
    return [*tables, Listing("Table 1: objects and their subtypes", COLUMNS, rows)]
