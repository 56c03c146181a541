"""The words of fresh items: captions, statements for controls, and prompts for image synthesis."""

from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity
from gnomon.lexicon.relations import thing_words
from gnomon.lexicon.statements import say

PAIRED = ("scissors", "skis")  # one of them is spoken of as several
UNCOUNTED = ("broccoli",)


def caption(
    subject: str, relation: str, ground: str, *, several: str = "", denied: bool = False
) -> str:
    """A caption as VSR has them; `several` is the role of which there are several.

    >>> caption("cat", "on", "dining table")
    'The cat is on the dining table.'
    >>> caption("chair", "around", "dining table", several="subject")
    'The chairs are around the dining table.'
    >>> caption("box", "contains", "cat", denied=True)
    'The box does not contain the cat.'
    """
    many = several == "subject" or subject in PAIRED
    first, second = _noun(subject, several == "subject"), _noun(ground, several == "ground")
    return say(first, relation, second, several=many, denied=denied)


def framed(text: str, frame: str, ground: str) -> str:
    """A caption that says whose left and right it means.

    >>> framed("The cat is left of the dog.", "own", "dog")
    "From the dog's own point of view, the cat is left of the dog."
    """
    rest = text[0].lower() + text[1:]
    if frame == "viewer":
        return f"From where the viewer stands, {rest}"
    if frame == "own":
        return f"From the {ground}'s own point of view, {rest}"
    return text


def presence(thing: str, *, several: bool = False) -> str:
    """A statement that a thing is there.

    >>> presence("umbrella"), presence("scissors")
    ('There is an umbrella.', 'There are scissors.')
    """
    if several or thing in PAIRED:
        return f"There are {_noun(thing, several)}."
    return f"There is {_one(thing)}."


def prompt(subject: str, ground: str, text: str, *, several: str = "", turned: bool = False) -> str:
    """What an image model is told to paint; `turned` names the ground first.

    >>> prompt("cat", "box", "The cat is in the box.")
    'A picture of a cat and a box. The cat is in the box.'
    """
    first = _some(subject, several == "subject")
    second = _some(ground, several == "ground")
    if turned:
        first, second = second, first
    return f"A picture of {first} and {second}. {text}"


def question(text: str) -> str:
    """A caption as a question about a text.

    >>> question("The cat is in the box.")
    'True or false? The cat is in the box.'
    """
    return f"True or false? {text}"


def which(subject: str, ground: str) -> str:
    """A question for the relation between two things.

    >>> which("cat", "box")
    'Where is the cat in relation to the box?'
    """
    verb = "are" if subject in PAIRED else "is"
    return f"Where {verb} the {subject} in relation to the {ground}?"


def _noun(thing: str, several: bool) -> str:
    return thing_words().plurals[thing] if several else thing


def _some(thing: str, several: bool) -> str:
    if several:
        return f"several {_noun(thing, several)}"
    return _one(thing)


def _one(thing: str) -> str:
    if thing in PAIRED or thing in UNCOUNTED:
        return thing
    return f"{indefinite_article(Entity(thing))} {thing}"
