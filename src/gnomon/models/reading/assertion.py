"""Whether a text means a label that it mentions, of which thing, or that nothing follows.

Negated, hedged or conditional mentions do not count. "The stapler is below the monitor" speaks of
the object of "the monitor is ____ the stapler": it says the converse. "The gulls are above" speaks
of neither, and answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from gnomon.lexicon.relations import any_of, degree_in, lexicon, phrase, reply_words
from gnomon.lexicon.statements import bare, read_clause, read_question
from gnomon.records import MASK, Item

REACH = 300  # characters around a label that can change what it means

_DIRECTLY = frozenset(
    {"", "quite", "at all", "actually", "really", "the", "a", "an", "on the", "to the", "in the"}
)  # between "not" and the label
_APPROVING = frozenset({"right", "correct", "true"})
_NOTHING: frozenset[int] = frozenset()


class Mention(NamedTuple):
    """A word of a choice, and where it stands in a segment."""

    choices: frozenset[int]
    word: str
    start: int
    end: int
    weak: bool = False  # it answers only as a clause of its own: "there is no doubt" is no answer


def asserted(segment: str, mention: Mention, opposite: Mapping[str, int]) -> frozenset[int]:
    """The choices that a mention asserts: its own, none, or the opposite of what it denies."""
    opening = _sentence_start(segment, mention.start)
    before = segment[opening : mention.start]
    after = segment[mention.end : mention.end + REACH]
    if mention.weak and not (phrase("opens").search(before) and phrase("closes").match(after)):
        return _NOTHING
    if mention.weak and phrase("letter_is").search(before):
        return _NOTHING  # "B is incorrect"
    if mention.word in _APPROVING and phrase("an_answer").match(after):
        return _NOTHING  # "the right answer"
    if _is_undone_after(before, after):
        return _NOTHING
    if not phrase("may_undo").search(before):
        return mention.choices
    clause = phrase("clause").split(before)[-1]
    if _is_undone_before(before, clause):
        return _NOTHING
    negator = phrase("negator").search(clause)
    if negator and not mention.word.startswith("not "):
        return _denied(negator, mention, opposite)
    if phrase("no_noun").search(clause) and not mention.weak:
        return _NOTHING
    return mention.choices


def _sentence_start(segment: str, end: int) -> int:
    """Where the sentence opens that holds a place, not farther before it than is looked at."""
    start = max(0, end - REACH)
    for sign in ".!?;\n":
        start = max(start, segment.rfind(sign, start, end) + 1)
    return start


def _is_undone_before(before: str, clause: str) -> bool:
    """Whether what stands before a label denies it, doubts it or sets it aside."""
    sentence = phrase("sentence_sign").split(before)[-1]
    since_but = phrase("but").split(sentence)[-1]
    marks = (
        ("compared", clause),
        ("denied", clause),
        ("hedged", clause),
        ("undecided", since_but),
        ("conceded", sentence),
        ("otherwise", before),
        ("aside", before),
    )
    return any(phrase(name).search(part) for name, part in marks)


def _is_undone_after(before: str, after: str) -> bool:
    """Whether what follows a label takes it back, or makes it "the larger the better"."""
    negated = phrase("negated_list").search(before)
    if negated and (negated["last"] or phrase("list_goes_on").match(after)):
        return True
    compares = before.endswith("the ") and after.startswith(" the ")
    return compares or phrase("taken_off").match(after) is not None


def _denied(
    negator: re.Match[str], mention: Mention, opposite: Mapping[str, int]
) -> frozenset[int]:
    """What "not LABEL" asserts: the other of two labels that are true and false, else nothing."""
    directly = negator["between"].strip() in _DIRECTLY
    if directly and phrase("denies_outright").match(negator[0]) and mention.word in opposite:
        return frozenset({opposite[mention.word]})
    return _NOTHING


# --- of which thing of a question a sentence speaks ----------------------------------------------


About = Literal["subject", "object", "nothing said", "other"]


class Aboutness:
    """Of which thing of a question a mention of a relation is said."""

    def __init__(self, question: ItemQuestion) -> None:
        self._things = things_pattern(question)
        self.known = bool(question.subject)
        self._known_ground = bool(question.object)

    def names(self, sentence: str, *, pointed: bool) -> bool:
        """Whether a sentence names one of the two things; or, if `pointed`, by a pronoun."""
        if self._named(sentence):
            return True
        return pointed and phrase("pronoun").search(sentence) is not None

    def of(self, segment: str, start: int, end: int) -> About:
        """Of what the words at a place of a segment are said."""
        segment = segment[max(0, start - REACH) : end + REACH]
        start, end = min(start, REACH), min(start, REACH) + end - start
        opening = _last_end(phrase("clause_starts"), segment[:start])
        before = segment[opening:start]
        after = phrase("clause_ends").split(segment[end:], maxsplit=1)[0]
        named_before = self._named(before)
        named_after = self._named(after)
        if phrase("possessive").search(before):
            return _other_than({self._last_named(before)})  # "to the car's left"
        if self._known_ground and not named_after and phrase("of_another").match(after):
            return "other"  # "left of the tree"
        if len(named_before) == 1:
            return named_before.pop()
        if named_before:
            return _other_than(named_after)

        if len(named_after) == 1 and phrase("degree_is").match(segment, end):
            return named_after.pop()  # "the larger one is a bee"
        if phrase("relative").match(before):
            return self._last_named(segment[:opening])
        if phrase("pronoun").search(before):
            return self._of_pronoun(segment[:opening], before, named_after)
        if _has_subject_of_its_own(before):
            return "other"
        if named_after == {"subject"}:
            return "other"  # "larger than a bee": of what?
        return "nothing said"

    def _of_pronoun(self, earlier: str, before: str, named_after: set[About]) -> About:
        if len(named_after) == 1:
            return _other_than(named_after)
        sentences = [part for part in phrase("sentence_signs").split(earlier) if part.strip()]
        if (
            sentences
            and phrase("it_alone").search(before)
            and self._named(sentences[-1]) == {"object"}
        ):
            return "other"  # "An apple is a fruit. It is larger.": which of them?
        return "nothing said"

    def _named(self, text: str) -> set[About]:
        found: set[About] = set()
        for match in self._things.finditer(text):
            found.add("subject" if match["subject"] else "object")
        return found

    def _last_named(self, text: str) -> About:
        last: About = "other"
        for match in self._things.finditer(text):
            last = "subject" if match["subject"] else "object"
        return last


def _other_than(named: set[About]) -> About:
    """Of what a comparison is said that names one of two things after it."""
    if named == {"object"}:
        return "subject"
    if named == {"subject"}:
        return "object"
    return "other"


def _has_subject_of_its_own(before: str) -> bool:
    """Whether what stands before a relation opens with a noun that is neither of the two things."""
    clause = before[phrase("leading").match(before).end() :]  # type: ignore[union-attr]
    found = phrase("noun_phrase").match(clause) or phrase("noun_is").match(clause)
    if found is None:
        return False
    words = set(re.findall(r"\w+", found[0]))
    return not words & reply_words().of_the_answer


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end


# --- replies that say that nothing follows -------------------------------------------------------


def says_undetermined(text: str) -> bool:
    """Whether a reply says that the text does not decide the question.

    >>> says_undetermined("cannot be determined."), says_undetermined("i can't help with that.")
    (True, False)
    """
    if phrase("refused").search(text):
        return False
    found = phrase("not_decided").search(text)
    return found is not None and not phrase("can_be_told").match(found[0])


# What an item asks about: two things and, where it is a yes-or-no question, their relation.
#
# A reply that says "an apple is larger than a bee" answers "A bee is ____ than an apple" with
# *smaller*. To see that, the reader must know which of the two things a sentence speaks of.


_PEOPLE = ("man", "woman", "boy", "girl", "person", "child")
_PRONOUNS = {
    "he": ("he", "him"),
    "she": ("she", "her"),
    "they": ("they", "them"),
    "it": ("it",),
}
_TRUTHS = frozenset({"yes", "no", "true", "false"})
LONGEST_CLAIM = 300  # characters of a statement that a reply may repeat
_NO_THING = frozenset({"", "color", "colour", "in color", "in colour"})


class ItemQuestion(NamedTuple):
    """The two things of a question, and what relates them; empty where there is none."""

    subject: str = ""
    object: str = ""
    relation: str = ""  # of a yes-or-no question; a blank has none
    context: str = ""
    asked: str = ""  # the degree that a question seeks among things: "closer"
    claim: str = ""  # the statement of which is asked whether it holds


NO_QUESTION = ItemQuestion()
EITHER = "either"  # asked by "Is it above or below?": one of the choices holds
POSSIBLE = "possible"  # asked by "Could it be that ...?"


def question_of(item: Item) -> ItemQuestion:
    """What an item asks about, as far as its text has a form that is known.

    >>> question_of(Item(id="1", form="cloze", text="A bee is [MASK] than an apple."))[:2]
    ('bee', 'apple')
    """
    text = " ".join(item.text.casefold().split())
    if item.form == "cloze":
        return _of_blank(text, item.context.casefold())
    claim = text.rstrip(". ")[:LONGEST_CLAIM]
    if item.form == "entailment":
        return ItemQuestion(claim=claim)
    if item.form not in ("caption", "choice"):
        return NO_QUESTION
    offered = {choice.casefold() for choice in item.choices}
    if item.form == "choice" and not offered & _TRUTHS:
        return _of_things(text, item)
    words = (*reply_words().converse, *lexicon().words)
    clause = read_clause(text, words) if item.form == "caption" else read_question(text, words)
    if clause is None or clause.denied or "," in clause.after:
        possible = item.form == "choice" and phrase("asks_possible").search(text)
        return ItemQuestion(asked=POSSIBLE) if possible else NO_QUESTION
    asked = ItemQuestion(clause.subject, clause.ground, clause.relation)
    return asked._replace(claim=claim) if item.form == "caption" else asked


def _of_things(text: str, item: Item) -> ItemQuestion:
    """What a question seeks: a degree among things, or a side of one of two."""
    where = phrase("asks_where").search(text)
    if where:
        subject = where["subject"] or where["subject2"] or where["subject3"]
        ground = where["object"] or where["object2"] or where["object3"]
        return ItemQuestion(bare(subject), bare(ground.rstrip("?. ")))
    place, (ground, _) = phrase("asks_place").match(text), shared_ground(item.choices)
    if place and ground:
        return ItemQuestion(bare(place["subject"]), ground)
    if phrase("asks_which").search(text):
        asked = degree_in(text)
        if asked not in map(str.casefold, item.choices):
            return ItemQuestion(asked=asked)
    return _either(text, item.choices) or NO_QUESTION


def _either(text: str, choices: tuple[str, ...]) -> ItemQuestion | None:
    """The things of "Is the ball above or below the shelf?"."""
    words = any_of({choice.casefold().split(" ")[0] for choice in choices if choice.strip()})
    of = r"(?: than| of| as)?"
    match = re.match(
        rf"(?:is|are) (?P<subject>[^?,]+?) (?:\w+ly )?(?:(?:at|in|on|to) )?(?:the )?(?:{words})\b"
        rf"[^?]*? or [^?]*?{of} (?!the (?:{words})\b)"
        rf"(?P<object>(?:an?|the|your|my) [^?,]+?|\w+)\?*$",
        text,
    )
    if match is None:
        return None
    return ItemQuestion(bare(match["subject"]), bare(match["object"]), asked=EITHER)


def shared_ground(choices: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The thing with which all options end after words for relations, and these words.

    >>> shared_ground(["left of the gate", "behind the gate"])
    ('gate', ('left of', 'behind'))
    """
    for relation in lexicon().words:
        if choices and choices[0].casefold().startswith(f"{relation} "):
            break
    else:
        return "", ()
    ground = choices[0].casefold().removeprefix(relation)
    relations = tuple(choice.casefold().removesuffix(ground) for choice in choices)
    if not all(word in lexicon().words for word in relations):
        return "", ()
    return bare(ground.strip()), relations


