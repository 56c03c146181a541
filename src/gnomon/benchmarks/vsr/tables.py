"""The statistics tables of the VSR paper, counted from items: splits, relations, disagreement."""

from collections.abc import Sequence

from gnomon.benchmarks.vsr.files import published_folder, read_split
from gnomon.contracts import Listing
from gnomon.errors import GnomonError
from gnomon.grouped import PARTS, tally
from gnomon.records import Item

MOST_DISPUTED = 60  # items of a relation before its share of disputed ones is shown
FREQUENT = 100  # Figure 7 shows concepts that are subject, or object, more often than this
EXCLUDED_FROM = 20  # Figure 8 shows relations with more raw annotations than this


def statistics(items: Sequence[Item], *, data: str = "", release: int = 1) -> list[Listing]:
    """Tables 2 (splits) and 6 (relations), Figure 7 (concepts), and how far validators disagree.

    Of fresh items, of which nobody was asked: relations and things. The zero-shot split is counted
    twice: as it was released, with captions that validation dropped, and of what was validated.
    """
    if not items:
        return []
    if not tally(items, "votes"):
        return [relations_by_truth(items), things_by_role(items)]
    tables = (
        labels_and_votes(items),
        split_sizes(items, _zeroshot_sizes(data, release)),
        relation_counts(items),
        concept_counts(items),
        disagreement(items),
    )
    return [table for table in tables if table.rows]


def relations_by_truth(items: Sequence[Item]) -> Listing:
    """How often each relation is true and how often false."""
    counts = tally(items, "relation", "category", "grade")
    true = tally([item for item in items if item.gold == ("true",)], "relation")
    rows = []
    for (relation, category, grade), total in sorted(counts.items()):
        rows.append((relation, category, grade, total, true[(relation,)]))
    columns = ("relation", "category", "grade", "items", "true")
    return Listing("Relations", columns, tuple(rows))


def things_by_role(items: Sequence[Item]) -> Listing:
    """How often each thing is the subject and the object of a caption."""
    subjects, objects = tally(items, "subj"), tally(items, "obj")
    rows = []
    for (thing,) in sorted(subjects | objects):
        rows.append((thing, subjects[(thing,)], objects[(thing,)]))
    return Listing("Things", ("thing", "subject", "object"), tuple(rows))


def labels_and_votes(items: Sequence[Item]) -> Listing:
    """Items, images, relations, annotators and votes (section 2.4)."""
    votes = 0
    for (cast,), captions in tally(items, "votes").items():
        votes += int(cast) * captions
    validated = tally(items, "validated")
    rows: list[tuple[str, object]] = [
        ("captions", len(items)),
        ("images", len(tally(items, "image"))),
        ("relations", len(tally(items, "relation"))),
        ("annotators", len(tally(items, "annotator"))),
        ("validation votes", votes),
        ("votes for a caption", round(votes / len(items), 3)),
        ("nobody disagrees with the label", _of(tally(items, "dissent")["no",], items)),
    ]
    if validated:
        rows.append(("validated (two thirds agree)", _of(validated["yes",], items)))
    return Listing("Captions and votes", ("of", "count"), tuple(rows))


def _of(count: int, items: Sequence[Item]) -> str:
    return f"{count} ({100 * count / len(items):.1f} %)"


def split_sizes(items: Sequence[Item], zeroshot: Sequence[int] = ()) -> Listing:
    """Table 2: the sizes of the parts, of the split that the items are in."""
    kinds = {part.partition("/")[0] for (part,) in tally(items, "part")}
    kind = kinds.pop() if len(kinds) == 1 else "random"
    every: dict[str, Sequence[int]] = {kind: _sizes(items, "split")}
    of_validated = _sizes(items, "zeroshot")
    if any(of_validated):
        every["zero-shot (as released)"] = zeroshot
        every["zero-shot (of validated)"] = of_validated
    rows = [(name, *sizes, sum(sizes)) for name, sizes in every.items() if any(sizes)]
    return Listing("Table 2: splits", ("split", *PARTS, "total"), tuple(rows))


def _sizes(items: Sequence[Item], tag: str) -> list[int]:
    counts = tally(items, tag)
    return [counts[part,] for part in PARTS]


def _zeroshot_sizes(data: str, release: int) -> list[int]:
    """The sizes of the released zero-shot parts; none where they are not here."""
    try:
        parts = read_split(published_folder(data, release), "zeroshot")
    except GnomonError:
        return []
    return [len(parts[part]) for part in PARTS]


def relation_counts(items: Sequence[Item]) -> Listing:
    """Table 6: how often each relation occurs."""
    counts = tally(items, "relation", "category")
    order = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = tuple((*names, count) for names, count in order)
    return Listing("Table 6: relations", ("relation", "category", "items"), rows)


def concept_counts(items: Sequence[Item]) -> Listing:
    """Figure 7: how often each concept is the subject and the object of a caption."""
    subjects, objects = tally(items, "subj"), tally(items, "obj")
    rows = []
    for (concept,) in subjects | objects:
        first, second = subjects[(concept,)], objects[(concept,)]
        if max(first, second) > FREQUENT:
            rows.append((concept, first, second, first + second))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return Listing(
        f"Figure 7: concepts (more than {FREQUENT} times in a place)",
        ("concept", "subject", "object", "both"),
        tuple(rows),
    )


def disagreement(items: Sequence[Item]) -> Listing:
    """The share of each relation that validation excludes (Figure 8), of raw annotations.

    Of validated ones, the share with a dissenting vote.
    """
    if tally(items, "validated"):
        what, tag, value, least = "excluded", "validated", "no", EXCLUDED_FROM + 1
        title = "Figure 8: excluded by validation"
    else:
        what, tag, value, least = "disputed", "dissent", "yes", MOST_DISPUTED
        title = f"With a dissenting vote (relations with {least} or more)"
    counted = tally(items, "relation", tag)
    rows = []
    for (relation,), total in tally(items, "relation").items():
        if total >= least:
            count = counted[relation, value]
            rows.append((relation, total, count, round(count / total, 3)))
    rows.sort(key=lambda row: (-row[3], row[0]))
    return Listing(title, ("relation", "items", what, "share"), tuple(rows))
