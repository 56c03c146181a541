"""VSR's published files, both released versions: captions with labels, votes and images."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from gnomon.downloads.catalogue import SourceFile, expected, locate
from gnomon.errors import DataError
from gnomon.files import find, find_optional, read_jsonl
from gnomon.grouped import PARTS, concept_parts, random_parts, shuffled, whole_parts
from gnomon.lexicon.relations import lexicon
from gnomon.records import Image
from gnomon.vision.images import describe

IMAGE = re.compile(r"\d{12}\.jpg")
# Only COCO's own server: a link in a stranger's file must not choose whom we ask.
LINK = re.compile(r"https?://images\.cocodataset\.org/(train2017|val2017)/(\d{12}\.jpg)")
RAW = ("data/data_files/all_vsr_raw_data.jsonl", "all_vsr_raw_data.jsonl", "raw.jsonl")
VALIDATED = (
    "data/data_files/all_vsr_validated_data.jsonl",
    "all_vsr_validated_data.jsonl",
    "validated.jsonl",
)
MOST_ROWS = 1_000_000  # a hundred times what was released; more is not this file


class VsrCaption(msgspec.Struct, frozen=True):
    """One annotated caption of one image."""

    image: str
    image_link: str
    caption: str
    label: int
    relation: str
    annotator_id: int
    vote_true_validator_id: list[int] | str
    vote_false_validator_id: list[int] | str
    reference_frame: float | None = None
    subj: str = ""  # in the zero-shot files only, and not to be trusted
    obj: str = ""

    @property
    def voters_true(self) -> list[int]:
        """The validators who said true."""
        return _votes(self.vote_true_validator_id)

    @property
    def voters_false(self) -> list[int]:
        """The validators who said false."""
        return _votes(self.vote_false_validator_id)

    @property
    def votes(self) -> tuple[int, int]:
        """How many validators said true, and how many false."""
        return len(self.voters_true), len(self.voters_false)

    @property
    def agreement(self) -> tuple[int, int]:
        """How many validators agreed with the label, of how many."""
        true, false = self.votes
        agreeing = true if self.label else false
        return agreeing, true + false

    @property
    def key(self) -> tuple[str, str]:
        """No image has the same caption twice."""
        return self.image, self.caption

    @property
    def concepts(self) -> tuple[str, str]:
        """The two things the caption is about."""
        return concepts(self.caption, self.relation)


def validated(row: VsrCaption) -> bool:
    """Whether at least two thirds of the validators agree with the label (section 2.2).

    A caption that nobody validated is not.
    """
    agreeing, total = row.agreement
    return total > 0 and 3 * agreeing >= 2 * total


def concepts(caption: str, relation: str) -> tuple[str, str]:
    """The things before and after the relation of a caption; empty if it is not of the usual form.

    >>> concepts("The hot dog is on top of the horse.", "on top of")
    ('hot dog', 'horse')
    """
    copula = "" if relation in lexicon().verbs else "is "
    found = re.fullmatch(rf"The (.+?) {copula}{re.escape(relation)} the (.+)\.", caption.strip())
    if found is None:
        return "", ""
    return found[1], found[2]


def read_captions(file: Path) -> list[VsrCaption]:
    """The captions of a file, each checked: label, votes, image name and link."""
    rows: list[VsrCaption] = []
    for line, row in read_jsonl(file, VsrCaption):
        problem = _problem(row)
        if len(rows) >= MOST_ROWS:
            problem = f"the file has more than {MOST_ROWS:,} captions"
        if problem:
            raise DataError(f"{problem}.", expected("vsr", RAW[0]), file=file, line=line)
        rows.append(row)
    return rows


def read_raw(folder: Path) -> list[VsrCaption]:
    """All annotations, before validation."""
    return read_captions(find(folder, *RAW, what="the raw annotations"))


def read_validated(folder: Path) -> list[VsrCaption]:
    """The validated captions.

    As released, else from the raw annotations by the rule, else all parts of the random split.
    """
    released = find_optional(folder, *VALIDATED)
    if released:
        return read_captions(released)
    if has_split(folder, "random") and not find_optional(folder, *RAW):
        rows: list[VsrCaption] = []
        for part in read_split(folder, "random").values():
            rows += part
        return rows
    return [row for row in read_raw(folder) if validated(row)]


def published_folder(data: str, release: int) -> Path:
    """The folder with the authors' files: the one given, else what was fetched of a release."""
    return locate(data, "vsr" if release == 1 else "vsr-2")


