"""Is a caption about where two things are true of a picture? (Visual Spatial Reasoning.)

`published` gives the validated captions, or one of the splits: as released, or rebuilt with a seed
where the release has none or leaks. `fresh` (fresh.py) draws pictures that nobody has seen.
"""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.illustrating import mirror
from gnomon.benchmarks.vsr import files
from gnomon.benchmarks.vsr.files import CHOICES, Key, VsrCaption, category, contrastive_pairs
from gnomon.benchmarks.vsr.fresh import fresh, illustrate
from gnomon.benchmarks.vsr.tables import statistics
from gnomon.benchmarks.vsr.ways import chosen_ways, in_ways
from gnomon.contracts import AnswerFormat, Judged, VoteFormat
from gnomon.downloads.catalogue import cached
from gnomon.errors import DataError, RebuiltItemsWarning, UsageError
from gnomon.files import find_optional, read_lines
from gnomon.grouped import PARTS
from gnomon.records import Image, Item, Prediction

SIZES = ("100", *(str(share) for share in files.SHARES))
KINDS = ("random", "random-rebuilt", "zeroshot", "zeroshot-published", "contrast")


def published(
    *,
    data: str = "",
    split: str = "",
    images: str = "",
    present: bool = False,
    seed: int = 0,
    release: int = 1,
    ways: str = "",
) -> Iterator[Item]:
    """The validated captions, or those of a split.

    data     the authors' repository, or a folder with its files; else what was fetched
    split    raw, KIND, KIND/PART or PART. KIND is random (as released, else rebuilt),
             random-rebuilt, zeroshot (no concept shared), zeroshot-published (as released) or
             contrast; PART is train, dev, test or train-N, for N = 100 captions or 10, 25, 50, 75
             percent. A PART alone is one of random
    images   a folder with the photographs, in COCO's layout or flat; else what was fetched
    present  only captions whose photograph is there, for a folder with some of them
    seed     draws the splits that are rebuilt
    release  1 (the paper's) or 2 (the journal version's), where no folder is given
    ways     other ways to put each fact: converse, negation, mirror (of the photograph), with
             commas between them, or all
    """
    if release not in (1, 2):
        raise UsageError(
            f"There is no release {release} of VSR.",
            "Give 1 (the paper's) or 2 (the journal version's).",
        )
    folder = files.published_folder(data, release)
    others = chosen_ways(ways)
    pictures = _picture_folders(images)
    required = bool(images) and not present
    captions = _captions(folder, split, pictures, seed, required=required)
    if present:
        captions = (item for item in captions if item.images[0].sha256)
    yield from in_ways(captions, others)


def _captions(
    folder: Path, split: str, pictures: list[Path], seed: int, *, required: bool
) -> Iterator[Item]:
    pairs = _pairs(folder)
    for tags, row in _chosen(folder, split, seed):
        if row.key in pairs:
            tags["pair"] = pairs[row.key]
        yield caption_item(row, files.picture(row, pictures, required=required), tags)


def _pairs(folder: Path) -> dict[Key, str]:
    """The contrastive pairs, found in the raw annotations, else in what was validated."""
    if find_optional(folder, *files.RAW):
        return contrastive_pairs(files.read_raw(folder))
    if find_optional(folder, *files.VALIDATED) or files.has_split(folder, "random"):
        return contrastive_pairs(files.read_validated(folder))
    return {}


def _picture_folders(images: str) -> list[Path]:
    if not images:
        fetched = cached("vsr-images")
        return [fetched] if fetched else []
    folder = Path(images).expanduser()
    if not folder.is_dir():
        raise DataError(
            "there is no such folder.",
            "Give the folder that holds train2017 and val2017 with --images.",
            file=images,
        )
    return [folder]


def _chosen(folder: Path, split: str, seed: int) -> Iterator[tuple[dict[str, str], VsrCaption]]:
    """The captions of a split, with the tags that say where they stand."""
    if split == "raw":
        for row in files.read_raw(folder):
            yield {"split": "raw", "validated": "yes" if files.validated(row) else "no"}, row
        return
    if not split:
        yield from _validated(folder)
        return
    kind, part = parse_split(split)
    parts = split_parts(folder, kind, seed)
    for name in [part] if part else PARTS:
        if name in parts:
            rows = parts[name]
        else:
            size = name.removeprefix("train-")
            rows = files.training_prefix(parts["train"], seed, size)
        for row in rows:
            yield {"split": name, "part": f"{kind}/{name}"}, row


def _validated(folder: Path) -> Iterator[tuple[dict[str, str], VsrCaption]]:
    random, zeroshot = _homes(folder, "random"), _homes(folder, "zeroshot")
    for row in files.read_validated(folder):
        home = random.get(row.key, "")
        tags = {"split": home, "zeroshot": zeroshot.get(row.key, "")}
        if home:
            tags["part"] = f"random/{home}"
        yield tags, row


