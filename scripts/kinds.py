"""Make src/gnomon/data/vision/kinds.yaml: kinds of what detectors know, from WordNet 3.0 (Debian:
wordnet-base).

Usage: python scripts/kinds.py [--wordnet /usr/share/wordnet]
A word is a kind of the class below which its first sense is: a "crane" is a machine, no bird. Of
people, who have thousands, only words that WordNet's own texts use.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from hyponyms import ROOT, Synset, hyponyms, read_nouns

TARGET = ROOT / "src" / "gnomon" / "data" / "vision" / "kinds.yaml"
HEADER = """\
# Kinds of the things that detectors find: hyponyms in WordNet 3.0 (Copyright 2006 by Princeton University; its licence,
# ../posrel/WORDNET-LICENSE.txt, permits use and redistribution with this notice). Written by scripts/kinds.py; do not edit.
"""
# Classes of detectors by a word of WordNet and its sense.
CLASSES = {
    "person": ("person", 1),
    "bicycle": ("bicycle", 1),
    "car": ("car", 1),
    "motorcycle": ("motorcycle", 1),
    "airplane": ("airplane", 1),
    "bus": ("bus", 1),
    "train": ("train", 1),
    "truck": ("truck", 1),
    "boat": ("boat", 1),
    "bench": ("bench", 1),
    "bird": ("bird", 1),
    "cat": ("cat", 1),
    "dog": ("dog", 1),
    "horse": ("horse", 1),
    "sheep": ("sheep", 1),
    "cow": ("cattle", 1),
    "elephant": ("elephant", 1),
    "bear": ("bear", 1),
    "zebra": ("zebra", 1),
    "giraffe": ("giraffe", 1),
    "hat": ("hat", 1),
    "backpack": ("backpack", 1),
    "umbrella": ("umbrella", 1),
    "shoe": ("shoe", 1),
    "handbag": ("bag", 4),
    "tie": ("necktie", 1),
    "suitcase": ("bag", 6),
    "sports ball": ("ball", 1),
    "bottle": ("bottle", 1),
    "wine glass": ("glass", 2),
    "cup": ("cup", 1),
    "fork": ("fork", 1),
    "knife": ("knife", 1),
    "spoon": ("spoon", 1),
    "bowl": ("bowl", 3),
    "apple": ("apple", 1),
    "sandwich": ("sandwich", 1),
    "orange": ("orange", 1),
    "pizza": ("pizza", 1),
    "donut": ("doughnut", 2),
    "cake": ("cake", 3),
    "chair": ("chair", 1),
    "couch": ("sofa", 1),
    "bed": ("bed", 1),
    "mirror": ("mirror", 1),
    "dining table": ("table", 2),
    "desk": ("desk", 1),
    "door": ("door", 1),
    "tv": ("television receiver", 1),
    "laptop": ("laptop", 1),
    "keyboard": ("keyboard", 1),
    "cell phone": ("cellular telephone", 1),
    "oven": ("oven", 1),
    "sink": ("sink", 1),
    "refrigerator": ("refrigerator", 1),
    "book": ("book", 2),
    "clock": ("clock", 1),
    "vase": ("vase", 1),
    "scissors": ("scissors", 1),
}
MANY = {"person"}  # of which rare words are left out
LONGEST = 3  # words


class Word(NamedTuple):
    """A noun's senses, the commonest first, and how many of them WordNet's own texts use."""

    senses: tuple[str, ...]
    used: int


def read_index(folder: Path) -> dict[str, Word]:
    """WordNet's index.noun by word (format: wndb(5WN))."""
    found = {}
    for line in (folder / "index.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):  # the licence
            continue
        fields = line.split()
        pointers = int(fields[3])
        count, used, *senses = fields[4 + pointers :]
        if int(count) != len(senses):
            raise SystemExit(f"index.noun is damaged at {fields[0]}")
        found[fields[0].replace("_", " ")] = Word(tuple(senses), int(used))
    return found


def kinds(name: str, nouns: dict[str, Synset], index: dict[str, Word]) -> list[str]:
    """The words for kinds of a class, in order."""
    word, sense = CLASSES[name]
    top = index[word].senses[sense - 1]
    below = _synsets(nouns, top)
    found = []
    for candidate in {*nouns[top].words, *hyponyms(nouns, top)}:
        entry = index.get(candidate.lower())
        plain = candidate.islower() and len(candidate.split()) <= LONGEST
        if entry is None or not plain or candidate == name:
            continue
        if name in MANY and not entry.used:
            continue
        if entry.senses[0] in below:
            found.append(candidate)
    return sorted(found)


def _synsets(nouns: dict[str, Synset], top: str) -> set[str]:
    found = {top}
    for lower in nouns[top].below:
        found |= _synsets(nouns, lower)
    return found


def main() -> int:
    """Write the lists."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="the folder of data.noun"
    )
    args = parser.parse_args()
    nouns, index = read_nouns(args.wordnet), read_index(args.wordnet)
    blocks = []
    for name in CLASSES:
        words = ", ".join(
            f'"{word}"' if "'" in word else word for word in kinds(name, nouns, index)
        )
        line = f"{name}: [{words}]"
        blocks.append(textwrap.fill(line, 118, subsequent_indent="  ", break_on_hyphens=False))
    TARGET.write_text(HEADER + "\n".join(blocks) + "\n", encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(blocks)} lists")
    return 0


if __name__ == "__main__":
    sys.exit(main())