def has_split(folder: Path, split: str) -> bool:
    """Whether the released files of a split (random, zeroshot) are there."""
    return find_optional(folder, *_split_files(split, "train")) is not None


def read_split(folder: Path, split: str) -> dict[str, list[VsrCaption]]:
    """The released train, dev and test parts of a split (random, zeroshot), as read."""
    parts = {}
    for part in PARTS:
        file = find(folder, *_split_files(split, part), what=f"the {split} {part} split")
        parts[part] = read_captions(file)
    return parts


def image_files(folder: Path) -> Iterator[SourceFile]:
    """The images of the captions in a folder, each once, to be fetched into COCO's layout."""
    rows = read_raw(folder) if find_optional(folder, *RAW) else read_validated(folder)
    for link in dict.fromkeys(row.image_link for row in rows):
        yield SourceFile(path=_place(link), url=link)


def picture(row: VsrCaption, folders: Sequence[Path], *, required: bool) -> Image:
    """The caption's photograph, as it is in one of the folders (COCO's layout or flat).

    If it is in none, its address on the web, unless it is required.
    """
    place = _place(row.image_link)
    for folder in folders:
        for path in (place, f"trainval2017/{row.image}", f"images/{row.image}", row.image):
            if (folder / path).is_file():
                return describe(folder / path)
    if required:
        raise DataError(
            f"the image {row.image} is not there: looked for {place} and {row.image}.",
            "Fetch the images with `gnomon data get vsr-images`, or leave out --images.",
            file=folders[0],
        )
    return Image(path=row.image_link)


def _place(link: str) -> str:
    """Where COCO keeps the image of a link that was checked when it was read: val2017/NAME."""
    return "/".join(link.rsplit("/", 2)[1:])


def _split_files(split: str, part: str) -> tuple[str, ...]:
    return (
        f"data/splits/{split}/{part}.jsonl",
        f"splits/{split}/{part}.jsonl",
        f"{split}/{part}.jsonl",
    )


def _votes(votes: list[int] | str) -> list[int]:
    if isinstance(votes, list):
        return votes
    return msgspec.json.decode(votes, type=list[int])


def _problem(row: VsrCaption) -> str:
    if row.label not in (0, 1):
        return f"the label is {row.label}, not 0 or 1"
    if not IMAGE.fullmatch(row.image):
        return f"the image name {row.image[:60]!r} is not twelve digits and .jpg"
    link = LINK.fullmatch(row.image_link)
    if link is None or link[2] != row.image:
        shown = f"{row.image_link[:80]!r}"
        return f"the image link {shown} does not lead to {row.image} on images.cocodataset.org"
    if not row.caption.strip() or not row.relation.strip():
        return "the caption or the relation is empty"
    try:
        row.votes  # noqa: B018 - decodes them
    except msgspec.MsgspecError:
        return "the votes are not a list of validators"
    return ""


# Ways to divide VSR into train, dev and test, with a seed (the authors' shuffles had none).
#
# The released random split leaks: the two halves of a contrastive pair (one caption, two images,
# opposite labels) are divided at random, so a caption seen in training tells the answer in the
# test: the other one. `contrast` keeps all uses of a caption in one part.


Parts = dict[str, list[VsrCaption]]
SHARES = (10, 25, 50, 75)  # percent of the training part, for sample efficiency (section 3.4)
SHOTS = 100