def things_pattern(question: ItemQuestion) -> re.Pattern[str]:
    """Where a text names the subject (group `subject`) or the object (group `object`)."""
    subject = _names(question.subject, question.object, ("the former", "the first"))
    others = _names(question.object, question.subject, ("the latter", "the second"))
    if question.subject in _PRONOUNS:
        subject += _person(question)
    return re.compile(
        rf"(?<!\w)(?:(?P<subject>{_any_of(subject)})|(?P<object>{_any_of(others)}))(?!\w)"
    )


def _of_blank(text: str, context: str) -> ItemQuestion:
    before, _, after = text.partition(MASK.casefold())
    subject = phrase("before_blank").match(before.strip())
    if subject is None:
        return NO_QUESTION
    other = phrase("after_blank").match(after)
    thing = bare(other["object"]) if other else ""
    if thing in _NO_THING:
        thing = ""
    return ItemQuestion(bare(subject["subject"]), thing, context=context)


def _names(noun: str, other: str, pointers: tuple[str, ...]) -> list[str]:
    """How a thing may be named: whole, or by a word of its own that the other thing lacks."""
    if not noun:
        return []
    whole = r"\s+".join(_any_number(word) for word in noun.split())
    found = [whole]
    for pointer in pointers:
        found.append(rf"{pointer}(?! (?:option|choice|answer|word|label))")
    shared = set(other.split())
    for word in noun.split():
        if len(word) > 2 and word not in shared:
            found.append(_any_number(word))
    return found


def _person(question: ItemQuestion) -> list[str]:
    """A person whom the question calls "he": by pronoun, or by the noun that the text opens with.

    Adjectives may stand before the noun, so the first words of the text count.
    """
    pronouns = _PRONOUNS[question.subject]
    others = set(question.object.split())
    opening = bare(question.context).split()[:2]
    nouns = [word for word in opening if word.isalpha() and word not in others]
    return [*pronouns, *_PEOPLE, *map(re.escape, nouns)]


def _any_number(word: str) -> str:
    """A pattern for a noun in the singular and in the plural."""
    stem = word
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        stem = word[:-1]
    if stem.endswith("y"):
        return re.escape(stem[:-1]) + r"(?:y|ies|ys)"
    return re.escape(stem) + r"(?:e?s)?"


def _any_of(alternatives: list[str]) -> str:
    return "|".join(sorted(alternatives, key=len, reverse=True)) or r"(?!)"