def parse_split(split: str) -> tuple[str, str]:
    """The kind and the part that a split names; the part is empty for all three.

    >>> parse_split("contrast/test"), parse_split("train-10"), parse_split("zeroshot")
    (('contrast', 'test'), ('random', 'train-10'), ('zeroshot', ''))
    """
    kind, _, part = split.partition("/")
    known = (*PARTS, *(f"train-{size}" for size in SIZES))
    if not part and kind not in KINDS:
        kind, part = "random", kind
    if kind not in KINDS or (part and part not in known):
        raise UsageError(
            f"There is no split named '{split}'.",
            f"Write raw, KIND, PART or KIND/PART. Kinds: {', '.join(KINDS)}. "
            f"Parts: {', '.join(known)}.",
        )
    return kind, part


def split_parts(folder: Path, kind: str, seed: int) -> files.Parts:
    """The train, dev and test parts of a kind of split."""
    if kind == "zeroshot-published" or (kind == "random" and files.has_split(folder, "random")):
        return files.read_split(folder, kind.removesuffix("-published"))
    if kind == "random":
        warnings.warn(
            "The released random split is not here: its parts are drawn again, with the seed. "
            "`gnomon data get vsr` fetches it.",
            RebuiltItemsWarning,
            stacklevel=2,
        )
    return files.drawn_split(files.read_validated(folder), kind, seed)


def caption_item(row: VsrCaption, image: Image, tags: dict[str, str]) -> Item:
    """A caption of an image as an item: true or false."""
    agreeing, total = row.agreement
    subject, thing = row.concepts
    more = {
        "relation": row.relation,
        "category": category(row.relation),
        "subj": subject,
        "obj": thing,
        "annotator": str(row.annotator_id),
        "votes": str(total),
        "agreement": f"{agreeing / total:.2f}" if total else "",
        "dissent": "yes" if agreeing < total else "no",
        "image": row.image,
        **tags,
    }
    if row.reference_frame is not None:
        more["frame"] = f"{row.reference_frame:g}"
    return Item(
        id=f"{row.image.removesuffix('.jpg')}/{row.caption.strip(' .').replace(' ', '_')}",
        form="caption",
        text=row.caption,
        choices=CHOICES,
        gold=(CHOICES[row.label],),
        group=row.caption,
        images=(image,),
        tags={key: value for key, value in more.items() if value},
    )


def _homes(folder: Path, split: str) -> dict[tuple[str, str], str]:
    if not files.has_split(folder, split):
        return {}
    homes: dict[tuple[str, str], str] = {}
    for part, rows in files.read_split(folder, split).items():
        homes |= dict.fromkeys((row.key for row in rows), part)
    return homes


VSR = described(
    "vsr",
    "vsr",
    sources={"published": published, "fresh": fresh},
    statistics=statistics,
    illustrators={"fresh": illustrate, "published": mirror},
)


def _is_list(file: Path, head: Sequence[str]) -> bool:
    return bool(head) and all(line.strip() in ("0", "1") for line in head)


def _predictions(file: Path) -> Iterator[Prediction]:
    """One label a line, in the order of the items: 0 is false, 1 is true."""
    for place, (line, text) in enumerate(read_lines(file)):
        if text.strip() not in ("0", "1"):
            raise DataError(
                f"'{text.strip()[:40]}' is not 0 or 1.",
                "Write one of them on each line, in the order of the split.",
                file=file,
                line=line,
            )
        yield Prediction(line, place, place=int(text), choices=CHOICES)


ANSWERS = AnswerFormat(name="vsr", recognises=_is_list, read=_predictions)


# VSR's votes: who of the validators called each caption true, and who false.


_VOTE_FIELDS = frozenset({"caption", "label", "vote_true_validator_id", "vote_false_validator_id"})


def _is_votes(file: Path, head: Sequence[str]) -> bool:
    try:
        first = msgspec.json.decode(head[0]) if head else None
    except msgspec.DecodeError:
        return False
    return isinstance(first, dict) and first.keys() >= _VOTE_FIELDS


def read_votes(file: Path) -> Iterator[Judged]:
    """Every caption with the votes of its validators, who are known by numbers.

    Some voted on a caption twice, and a few changed their mind: the paper counts every vote.
    """
    false, true = CHOICES
    for row in files.read_captions(file):
        said = [(f"v{number}", true) for number in row.voters_true]
        said += [(f"v{number}", false) for number in row.voters_false]
        yield Judged(caption_item(row, Image(path=row.image_link), {}), said)


VOTES = VoteFormat(name="vsr", benchmark="vsr@raw", recognises=_is_votes, read=read_votes)