def drawn_split(rows: Sequence[VsrCaption], kind: str, seed: int) -> Parts:
    """Train, dev and test, drawn with a seed.

    random    70/10/20 % at random, as the authors do
    zeroshot  parts that share no concept: 50/20/30 % of the concepts, without captions whose two
              concepts are in different parts. Concepts are read from the captions; the authors'
              field had lost its first letters, so their parts share horse, hot dog and elephant
    contrast  70/10/20 % of the rows, by whole captions: none of the test was seen in training
    """
    if kind == "zeroshot":
        return concept_parts(rows, lambda row: row.concepts, seed)
    if kind == "contrast":
        return whole_parts(rows, lambda row: row.caption, seed)
    return random_parts(rows, seed)


def training_prefix(train: Sequence[VsrCaption], seed: int, size: str) -> list[VsrCaption]:
    """A part of the training rows for sample efficiency: "100" rows, or 10, 25, 50 or 75 %.

    Smaller ones are in larger.

    >>> len(training_prefix(list(range(7083)), 0, "25"))
    1770
    """
    mixed = shuffled(train, seed, "efficiency")
    if size == str(SHOTS):
        return mixed[:SHOTS]
    share = int(size) / 100
    return mixed[: int(share * len(train))]


# What published and fresh items share: the labels, and the categories of relations.


CHOICES = ("false", "true")
NONE = "none"  # of "congruent": annotators used it, but the paper's list lacks it


def category(relation: str) -> str:
    """The meta-category of a relation; "none" for the one relation (congruent) that has none.

    >>> category("among"), category("congruent")
    ('Unallocated', 'none')
    """
    known = lexicon().relations.get(relation)
    return NONE if known is None else known.category or NONE


def all_relations() -> tuple[str, ...]:
    """The 71 relations that annotators choose from, by category.

    The paper's list has 71 entries, of which "among" is two; its data have one more relation.

    >>> len(all_relations())
    71
    """
    in_categories = [each for each in lexicon().relations.values() if each.category]
    by_category = sorted(in_categories, key=lambda each: each.category)
    return tuple(each.name for each in by_category)


def relations_without_is() -> tuple[str, ...]:
    """The relations that are verbs of their own.

    >>> relations_without_is()
    ('contains', 'consists of', 'has as a part')
    """
    return tuple(name for name in all_relations() if name in lexicon().verbs)


# Contrastive pairs: one caption that an annotator wrote for two photographs, true of one of them.
#
# The released files do not name the pairs. They are found again in the raw annotations, where the
# two halves of a task mostly stand one after the other.


Key = tuple[str, str]  # of a caption: its image and its text
Task = tuple[int, str]  # who wrote it, and the text


def contrastive_pairs(rows: Sequence[VsrCaption]) -> dict[Key, str]:
    """The name of the pair that each caption belongs to; a caption without another half has none.

    Neighbours with opposite labels are a pair. What then remains of an annotator's caption is one
    if it is one true and one false row: more could be matched in several ways, and are left.
    """
    tasks: defaultdict[Task, list[VsrCaption]] = defaultdict(list)
    halves: list[tuple[VsrCaption, VsrCaption]] = []
    taken: set[Key] = set()
    for row, following in pairwise(rows):
        if row.key not in taken and _are_halves(row, following):
            halves.append((row, following))
            taken |= {row.key, following.key}
    for row in rows:
        if row.key not in taken:
            tasks[_task(row)].append(row)
    for rest in tasks.values():
        if len(rest) == 2 and _are_halves(*rest):
            halves.append((rest[0], rest[1]))

    names: dict[Key, str] = {}
    counts: defaultdict[Task, int] = defaultdict(int)
    for one, other in halves:
        task = _task(one)
        counts[task] += 1
        name = f"{one.annotator_id}/{one.caption.strip(' .').replace(' ', '_')}/{counts[task]}"
        names[one.key] = names[other.key] = name
    return names


def _are_halves(one: VsrCaption, other: VsrCaption) -> bool:
    return _task(one) == _task(other) and one.label != other.label


def _task(row: VsrCaption) -> Task:
    return row.annotator_id, row.caption
