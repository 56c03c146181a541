"""The statistics tables of the VSR paper, counted from items: splits, relations, disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gnomon.benchmarks.vsr.files import PARTS
from gnomon.contracts import Listing
from gnomon.records import Item

MOST_DISPUTED = 60  # items of a relation before its share of disputed ones is shown
EXCLUDED_FROM = 20  # Figure 8 shows relations with more raw annotations than this


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Table 2 (splits), Table 6 (relations), and how far validators disagree on each relation."""
    if not items:
        return []
    tables = (
        labels_and_votes(items),
        split_sizes(items),
        relation_counts(items),
        disagreement(items),
    )
    return [table for table in tables if table.rows]


def labels_and_votes(items: Sequence[Item]) -> Listing:
    """Items, images, relations, annotators and votes (section 2.4)."""
    votes = sum(int(item.tags.get("votes", "0")) for item in items)
    dissent = Counter(item.tags["dissent"] for item in items)
    validated = Counter(item.tags.get("validated", "") for item in items)
    rows: list[tuple[str, object]] = [
        ("captions", len(items)),
        ("images", _different(items, "image")),
        ("relations", _different(items, "relation")),
        ("annotators", _different(items, "annotator")),
        ("validation votes", votes),
        ("votes for a caption", round(votes / len(items), 3)),
        ("nobody disagrees with the label", _of(dissent["no"], items)),
    ]
    if validated["yes"] or validated["no"]:
        rows.append(("validated (two thirds agree)", _of(validated["yes"], items)))
    return Listing("Captions and votes", ("of", "count"), tuple(rows))


def _different(items: Sequence[Item], tag: str) -> int:
    return len({item.tags[tag] for item in items})


def _of(count: int, items: Sequence[Item]) -> str:
    return f"{count} ({100 * count / len(items):.1f} %)"


def split_sizes(items: Sequence[Item]) -> Listing:
    """Table 2: the sizes of the parts, of the split that the items are in."""
    kinds = {item.tags.get("part", "").partition("/")[0] for item in items} - {""}
    kind = kinds.pop() if len(kinds) == 1 else "random"
    rows = []
    for name, tag in ((kind, "split"), ("zero-shot (of validated)", "zeroshot")):
        counts = Counter(item.tags[tag] for item in items if item.tags.get(tag) in PARTS)
        if counts:
            rows.append((name, *(counts[part] for part in PARTS), counts.total()))
    return Listing("Table 2: splits", ("split", *PARTS, "total"), tuple(rows))


def relation_counts(items: Sequence[Item]) -> Listing:
    """Table 6: how often each relation occurs."""
    counts = Counter((item.tags["relation"], item.tags["category"]) for item in items)
    order = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = tuple((relation, category, n) for (relation, category), n in order)
    return Listing("Table 6: relations", ("relation", "category", "items"), rows)


def disagreement(items: Sequence[Item]) -> Listing:
    """The share of each relation that validation excludes (Figure 8), of raw annotations.

    Of validated ones, the share with a dissenting vote.
    """
    if any("validated" in item.tags for item in items):
        what, tag, value, least = "excluded", "validated", "no", EXCLUDED_FROM + 1
        title = "Figure 8: excluded by validation"
    else:
        what, tag, value, least = "disputed", "dissent", "yes", MOST_DISPUTED
        title = f"With a dissenting vote (relations with {least} or more)"
    total = Counter(item.tags["relation"] for item in items)
    counted = Counter(item.tags["relation"] for item in items if item.tags[tag] == value)
    rows = []
    for relation, n in total.items():
        if n >= least:
            rows.append((relation, n, counted[relation], round(counted[relation] / n, 3)))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return Listing(title, ("relation", "items", what, "share"), tuple(rows))
