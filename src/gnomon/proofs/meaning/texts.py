"""Texts to statements: premises and claims, sentence by sentence, over the names of one story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.errors import GnomonError
from gnomon.proofs.meaning.context import Context, Names, Sayings
from gnomon.proofs.meaning.formulas import Formula, every
from gnomon.proofs.meaning.grammar import Parser
from gnomon.proofs.meaning.lexicon import GrammarWords, grammar_words
from gnomon.proofs.meaning.readings import Reading
from gnomon.proofs.meaning.statements import Either
from gnomon.proofs.meaning.stories import Story
from gnomon.proofs.meaning.tellings import Teller
from gnomon.proofs.meaning.words import Words

MOST_WORDS = 80  # all ways to read a sentence are tried
PLACE = frozenset({"fixed", "ground", "hollow"})
CHANGES = ("before(", "after(", "ever(", "midway(")
LATER = ("then", "since")  # a sentence that begins so tells what came next
Kinds = Mapping[str, frozenset[str]]


class NotUnderstoodError(GnomonError):
    """A sentence that the lexicon or the grammar does not know."""


@dataclass(frozen=True)
class Text:
    """What premises and claims say, and of what kind those are whom they name."""

    premises: tuple[Sayings, ...]
    claims: tuple[Sayings, ...]
    kinds: Kinds

    def formulas(self, reading: Reading) -> tuple[Story, list[Formula], list[Formula]]:
        """A story under a reading, with the formulas of premises and claims."""
        story = Story(self.kinds, reading, grammar_words().kinds_of_implied)
        premises = [_formula(said, story) for said in self.premises]
        claims = [_formula(said, story) for said in self.claims]
        return story, premises, claims


def _formula(said: Sayings, story: Story) -> Formula:
    return every(saying.formula(story) for saying in said)


def understood(
    premises: Sequence[list[str]],
    claims: Sequence[list[str]],
    kinds: Kinds,
    known: GrammarWords | None = None,
) -> Text:
    """Premises and claims, given as words, as statements."""
    known = known or grammar_words()
    names = Names(kinds, known.kinds_of_implied)
    context = Context()
    told = []
    for number, words in enumerate(premises):
        others = [*premises[:number], *premises[number + 1 :]]
        teller = Teller(claim=False, shifted=any(map(_tells_later, others)))
        said, context = _understood(Words(known, names, words), teller, context)
        told.append(said)
    claimed = []
    teller = Teller(claim=True, shifted=any(map(_tells_change, told)))
    for words in claims:
        said, _ = _understood(Words(known, names, words), teller, context)
        claimed.append(said)
    return Text(tuple(told), tuple(claimed), _with_places([*told, *claimed], kinds))


def _with_places(said: Sequence[Sayings], kinds: Kinds) -> Kinds:
    """What one comes from or goes to is a place, if nothing else is known of it."""
    found = dict(kinds)
    for saying in (each for sentence in said for each in sentence):
        if isinstance(saying, Either) or "reaches(" not in saying.meaning:
            continue
        for hole in ("B", "C"):
            name = saying.fillers.get(hole)
            if isinstance(name, str) and not found.get(name):
                found[name] = PLACE
    return found


def _tells_change(said: Sayings) -> bool:
    """Whether something is said to be different before and after."""
    for saying in said:
        ways = saying.ways if isinstance(saying, Either) else (saying,)
        for way in ways:
            if any(word in way.meaning for word in CHANGES):
                return True
    return False


def _tells_later(words: list[str]) -> bool:
    return words[0] in LATER or "has" in words or "have" in words


def _understood(words: Words, teller: Teller, context: Context) -> tuple[Sayings, Context]:
    if len(words) > MOST_WORDS:
        raise NotUnderstoodError(
            f"A sentence has {len(words)} words; {MOST_WORDS} are read at most.", "Divide it."
        )
    parser = Parser(words, teller)
    step = parser.parse(context)
    if step is not None:
        return step.said, step.context
    raise NotUnderstoodError(_complaint(words.words, parser.reached), HINT)


HINT = "docs/proofs.md lists the words that are known; say it with these."


def _complaint(words: list[str], reached: int) -> str:
    shown = " ".join(words).replace("@", "").replace(" ,", ",").replace(" 's", "'s")
    strange = []
    for word in words:
        if not word.startswith("@") and word not in grammar_words().known:
            strange.append(f"'{word}'")
    if strange:
        return f"The lexicon does not have {', '.join(dict.fromkeys(strange))} (in: {shown})."
    rest = " ".join(words[reached:]).replace("@", "")
    return f"The grammar cannot read '{rest}' (in: {shown})."
