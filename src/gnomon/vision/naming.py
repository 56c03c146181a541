"""Which class of a detector a noun is seen as: by name, by synonym, or as a kind of it."""

from collections.abc import Sequence
from functools import cache, lru_cache

from gnomon.files import package_data, read_yaml
from gnomon.lexicon.things import names_by_noun, thing_words


def class_of(noun: str, labels: Sequence[str]) -> str | None:
    """The detector's class that a noun is seen as, singular or plural; none if there is none.

    A noun of several words is seen as its last words are, if nothing else is known of it.

    >>> class_of("puppies", ["dog", "cat"]), class_of("unicorn", ["dog"])
    ('dog', None)
    >>> class_of("beagle", ["dog"]), class_of("old red car", ["car"])
    ('dog', 'car')
    """
    words = noun.strip().lower().split()
    for start in range(len(words)):
        found = _class_of(" ".join(words[start:]), labels)
        if found is not None:
            return found
    return None


def _class_of(noun: str, labels: Sequence[str]) -> str | None:
    if noun in labels:
        return noun
    by_class = _by_class(tuple(labels))
    known = _class(noun)
    if known is not None:
        return by_class.get(known)
    return by_class.get(_singulars(noun)[-1])


@lru_cache(maxsize=8)
def _by_class(labels: tuple[str, ...]) -> dict[str, str]:
    return {_class(label) or label: label for label in labels}


def _class(noun: str) -> str | None:
    """The class of our own lists that a noun, singular or plural, belongs to."""
    for form in _singulars(noun):
        if form in thing_words().nouns or form in _wide():
            return form
        found = names_by_noun().get(form) or _kinds().get(form)
        if found is not None:
            return found
    return None


@cache
def _wide() -> frozenset[str]:
    """The classes of which kinds are listed."""
    return frozenset(_kinds().values())


@cache
def _kinds() -> dict[str, str]:
    found: dict[str, str] = {}
    for label, nouns in read_yaml(package_data("vision") / "kinds.yaml").items():
        for noun in nouns:
            found.setdefault(noun, label)
    return found


def _singulars(noun: str) -> list[str]:
    found = [noun]
    for ending, instead in (("ies", "y"), ("ves", "fe"), ("es", ""), ("s", "")):
        if noun.endswith(ending):
            found.append(noun.removesuffix(ending) + instead)
    return found
