"""What else a reply may say for a choice: other words for the words that the prompt uses.

A word here never counts for a choice if another choice has it as its own, or could claim it too.
"""

from __future__ import annotations

from collections.abc import Iterable

Words = dict[str, tuple[str, ...]]

# They count wherever the word itself would.
STRONG: Words = {
    "larger": ("bigger",),
    "bigger": ("larger",),
    "gray": ("grey",),
    "grey": ("gray",),
    "above": ("higher up than", "higher than", "higher up", "on top of"),
    "below": ("lower than", "lower down", "under", "underneath", "beneath"),
    "beside": ("next to", "alongside", "at the side of"),
    "next to": ("beside", "alongside"),
    "inside": ("within",),
    "left of": ("to the left of", "on the left of"),
    "right of": ("to the right of", "on the right of"),
    "to the left of": ("left of", "on the left of"),
    "to the right of": ("right of", "on the right of"),
    "level with": (
        "on a level with",
        "on the same level",
        "on the same level as",
        "at the same level",
        "at the same level as",
        "at the same height",
        "at the same height as",
        "the same height",
        "equally high",
    ),
    "entailment": ("entails", "entailed"),
    "contradiction": ("contradicts", "contradicted", "contradictory"),
}

# They count only as a clause of their own: "there is no doubt" is no answer.
WEAK: Words = {
    "yes": ("yep", "yeah", "yup", "yes indeed", "true", "correct"),
    "no": (
        "nope",
        "nah",
        "false",
        "incorrect",
        "absolutely not",
        "definitely not",
        "certainly not",
        "of course not",
        "not at all",
    ),
    "true": ("yes", "correct"),
    "false": ("no", "incorrect"),
    "entailment": ("yes", "true", "it follows", "this follows", "that follows"),
    "contradiction": ("no", "false"),
    "neutral": ("neither", "maybe"),
    "above": ("over",),
    "level with": ("level",),
}

# They count only as the whole reply: many open one that goes on to say something else.
WHOLE: Words = {
    "yes": ("absolutely", "definitely", "certainly", "of course", "indeed", "it is", "sure"),
    "no": ("negative", "not really", "it's not", "it is not", "it isn't", "they aren't"),
    "true": ("right", "that is correct", "that's correct", "that's right"),
    "false": ("that is incorrect", "that's incorrect"),
}

# The same, where there are two choices: what is not true may also be undecided.
WHOLE_OF_TWO: Words = {
    "no": ("untrue", "not true", "wrong", "that's wrong", "that is wrong"),
    "false": ("untrue", "not true", "wrong", "that's wrong", "that is wrong"),
}

# A choice that one of these names is what "cannot be determined" says.
UNDETERMINED = frozenset(
    {
        "neutral",
        "unknown",
        "undetermined",
        "cannot be determined",
        "cannot tell",
        "can't tell",
        "not enough information",
    }
)

# If one thing is the one to another, the other thing is the other to it.
CONVERSE = {
    "larger": "smaller",
    "bigger": "smaller",
    "smaller": "larger",
    "taller": "shorter",
    "shorter": "taller",
    "longer": "shorter",
    "heavier": "lighter",
    "lighter": "heavier",
    "higher": "lower",
    "lower": "higher",
    "above": "below",
    "over": "under",
    "under": "over",
    "below": "above",
    "left of": "right of",
    "right of": "left of",
    "to the left of": "to the right of",
    "to the right of": "to the left of",
    "in front of": "behind",
    "behind": "in front of",
    "level with": "level with",
    "beside": "beside",
    "next to": "next to",
    "near": "near",
    "far from": "far from",
}


def further_words(words: Iterable[str], known: Words, taken: Iterable[str]) -> set[str]:
    """The synonyms of some words, but for those that are taken.

    >>> sorted(further_words(["gray"], STRONG, taken=["black"]))
    ['grey']
    """
    found: set[str] = set()
    for word in words:
        found.update(known.get(word, ()))
    return found - set(taken)
