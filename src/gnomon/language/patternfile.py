"""Reading patterns from YAML (docs/patterns.md): names resolved, complaints with file and line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gnomon.errors import DataError
from gnomon.files import package_data
from gnomon.grouped import grouped
from gnomon.language.conditions import Condition, resolve
from gnomon.language.expressions import ExpressionError, parse_condition, parse_set, slots_of
from gnomon.language.patterns import (
    CLASSES,
    LABELS,
    Bank,
    Example,
    Pattern,
    PatternSlot,
    patterns_of,
)
from gnomon.language.patterns import KEYS as SQUARE_KEYS
from gnomon.language.surface import SLOT, SentenceError, SlottedSentence, parse_sentence
from gnomon.language.world import World, build_world, read_expression
from gnomon.yamlnodes import Node, parse_document, read_document, shown

SHARED = ("class", "expressions", "hops", "slots", "where", "distinct")
PATTERN_KEYS = (*SHARED, *"id label premises hypothesis sibling examples note".split())
PREMISE_LIMIT, SLOT_LIMIT, WORDS_LIMIT, CONDITION_LIMIT, EXAMPLE_LIMIT = 5, 8, 200, 50, 100
BRACES = frozenset("{}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._*-]{0,59}")


def read_bank(*paths: str | Path, world: str | Path | None = None) -> Bank:
    """The patterns of files or folders of files.

    `world` is the file of the mini world; by default it is the one that ships.
    """
    files = []
    for path in paths:
        files += _files(Path(path).expanduser())
    ground = read_document(world or package_data("patterns/world.yaml"))
    return build_bank([read_document(file) for file in files], ground)


def parse_bank(text: str, world: str = "", file: str = "") -> Bank:
    """The patterns of a YAML text, over the mini world of another."""
    ground = parse_document(world, "world") if world else None
    return build_bank([parse_document(text, file)], ground)


def build_bank(documents: Sequence[Node], world: Node | None = None) -> Bank:
    """The patterns of several documents; what each has under `world` joins the mini world."""
    worlds = [world] if world else []
    bodies = []
    for document in documents:
        top = document.mapping("a pattern file", ("patterns", "families", "squares", "world"))
        bodies += _bodies(top)
        if "world" in top:
            worlds.append(top["world"])
    ground = build_world(worlds)
    patterns: dict[str, Pattern] = {}
    for node, family in bodies:
        pattern = _Reader(node, family, ground).pattern()
        first = patterns.setdefault(pattern.id, pattern)
        if first is not pattern:
            node.fail(
                f"the id '{pattern.id}' is given twice, first in {first.file}:{first.line}.",
                "Change one of them.",
            )
    files = tuple(document.file for document in documents)
    if not patterns:
        raise DataError(
            "there are no patterns.",
            "Write them under 'patterns', 'families' or 'squares' (docs/patterns.md).",
            file=files[0] if files else "",
        )
    return Bank(tuple(_with_siblings(patterns)), ground, files)


def _files(path: Path) -> list[Path]:
    if path.suffix == ".xml":
        raise DataError(
            "this is the format of SpaceNLI's authors.",
            "Make its problems with the benchmark's published source (--data FOLDER); "
            "`gnomon audit FILE.xml` checks it.",
            file=path,
        )
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.yaml"))
    if not files:
        raise DataError(
            "the folder holds no .yaml file.", "Name a pattern file or a folder of them.", file=path
        )
    return files


def _bodies(top: Mapping[str, Node]) -> list[tuple[Node, Node | None]]:
    """Every pattern with its family or square, in the order of the file."""
    found: list[tuple[Node, Node | None]] = []
    for name, section in top.items():
        if name == "patterns":
            found += [(node, None) for node in section.sequence("patterns")]
        elif name == "families":
            for family in section.sequence("families"):
                found += [(node, family) for node in _members(family)]
        elif name == "squares":
            for square in section.sequence("squares"):
                square.mapping("a square", (*SQUARE_KEYS, *SHARED))
                found += [(node, square) for node in patterns_of(square)]
    return found


def _members(family: Node) -> list[Node]:
    keys = family.mapping("a family", ("family", "patterns", "note", *SHARED))
    if "patterns" not in keys:
        family.fail("the family has no 'patterns'.", "List its patterns under the key 'patterns'.")
    return keys["patterns"].sequence("patterns")


def _with_siblings(patterns: Mapping[str, Pattern]) -> list[Pattern]:
    """Name the siblings: as written, else the members of the family with another label."""
    in_families = [pattern for pattern in patterns.values() if pattern.family]
    families = grouped(in_families, lambda pattern: (pattern.file, pattern.family))
    found = []
    for pattern in patterns.values():
        for name in pattern.siblings:
            _check_sibling(pattern, name, patterns.get(name))
        members = families.get((pattern.file, pattern.family), ())
        others = tuple(other.id for other in members if other.label != pattern.label)
        found.append(replace(pattern, siblings=pattern.siblings or others))
    return found


def _check_sibling(pattern: Pattern, name: str, other: Pattern | None) -> None:
    if other is None:
        problem = "does not exist"
    elif other.label == pattern.label:
        problem = f"has the same label, {other.label}"
    else:
        return
    raise DataError(
        f"the sibling '{shown(name)}' of '{pattern.id}' {problem}.",
        "Name a pattern with another label.",
        file=pattern.file,
        line=pattern.line,
    )


class _Reader:
    """One pattern: its own keys, its family's where it has none."""

    def __init__(self, node: Node, family: Node | None, world: World) -> None:
        self.node = node
        self.world = world
        self.own = node.mapping("a pattern", PATTERN_KEYS)
        self.family: Mapping[str, Node] = {}
        self.family_name = ""
        if family is not None:
            self.family = family.mapping("a family")
            self.family_name = f"line {family.line}"
        for key in ("family", "square"):
            if key in self.family:
                self.family_name = self.family[key].scalar(f"'{key}'")

    def find(self, key: str) -> Node | None:
        """What the pattern says under a key, or its family where families may."""
        if key in self.own or key not in SHARED:
            return self.own.get(key)
        return self.family.get(key)

    def get(self, key: str) -> Node:
        found = self.find(key)
        if found is None:
            self.node.fail(
                f"the pattern has no '{key}'.", "docs/patterns.md lists the keys of a pattern."
            )
        return found

    def pattern(self) -> Pattern:
        premises = self.premises()
        hypothesis = self.hypothesis(premises)
        used: set[str] = set()
        for sentence in (*premises, hypothesis):
            used.update(sentence.slots)
        slots, known = self.slots(used)
        note = self.own.get("note")
        return Pattern(
            id=self.identifier(),
            label=self.get("label").choice("the label", LABELS),
            kind=self.get("class").choice("the class", CLASSES),
            expressions=self.expressions(),
            premises=premises,
            hypothesis=hypothesis,
            slots=slots,
            conditions=self.conditions(slots, known),
            distinct=self.distinct(),
            examples=self.examples(slots),
            siblings=self.siblings(),
            world=self.world,
            family=self.family_name,
            hops=self.hops(),
            file=self.node.file,
            line=self.node.line,
            note=note.scalar("'note'") if note else "",
        )

    def identifier(self) -> str:
        node = self.get("id")
        found = node.scalar("'id'")
        if not _ID.fullmatch(found):
            node.fail(
                f"'{shown(found)}' cannot be an id.",
                "Use letters, digits and . _ * -, at most 60.",
            )
        return found

    def premises(self) -> tuple[SlottedSentence, ...]:
        node = self.get("premises")
        found = [_sentence(text, where) for text, where in node.texts("'premises'")]
        if not 1 <= len(found) <= PREMISE_LIMIT:
            node.fail(f"there are {len(found)} premises.", f"Write 1 to {PREMISE_LIMIT}.")
        return tuple(found)

    def hypothesis(self, premises: Sequence[SlottedSentence]) -> SlottedSentence:
        node = self.get("hypothesis")
        found = _sentence(node.scalar("'hypothesis'"), node)
        if found in premises:
            node.fail("the hypothesis is also a premise.", "Change one of them.")
        return found

    def distinct(self) -> bool:
        """Whether no entity may fill two slots; so it is unless the pattern says otherwise."""
        node = self.find("distinct")
        if node is None:
            return True
        return node.choice("'distinct'", ("yes", "no", "true", "false")) in ("yes", "true")

    def hops(self) -> int:
        """How many premises the inference chains; 0 where the file does not say."""
        node = self.find("hops")
        if node is None:
            return 0
        return int(node.choice("'hops'", list(map(str, range(1, PREMISE_LIMIT + 1)))))

    def siblings(self) -> tuple[str, ...]:
        node = self.own.get("sibling")
        if node is None:
            return ()
        return tuple(text for text, _ in node.texts("'sibling'"))

    def expressions(self) -> tuple[str, ...]:
        node = self.get("expressions")
        found = tuple(text for text, _ in node.texts("'expressions'"))
        if not found or len(set(found)) != len(found):
            node.fail(
                "the expressions are missing or one is given twice.",
                "List each once: [in, on top of]",
            )
        return found

    def slots(self, used: set[str]) -> tuple[tuple[PatternSlot, ...], set[str]]:
        """The slots that the sentences use, sorted by name.

        Also all names that the family and the pattern declare.
        """
        family, own = _slots_at(self.family), _slots_at(self.own)
        declared = {**family, **own}
        for name, node in declared.items():
            if not SLOT.fullmatch(name):
                node.fail(
                    f"'{shown(name)}' cannot be the name of a slot.",
                    "Use a capital, with a digit if you like: X, Y2, NP1.",
                )
        for name, node in own.items():
            if name not in used:
                node.fail(f"no sentence uses the slot '{name}'.", "Remove it, or use it.")
        for name in sorted(used - declared.keys()):
            self.node.fail(
                f"the slot '{name}' is not declared.", "Say under 'slots' what may fill it."
            )
        if not 1 <= len(used) <= SLOT_LIMIT:
            self.node.fail(f"the pattern has {len(used)} slots.", f"Use 1 to {SLOT_LIMIT}.")
        return tuple(self.slot(name, declared[name]) for name in sorted(used)), set(declared)

    def slot(self, name: str, node: Node) -> PatternSlot:
        if node.kind == "mapping":
            return _slot_of_words(name, node)
        domain = read_expression(
            lambda text: self.world.members(parse_set(text)),
            node.scalar(f"the slot '{name}'"),
            node,
        )
        if not domain:
            node.fail(
                f"nothing can fill the slot '{name}': the set is empty.",
                "Name a class with entities in it.",
            )
        return PatternSlot(name, domain)

    def conditions(self, slots: Sequence[PatternSlot], declared: set[str]) -> tuple[Condition, ...]:
        found: list[Condition] = []
        if "where" in self.family:  # what speaks of slots that this pattern lacks is passed over
            absent = declared - {slot.name for slot in slots}
            found += self.conditions_at(self.family["where"], slots, absent)
        if "where" in self.own:
            found += self.conditions_at(self.own["where"], slots, set())
        if len(found) > CONDITION_LIMIT:
            self.node.fail(
                f"the pattern has more than {CONDITION_LIMIT} conditions.",
                "Put some into a relation of the world.",
            )
        return tuple(found)

    def conditions_at(
        self, section: Node, slots: Sequence[PatternSlot], absent: set[str]
    ) -> Iterator[Condition]:
        """The conditions of a section, but for those on slots that are absent."""
        places = {slot.name: place for place, slot in enumerate(slots)}
        words = {slot.name: slot.words for slot in slots if slot.words}
        for text, node in section.texts("'where'"):
            try:
                condition = parse_condition(text)
                unused = slots_of(condition) - places.keys()
                if unused and unused <= absent:
                    continue
                yield resolve(condition, self.world, places, words)
            except ExpressionError as error:
                node.fail(
                    f"{error}, in: {shown(text)}",
                    "docs/patterns.md shows how conditions are written.",
                )

    def examples(self, slots: Sequence[PatternSlot]) -> tuple[Example, ...]:
        if "examples" not in self.own:
            return ()
        names = [slot.name for slot in slots]
        found: list[Example] = []
        for node in self.own["examples"].sequence("'examples'"):
            if node.kind == "mapping":
                found.append(_fillers(node, names))
            else:
                found.append(self.sentences(node))
        if len(found) > EXAMPLE_LIMIT:
            self.node.fail(
                f"the pattern has more than {EXAMPLE_LIMIT} examples.", "Keep the telling ones."
            )
        return tuple(found)

    def sentences(self, node: Node) -> tuple[str, ...]:
        """An example as sentences."""
        found = tuple(text for text, _ in node.texts("an example"))
        count = len(self.get("premises").texts("'premises'")) + 1
        if len(found) != count:
            node.fail(
                f"the example has {len(found)} sentences, the pattern {count}.",
                "Write premises, then hypothesis.",
            )
        return found


