"""Sets and orders of choices: an answer lists several labels, between bars."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, factorial

from gnomon.forms.numbers import Asked

BETWEEN = " | "
MOST_OPTIONS = 60  # of a set or an order


def written(labels: Sequence[str]) -> str:
    """Labels as an answer has them."""
    return BETWEEN.join(labels)


def labels_in(answer: str) -> list[str]:
    """The labels of an answer."""
    return answer.split(BETWEEN) if answer else []


def right_answer(asked: Asked) -> str:
    """The right labels as a model would write them."""
    return ", ".join(asked.gold)


def _problem(choices: tuple[str, ...]) -> str:
    if not 2 <= len(set(choices)) == len(choices) <= MOST_OPTIONS:
        return f"choices must be 2 to {MOST_OPTIONS} different labels"
    if any(BETWEEN.strip() in choice for choice in choices):
        return "no choice may hold a bar (|)"
    return ""


# sets


def set_problem(choices: tuple[str, ...], gold: tuple[str, ...]) -> str:
    """What is wrong with the item of a set; empty if nothing is."""
    if not gold or not set(gold) <= set(choices):
        return "gold must be one or more of the choices"
    return _problem(choices)


def _overlap(hits: int, said: int, right: int) -> dict[str, float]:
    """How well a set fits that has so many labels, so many of them right."""
    together = said + right - hits
    return {
        "right": float(hits == said == right),
        "jaccard": hits / together if together else 1.0,
        "set_f1": 2 * hits / (said + right) if said + right else 1.0,
    }


def set_marks(
    choices: tuple[str, ...], gold: tuple[str, ...], said: str | None
) -> Mapping[str, float]:
    """Exactly right or not, Jaccard index and F1."""
    if said is None:
        return _overlap(0, 1, len(gold))
    labels = set(labels_in(said))
    return _overlap(len(labels & set(gold)), len(labels), len(gold))


@lru_cache(maxsize=1024)
def _random_set(options: int, right: int) -> Mapping[str, float]:
    """What a guess gets that takes any of the sets but the empty one, each as likely."""
    total = dict.fromkeys(("right", "jaccard", "set_f1"), 0.0)
    sets = 2**options - 1
    for hits in range(right + 1):
        for others in range(options - right + 1):
            if hits + others == 0:
                continue
            weight = comb(right, hits) * comb(options - right, others) / sets
            for name, value in _overlap(hits, hits + others, right).items():
                total[name] += weight * value
    return total


def set_guesses(asked: Sequence[Asked]) -> list[Mapping[str, float]]:
    """What a random set gets."""
    return [_random_set(len(each.choices), len(each.gold)) for each in asked]


def set_shortcut(asked: Sequence[Asked]) -> tuple[str, list[str]]:
    """Always the set that is right most often, if one recurs; else every option."""
    (best, times), *_ = Counter(each.gold for each in asked).most_common(1)
    if times < 2:
        return "always every option", [written(each.choices) for each in asked]
    found = [best if set(best) <= set(each.choices) else each.choices for each in asked]
    return f"always {' and '.join(best)}", list(map(written, found))


def set_in_words(asked: Asked) -> str:
    """The right labels for people."""
    return " and ".join(asked.gold)


# orders


def order_problem(choices: tuple[str, ...], gold: tuple[str, ...]) -> str:
    """What is wrong with the item of an order; empty if nothing is."""
    if sorted(gold) != sorted(choices):
        return "gold must be all choices, in their right order"
    return _problem(choices)


def order_marks(
    choices: tuple[str, ...], gold: tuple[str, ...], said: str | None
) -> Mapping[str, float]:
    """Exactly right or not, and Kendall's tau: 1 for the right order, -1 for its reverse.

    An answer that is none counts as no order at all: 0.
    """
    labels = labels_in(said) if said is not None else []
    if sorted(labels) != sorted(gold):
        return {"right": 0.0, "kendall": 0.0}
    place = {label: number for number, label in enumerate(labels)}
    agree = sum(1 if place[one] < place[two] else -1 for one, two in combinations(gold, 2))
    return {"right": float(tuple(labels) == gold), "kendall": agree / comb(len(gold), 2)}


def order_guesses(asked: Sequence[Asked]) -> list[Mapping[str, float]]:
    """What a random order gets."""
    return [{"right": 1 / factorial(len(each.gold)), "kendall": 0.0} for each in asked]


def order_shortcut(asked: Sequence[Asked]) -> tuple[str, list[str]]:
    """Always the order in which the options are listed."""
    return "always the order of the options", [written(each.choices) for each in asked]


def order_in_words(asked: Asked) -> str:
    """The right order for people."""
    return " > ".join(asked.gold)
