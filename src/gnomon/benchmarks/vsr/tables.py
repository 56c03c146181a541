"""The statistics tables of the VSR paper, counted from items: splits, relations, disagreement of
the validators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gnomon.benchmarks.vsr.files import PARTS
from gnomon.contracts import Listing
from gnomon.records import Item

MOST_DISPUTED = 60  # items of a relation before its share of disputed ones is shown
FREQUENT = 100  # Figure 7 shows concepts that are subject, or object, more often than this
EXCLUDED_FROM = 20  # Figure 8 shows relations with more raw annotations than this


def statistics(items: Sequence[Item]) -> list[Listing]:
    """Table 2 (splits), Table 6 (relations), Figure 7 (concepts), and how far validators disagree
    about each relation."""
    if not items:
        return []
    return [
        table
        for table in (
            labels_and_votes(items),
            split_sizes(items),
            relation_counts(items),
            concept_counts(items),
            disagreement(items),
        )
        if table.rows
    ]


def labels_and_votes(items: Sequence[Item]) -> Listing:
    """Items, images, relations, annotators and votes (section 2.4)."""
    votes = [int(item.tags["votes"]) for item in items if "votes" in item.tags]
    unanimous = sum(item.tags["dissent"] == "no" for item in items)
    rows: list[tuple[str, object]] = [
        ("captions", len(items)),
        ("images", len({item.tags["image"] for item in items})),
        ("relations", len({item.tags["relation"] for item in items})),
        ("annotators", len({item.tags["annotator"] for item in items})),
        ("validation votes", sum(votes)),
        ("votes for a caption", round(sum(votes) / len(items), 3)),
        ("nobody disagrees with the label", f"{unanimous} ({100 * unanimous / len(items):.1f} %)"),
    ]
    validated = Counter(item.tags["validated"] for item in items if "validated" in item.tags)
    if validated:
        kept = validated["yes"]
        rows.append(("validated (two thirds agree)", f"{kept} ({100 * kept / len(items):.1f} %)"))
    return Listing("Captions and votes", ("of", "count"), tuple(rows))


def split_sizes(items: Sequence[Item]) -> Listing:
    """Table 2: the sizes of the parts, of the split that the items are in."""
    rows = []
    for name, tag in (("random", "split"), ("zero-shot (of validated)", "zeroshot")):
        counts = Counter(item.tags[tag] for item in items if item.tags.get(tag) in PARTS)
        kinds = {
            item.tags["part"].partition("/")[0]
            for item in items
            if tag == "split" and "part" in item.tags
        }
        if counts:
            rows.append(
                (
                    kinds.pop() if len(kinds) == 1 else name,
                    *(counts[part] for part in PARTS),
                    counts.total(),
                )
            )
    return Listing("Table 2: splits", ("split", *PARTS, "total"), tuple(rows))


def relation_counts(items: Sequence[Item]) -> Listing:
    """Table 6: how often each relation occurs."""
    counts = Counter((item.tags["relation"], item.tags["category"]) for item in items)
    order = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return Listing(
        "Table 6: relations",
        ("relation", "category", "items"),
        tuple((relation, category, n) for (relation, category), n in order),
    )


def concept_counts(items: Sequence[Item]) -> Listing:
    """Figure 7: how often each concept is the subject and the object of a caption."""
    subjects = Counter(item.tags["subj"] for item in items)
    objects = Counter(item.tags["obj"] for item in items)
    rows = []
    for concept in subjects | objects:
        places = (subjects[concept], objects[concept])
        if max(places) > FREQUENT:
            rows.append((concept, *places, sum(places)))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return Listing(
        f"Figure 7: concepts (more than {FREQUENT} times in a place)",
        ("concept", "subject", "object", "both"),
        tuple(rows),
    )


def disagreement(items: Sequence[Item]) -> Listing:
    """For raw annotations the share that validation excludes (Figure 8), else the share with a
    dissenting vote."""
    raw = any("validated" in item.tags for item in items)
    least = EXCLUDED_FROM + 1 if raw else MOST_DISPUTED
    total = Counter(item.tags["relation"] for item in items)
    disputed = Counter(
        item.tags["relation"]
        for item in items
        if (item.tags["validated"] == "no" if raw else item.tags["dissent"] == "yes")
    )
    rows = [
        (relation, n, disputed[relation], round(disputed[relation] / n, 3))
        for relation, n in total.items()
        if n >= least
    ]
    what = "excluded" if raw else "disputed"
    title = (
        "Figure 8: excluded by validation"
        if raw
        else f"With a dissenting vote (relations with {least} or more)"
    )
    return Listing(
        title,
        ("relation", "items", what, "share"),
        tuple(sorted(rows, key=lambda row: (-row[3], row[0]))),
    )
