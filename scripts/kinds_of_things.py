"""Make src/gnomon/data/vision/hyponyms.yaml: which everyday things are kinds of which, from WordNet 3.0
(Debian: wordnet-base).

Usage: python scripts/kinds_of_things.py [--wordnet /usr/share/wordnet]
Animals, artifacts, food, natural objects and plants, each word in its most frequent
sense, and only words that somebody met when texts were tagged with these senses. People are left out.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "gnomon" / "data" / "vision" / "hyponyms.yaml"
HEADER = """\
# Kinds of everyday things: hyponyms in WordNet 3.0 (Copyright 2006 by Princeton University; its licence,
# ../posrel/WORDNET-LICENSE.txt, permits use and redistribution with this notice). Written by
# scripts/kinds_of_things.py; do not edit. Below each thing are its kinds, at most three steps down.
"""
# The files of lexicographers: animal, artifact, food, object, plant.
CONCRETE = ("05", "06", "13", "17", "20")
STEPS = 3
# Too wide to be a name that a picture gives, or not for every reader.
LEFT_OUT = frozenset(
    "artifact article whole unit object thing item commodity part piece structure instrumentality covering substance material "
    "way region body matter consumer_goods creation device instrument brothel bawdyhouse".split()
)


class Synset(NamedTuple):
    """The words of a synset, the offsets above it, and its lexicographer's file."""

    words: tuple[str, ...]
    above: tuple[str, ...]
    file: str


def read_synsets(folder: Path) -> dict[str, Synset]:
    """WordNet's data.noun by offset (format: wndb(5WN))."""
    found = {}
    with (folder / "data.noun").open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(" "):  # the licence
                continue
            fields = line.partition(" | ")[0].split()
            count = int(fields[3], 16)
            pointers = fields[5 + 2 * count :]
            above = []
            for place in range(0, len(pointers) - 3, 4):
                if pointers[place] == "@":
                    above.append(pointers[place + 1])
            found[fields[0]] = Synset(tuple(fields[4 : 4 + 2 * count : 2]), tuple(above), fields[1])
    return found


def first_senses(folder: Path) -> dict[str, str]:
    """The synset of each noun's first sense, where texts were tagged with it (format: wndb(5WN))."""
    found = {}
    with (folder / "index.noun").open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(" "):
                continue
            fields = line.split()
            senses = int(fields[2])
            tagged = int(fields[-senses - 1])
            if tagged:
                found[fields[0]] = fields[-senses]
    return found


def above(synsets: dict[str, Synset], offset: str, steps: int) -> set[str]:
    """The offsets up to so many steps above one."""
    found: set[str] = set()
    for higher in synsets[offset].above if steps else ():
        found |= {higher} | above(synsets, higher, steps - 1)
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
    synsets, firsts = read_synsets(args.wordnet), first_senses(args.wordnet)
    concrete = {}
    for word, offset in firsts.items():
        if synsets[offset].file in CONCRETE and word not in LEFT_OUT:
            concrete[word] = offset
    words_of: dict[str, list[str]] = {}
    for word, offset in concrete.items():
        words_of.setdefault(offset, []).append(word)
    kinds: dict[str, list[str]] = {}
    for word, offset in concrete.items():
        for higher in above(synsets, offset, STEPS):
            for name in words_of.get(higher, ()):
                kinds.setdefault(name, []).append(word)
    blocks = []
    for name in sorted(kinds):
        listed = ", ".join(
            plain(word) for word in sorted(set(kinds[name])) if len(word.split("_")) <= 3
        )
        if listed:
            blocks.append(
                textwrap.fill(
                    f"{plain(name)}: [{listed}]",
                    120,
                    subsequent_indent="  ",
                    break_on_hyphens=False,
                    break_long_words=False,
                )
            )
    TARGET.write_text(HEADER + "\n".join(blocks) + "\n", encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(blocks)} lists, {TARGET.stat().st_size:,} bytes")
    return 0


def plain(word: str) -> str:
    """A word as YAML, with spaces."""
    text = word.replace("_", " ")
    return f'"{text}"' if "'" in text or text in ("yes", "no", "on", "off", "y", "n") else text


if __name__ == "__main__":
    sys.exit(main())
