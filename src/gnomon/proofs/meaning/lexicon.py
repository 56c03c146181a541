"""The words of the grammar: relations of the lexicon, and data/space/meaning/*.yaml."""

from __future__ import annotations

from functools import cache
from typing import Any

from gnomon.files import package_data, read_yaml
from gnomon.lexicon.relations import Lexicon, Relation, lexicon
from gnomon.proofs.meaning.phrases import Index, Phrase, index_of, spelled_out

# Words of the grammar itself: auxiliaries, joints, pronouns.
JOINTS = frozenset(
    "is are was were been be being has have had does do did can could cannot not never and but "
    "while as then who which where it they them there either both or unlike with from , 's".split()
)
FILES = ("grammar", "places", "motion", "frames", "opaque")


class GrammarWords:
    """All that is known of words."""

    def __init__(self, sections: dict[str, Any]) -> None:
        self.kinds: dict[str, list[str]] = sections["kinds"]
        self.rewrite: dict[str, str] = sections["rewrite"]
        self.times = index_of(sections["times"])
        self.settings = index_of(sections["settings"])
        self.implied = index_of(sections["implied"])
        self.kinds_of_implied = _frozen(sections["implied"])
        self.places = index_of(sections["places"] | sections["spots"])
        self.paths = index_of(sections["paths"])
        self.postures = index_of(dict.fromkeys(sections["postures"]))
        self.frames = index_of(sections["frames"])
        self.together = index_of(sections["together"])
        self.whole = index_of(sections["whole"])
        self.moves = _verbs(sections["moves"])
        self.puts = _verbs(sections["puts"])
        self.locates = _verbs(sections["locates"])
        self.opaque = _verbs(sections["opaque"])
        self.known = self._known(sections["fillers"])

    @property
    def indexes(self) -> list[Index]:
        """All sections of phrases."""
        return [part for part in vars(self).values() if isinstance(part, Index)]

    def _known(self, fillers: list[str]) -> set[str]:
        """Every word that some phrase uses, and those that clauses may hold besides."""
        found = set(JOINTS)
        for line in fillers:
            found.update(line.split())
        for phrase in self.rewrite:
            found.update(phrase.split())
        for index in self.indexes:
            found |= index.words()
        return found


def _frozen(kinds: dict[str, list[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(own) for name, own in kinds.items()}


def _verbs(entries: list[str]) -> Index:
    """Verbs, each a phrase; a regular one is given by "walk*" and stands for all its forms."""
    found = []
    for entry in entries:
        for words in spelled_out(entry):
            for forms in _forms(words):
                found.append(Phrase(forms, None))
    return Index(found)


def _forms(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    verb, *rest = words
    if not verb.endswith("*"):
        return [words]
    stem = verb[:-1]
    bare = stem[:-1] if stem.endswith("e") else stem
    past = f"{stem[:-1]}ied" if stem.endswith("y") and stem[-2] not in "aeiou" else f"{bare}ed"
    forms = [stem, f"{stem}s", past, f"{bare}ing"]
    return [(form, *rest) for form in forms]


def grammar_words(*, opaque: bool = False) -> GrammarWords:
    """The words that ship, with the relations of the lexicon that is in use.

    `opaque` has also those that geometry does not analyse ("to", "along"): a sentence is read with
    them only if it cannot be read without, since the grammar knows finer uses of the same words.
    """
    return _with_relations(lexicon(), opaque)


@cache
def _with_relations(known: Lexicon, opaque: bool) -> GrammarWords:
    sections: dict[str, Any] = {}
    for file in FILES:
        sections |= read_yaml(package_data(f"space/meaning/{file}.yaml"))
    for relation in known.relations.values():
        if not (relation.proof or opaque):
            continue
        for word in relation.words:
            several = known.verbs.get(word)
            section = sections["frames" if several else "places"]
            for form in (word, several or word):
                section.setdefault(f"{form} B", _proof(relation))
    return GrammarWords(sections)


def _proof(relation: Relation) -> str | dict[str, str]:
    """What a relation means in sentences; a fact of its own if geometry does not analyse it."""
    fact = f'fact(A, "{relation.meaning or relation.name}", B)'
    return relation.proof or fact
