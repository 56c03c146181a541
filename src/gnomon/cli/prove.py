"""Prove that a sentence about space follows from others, is against them, or is left open.

The sentences may name anything: "the cup", "Nora", "the kitchen table". What the words mean is in
docs/proofs.md, with the readings: what a sentence leaves open and a reader supplies. The proof
says which premises it needs. What is left open is shown by two scenes: --picture writes them as a
picture (.png) or a plan (.svg).

examples:
  gnomon prove --say "The cup is in the box. The box is in the car." "The cup is in the car."
  gnomon prove --say "The cup is left of the jug." "Where is the jug relative to the cup?"
  gnomon prove --say "The dog is near the car." "The dog is behind the car." --picture dog.png
  gnomon prove --readings
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from gnomon.cli.list import print_json
from gnomon.contracts import Listing
from gnomon.errors import UsageError, inert
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.proofs.meaning.texts import StatedText
    from gnomon.proofs.solver import Proof

VERDICTS = {
    "entailment": "Yes: it follows.",
    "contradiction": "No: it cannot be.",
    "neutral": "Open: it could be, and it need not be.",
    "inconsistent": "The premises cannot all be true.",
}
ENDINGS = (".png", ".svg")


def main(args: Namespace) -> int:
    """Prove, print, draw."""
    if args.readings:
        return _print_readings(args.format)
    if args.say is None:
        raise UsageError(
            "There is nothing to prove.",
            'Try: gnomon prove --say "The cup is in the box." "The box is empty."',
        )
    if args.picture and not args.picture.lower().endswith(ENDINGS):
        raise UsageError(
            f"'{args.picture}' ends in none of {', '.join(ENDINGS)}.", "Change its ending."
        )
    from gnomon.lexicon.statements import read_which
    from gnomon.proofs.meaning.sentences import sentences_of
    from gnomon.proofs.solver import text_of

    premises = sentences_of(args.say[0])
    asked = read_which(args.say[1])
    if asked is not None:
        return _print_relations(premises, asked, args.reading or "ordinary", args.format)
    text = text_of(premises, [args.say[1]])
    proofs = _proofs(text, args.reading)
    if args.format == "json":
        _print_json(premises, proofs)
    else:
        _print_text(premises, proofs)
    if args.picture:
        from gnomon.proofs.witnesses import draw_witnesses

        draw_witnesses(text, proofs[0], args.picture)
    return 0


def _proofs(text: StatedText, reading: str | None) -> list[Proof]:
    """The proof under each reading, the ordinary one first."""
    from gnomon.proofs.meaning.stories import reading_named, readings
    from gnomon.proofs.solver import Case

    asked = list(readings().values())
    if reading is not None:
        asked = [reading_named(reading)]
    return [Case(*text.formulas(each)).proof(witnesses=True) for each in asked]


def _print_text(premises: list[str], proofs: list[Proof]) -> None:
    first, *others = proofs
    print(VERDICTS[first.verdict])
    if first.needed:
        print("This takes: " + inert(" | ".join(premises[number] for number in first.needed)))
    if first.unknown:
        print("Nothing is known of: " + inert(", ".join(first.unknown)) + ".")
    differing = [proof for proof in others if proof.verdict != first.verdict]
    for proof in differing:
        print(f"Under the reading '{proof.reading}': {VERDICTS[proof.verdict]}")
    if others and not differing:
        print(f"The same under all {len(proofs)} readings.")
    elif not others:
        print(f"Reading: {first.reading}.")


def _print_relations(premises: list[str], asked: tuple[str, str], reading: str, format: str) -> int:
    """Answer which relations hold between two things."""
    from gnomon.proofs.puzzles import relations_between

    found = relations_between(premises, *asked, reading=reading)
    if format == "json":
        print_json({"reading": reading, **found._asdict()})
        return 0
    first, second = map(inert, asked)
    for said, words in (("It follows that", found.yes), ("It cannot be that", found.no)):
        if words:
            print(f"{said} {first} is: {', '.join(words)} ({second}).")
    if not found.yes and not found.no:
        print(f"Nothing follows about where {first} is in relation to {second}.")
    print(f"Reading: {reading}.")
    return 0


def _print_json(premises: list[str], proofs: list[Proof]) -> None:
    from gnomon.proofs.witnesses import centres

    first = proofs[0]
    found: dict[str, Any] = {
        "verdict": first.verdict,
        "reading": first.reading,
        "needed": [premises[number] for number in first.needed],
        "unknown": list(first.unknown),
        "readings": {proof.reading: proof.verdict for proof in proofs},
        "could": centres(first.could),
        "need_not": centres(first.need_not),
    }
    print_json(found)


def _print_readings(format: str) -> int:
    from gnomon.proofs.meaning.stories import readings

    rows = tuple((reading.name, reading.says) for reading in readings().values())
    listing = Listing("Readings", ("reading", "says"), rows)
    if format == "json":
        print(render(listing, "json"))
        return 0
    for name, says in rows:
        print(f"{name}\n    {says}")
    return 0
