"""What holds in every scene: converses, symmetries, exclusions, implications between relations."""

from __future__ import annotations

from gnomon.lexicon.relations import lexicon
from gnomon.scenes.relations import Fact, facts
from gnomon.scenes.scenes import Scene


def broken_laws(scene: Scene, first: str, second: str) -> list[str]:
    """The laws of the lexicon that two things of a scene break; none, one hopes."""
    there, back = facts(scene, first, second), facts(scene, second, first)
    broken = _unequal(there, back)
    for ways in (there, back):
        broken += _clashes(ways)
    return broken


def _unequal(there: dict[str, Fact], back: dict[str, Fact]) -> list[str]:
    """Relations that are not what their converse is the other way round."""
    laws = lexicon().laws
    broken = []
    for relation, converse in laws.converse:
        if there[relation].truth != back[converse].truth:
            broken.append(f"{relation} is the converse of {converse}")
    for relation in laws.symmetric:
        if there[relation].truth != back[relation].truth:
            broken.append(f"{relation} is symmetric")
    return broken


def _clashes(found: dict[str, Fact]) -> list[str]:
    """Relations that hold although another one does, or does not."""
    laws = lexicon().laws
    broken = []
    for relation, other in laws.excluded:
        if found[relation].truth and found[other].truth:
            broken.append(f"{relation} excludes {other}")
    for relation, other in laws.implied:
        if found[relation].truth and not found[other].truth:
            broken.append(f"{relation} implies {other}")
    return broken
