"""Families of names that share a word, or the head of a compound, with another of the family.

Baselines that are trained hold out whole families: who has seen a golf ball could guess about a
tennis ball or a volleyball, and who has seen a fluorescent tube about a fluorescent lamp.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from gnomon.files import package_data, read_yaml

SMALL_WORDS = {"of", "and"}


class Namesakes:
    """The families of some names; each is called after its most frequent word.

    >>> kin = Namesakes(["golf ball", "volleyball", "golf cart", "wardrobe"])
    >>> kin.family("golf cart"), kin.family("volleyball"), kin.family("wardrobe")
    ('ball', 'ball', 'wardrobe')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._link: dict[str, str] = {}  # from a word to another of its family
        uses: Counter[str] = Counter()
        for name in names:
            words = words_of(name)
            uses.update(words)
            for word in words:
                self._link[self._root(word)] = self._root(words[-1])

        self._called: dict[str, str] = {}
        for word in sorted(uses, key=lambda word: (-uses[word], word)):
            self._called.setdefault(self._root(word), word)

    def family(self, name: str) -> str:
        """The family of a name by its last word: that of a toy car is the car's.

        A word that no name has is a family of its own.
        """
        root = self._root(words_of(name)[-1])
        return self._called.get(root, root)

    def _root(self, word: str) -> str:
        while self._link.get(word, word) != word:
            word = self._link[word]
        return word


def words_of(name: str) -> list[str]:
    """The words of a name; the head stands for a compound that is written as one word.

    >>> words_of("plate of blueberries"), words_of("hot-air balloon"), words_of("blueberry")
    (['plate', 'blueberries'], ['hot', 'air', 'balloon'], ['berry'])
    """
    heads = _heads()
    found = []
    for word in name.replace("-", " ").split():
        if word not in SMALL_WORDS:
            found.append(heads.get(word, word))
    return found


@cache
def _heads() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for head, compounds in read_yaml(package_data("compounds.yaml")).items():
        found |= dict.fromkeys(compounds, head)
    return found
