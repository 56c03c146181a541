"""Make src/gnomon/data/posrel/hyponyms.yaml: kinds of people and objects, from WordNet 3.0 (Debian:
wordnet-base).

Usage: python scripts/hyponyms.py [--wordnet /usr/share/wordnet] [--candidates NAME]
scripts/hyponyms.yaml says below which synsets to look and which words were kept by a reader; a word
that WordNet does not have there is an error. --candidates prints all hyponyms of an entry, to
choose from.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "gnomon" / "data" / "posrel" / "hyponyms.yaml"
HEADER = """\
# Kinds of people and objects: hyponyms in WordNet 3.0 (Copyright 2006 by Princeton University; its licence permits use
# and redistribution with this notice). Written by scripts/hyponyms.py from scripts/hyponyms.yaml; do not edit.
"""


class Synset(NamedTuple):
    """The words of a synset and the offsets of its direct hyponyms."""

    words: tuple[str, ...]
    below: tuple[str, ...]


def read_nouns(folder: Path) -> dict[str, Synset]:
    """WordNet's data.noun by offset (format: wndb(5WN); counts of words are hexadecimal, of
    pointers decimal)."""
    nouns = {}
    with (folder / "data.noun").open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(" "):  # the licence
                continue
            fields = line.partition(" | ")[0].split()
            count = int(fields[3], 16)
            words = tuple(word.replace("_", " ") for word in fields[4 : 4 + 2 * count : 2])
            pointers = fields[5 + 2 * count :]
            below = tuple(
                pointers[i + 1] for i in range(0, len(pointers) - 3, 4) if pointers[i] == "~"
            )
            nouns[fields[0]] = Synset(words, below)
    return nouns


def hyponyms(nouns: dict[str, Synset], offset: str) -> Iterator[str]:
    """The words of all synsets below one, at any depth."""
    for lower in nouns[offset].below:
        yield from nouns[lower].words
        yield from hyponyms(nouns, lower)


def main() -> int:
    """Check what was kept against WordNet, and write the lists."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="the folder of data.noun"
    )
    parser.add_argument(
        "--candidates", metavar="NAME", help="print the hyponyms of an entry and stop"
    )
    args = parser.parse_args()
    nouns = read_nouns(args.wordnet)
    chosen = yaml.safe_load((ROOT / "scripts" / "hyponyms.yaml").read_text(encoding="utf-8"))
    if args.candidates:
        found = {
            word
            for offset in chosen[args.candidates]["synsets"]
            for word in hyponyms(nouns, offset)
        }
        print("\n".join(sorted(found)))
        return 0
    blocks = []
    for name, entry in chosen.items():
        known = {word for offset in entry["synsets"] for word in hyponyms(nouns, offset)}
        if strangers := [word for word in entry["keep"] if word not in known]:
            print(f"not below {name} in WordNet: {', '.join(strangers)}", file=sys.stderr)
            return 1
        words = ", ".join(f'"{word}"' if "'" in word else word for word in sorted(entry["keep"]))
        blocks.append(
            textwrap.fill(f"{name}: [{words}]", 118, subsequent_indent="  ", break_on_hyphens=False)
        )
    TARGET.write_text(HEADER + "\n".join(blocks) + "\n", encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {len(blocks)} lists")
    return 0


if __name__ == "__main__":
    sys.exit(main())