def _slots_at(keys: Mapping[str, Node]) -> Mapping[str, Node]:
    """The slots that a family or a pattern declares."""
    if "slots" not in keys:
        return {}
    return keys["slots"].mapping("'slots'")


def _fillers(node: Node, names: Sequence[str]) -> dict[str, str]:
    """An example as fillers."""
    found = {}
    for slot, filler in node.mapping("an example", names).items():
        found[slot] = filler.scalar("a filler")
    missing = sorted(set(names) - found.keys())
    if missing:
        node.fail(
            f"the example does not fill {', '.join(missing)}.", "Name a filler for each slot."
        )
    return found


def _slot_of_words(name: str, node: Node) -> PatternSlot:
    words: list[str] = []
    for item in node.mapping(f"the slot '{name}'", ("words",)).values():
        for entry in item.sequence("'words'"):
            words.append(" ".join((entry.text or "").split()))
    if not 1 <= len(words) <= WORDS_LIMIT or len(set(words)) != len(words):
        node.fail(
            f"the words of '{name}' are missing, too many or repeated.",
            "Write {words: [at once, right away]}",
        )
    for word in words:
        if not word.isprintable() or not BRACES.isdisjoint(word):
            node.fail(
                f"a word of '{name}' holds a character that cannot be used.", "Write plain words."
            )
    return PatternSlot(name, frozenset(range(len(words))), tuple(words))


def _sentence(text: str, node: Node) -> SlottedSentence:
    try:
        return parse_sentence(text)
    except SentenceError as error:
        node.fail(
            f"{error}, in: {shown(text)}", "docs/patterns.md shows how sentences are written."
        )
