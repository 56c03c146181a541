"""Reading patterns from YAML (docs/patterns.md): families spread out, names resolved, complaints
with file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from gnomon.errors import DataError
from gnomon.files import package_data
from gnomon.language.conditions import Condition, resolve
from gnomon.language.documents import Node, parse_document, read_document, shown
from gnomon.language.expressions import ExpressionError, slots_of
from gnomon.language.parsing import parse_condition, parse_set
from gnomon.language.patterns import CLASSES, LABELS, Bank, Pattern, Slot
from gnomon.language.surface import SLOT, Sentence, SentenceError, parse_sentence
from gnomon.language.world import World
from gnomon.language.worldfile import build_world, read_expression

SHARED = ("class", "expressions", "slots", "where", "distinct")
PATTERN_KEYS = (
    "id",
    "label",
    "class",
    "expressions",
    "premises",
    "hypothesis",
    "slots",
    "where",
    "distinct",
    "sibling",
    "examples",
    "note",
)
PREMISE_LIMIT, SLOT_LIMIT, WORDS_LIMIT, CONDITION_LIMIT, EXAMPLE_LIMIT = 3, 8, 200, 50, 100
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._*-]{0,59}")


def read_bank(*paths: str | Path, world: str | Path | None = None) -> Bank:
    """The patterns of files or folders of files; `world` is the mini world's file (default: the one
    that ships)."""
    files = [file for path in paths for file in _files(Path(path).expanduser())]
    ground = read_document(world if world is not None else package_data("spacenli/world.yaml"))
    return build_bank([read_document(file) for file in files], ground)


def parse_bank(text: str, world: str = "", file: str = "") -> Bank:
    """The patterns of a YAML text, over the mini world of another."""
    return build_bank(
        [parse_document(text, file)], parse_document(world, "world") if world else None
    )


def build_bank(documents: Sequence[Node], world: Node | None = None) -> Bank:
    """The patterns of several documents; what each says under `world` is added to the mini
    world."""
    tops = [
        document.mapping("a pattern file", ("patterns", "families", "world"))
        for document in documents
    ]
    ground = build_world(
        [*([world] if world else []), *(top["world"] for top in tops if "world" in top)]
    )
    patterns: list[Pattern] = []
    seen: dict[str, Pattern] = {}
    for top in tops:
        for node, family in _bodies(top):
            pattern = _Reader(node, family, ground).pattern()
            if pattern.id in seen:
                first = seen[pattern.id]
                node.fail(
                    f"the id '{pattern.id}' is given twice, first in {first.file}:{first.line}.",
                    "Change one of them.",
                )
            seen[pattern.id] = pattern
            patterns.append(pattern)
    if not patterns:
        raise DataError(
            "there are no patterns.",
            "Write them under 'patterns' or 'families' (docs/patterns.md).",
            file=documents[0].file if documents else "",
        )
    return Bank(
        tuple(_with_siblings(patterns, seen)),
        ground,
        tuple(document.file for document in documents),
    )


def _files(path: Path) -> list[Path]:
    if path.suffix == ".xml":
        raise DataError(
            "this is the format of SpaceNLI's authors.",
            "Make its problems with spacenli@published --data FOLDER; gnomon check FILE.xml checks it.",
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
    """Every pattern with its family, in the order of the file."""
    found: list[tuple[Node, Node | None]] = []
    for name, section in top.items():
        if name == "patterns":
            found += [(node, None) for node in section.sequence("patterns")]
        elif name == "families":
            for family in section.sequence("families"):
                keys = family.mapping("a family", ("family", "patterns", "note", *SHARED))
                if "patterns" not in keys:
                    family.fail(
                        "the family has no 'patterns'.",
                        "List its patterns under the key 'patterns'.",
                    )
                found += [(node, family) for node in keys["patterns"].sequence("patterns")]
    return found


def _with_siblings(patterns: Sequence[Pattern], by_id: Mapping[str, Pattern]) -> list[Pattern]:
    """Name the siblings: as written, else the members of the family with another label."""
    from dataclasses import replace

    families: dict[tuple[str, str], list[Pattern]] = {}
    for pattern in patterns:
        if pattern.family:
            families.setdefault((pattern.file, pattern.family), []).append(pattern)
    found = []
    for pattern in patterns:
        for name in pattern.siblings:
            other = by_id.get(name)
            if other is None or other.label == pattern.label:
                raise DataError(
                    f"the sibling '{shown(name)}' of '{pattern.id}' "
                    + (
                        "does not exist."
                        if other is None
                        else f"has the same label, {other.label}."
                    ),
                    "Name a pattern with another label.",
                    file=pattern.file,
                    line=pattern.line,
                )
        members = families.get((pattern.file, pattern.family), []) if pattern.family else []
        siblings = pattern.siblings or tuple(
            other.id for other in members if other.label != pattern.label
        )
        found.append(replace(pattern, siblings=siblings))
    return found


class _Reader:
    """One pattern: its own keys, its family's where it has none."""

    def __init__(self, node: Node, family: Node | None, world: World) -> None:
        self.node, self.world = node, world
        self.own = node.mapping("a pattern", PATTERN_KEYS)
        self.family = family.mapping("a family") if family else {}
        self.family_name = ""
        if family is not None:
            self.family_name = (
                self.family["family"].scalar("'family'")
                if "family" in self.family
                else f"line {family.line}"
            )

    def get(self, key: str) -> Node:
        found = self.own.get(key) or (self.family.get(key) if key in SHARED else None)
        if found is None:
            self.node.fail(
                f"the pattern has no '{key}'.", "docs/patterns.md lists the keys of a pattern."
            )
        return found

    def pattern(self) -> Pattern:
        identifier = self.get("id").scalar("'id'")
        if not _ID.fullmatch(identifier):
            self.get("id").fail(
                f"'{shown(identifier)}' cannot be an id.",
                "Use letters, digits and . _ * -, at most 60.",
            )
        premises = [
            _sentence(text, node) for text, node in self.get("premises").texts("'premises'")
        ]
        if not 1 <= len(premises) <= PREMISE_LIMIT:
            self.get("premises").fail(
                f"there are {len(premises)} premises.", f"Write 1 to {PREMISE_LIMIT}."
            )
        hypothesis = _sentence(
            self.get("hypothesis").scalar("'hypothesis'"), self.get("hypothesis")
        )
        if hypothesis.text in [premise.text for premise in premises]:
            self.get("hypothesis").fail("the hypothesis is also a premise.", "Change one of them.")
        used = {slot for sentence in (*premises, hypothesis) for slot in sentence.slots}
        slots, known = self.slots(used)
        distinct = (
            self.get("distinct").choice("'distinct'", ("yes", "no", "true", "false"))
            if ("distinct" in self.own or "distinct" in self.family)
            else "yes"
        )
        return Pattern(
            id=identifier,
            label=self.get("label").choice("the label", LABELS),
            kind=self.get("class").choice("the class", CLASSES),
            expressions=self.expressions(),
            premises=tuple(premises),
            hypothesis=hypothesis,
            slots=slots,
            conditions=self.conditions(slots, known),
            distinct=distinct in ("yes", "true"),
            examples=self.examples(slots),
            siblings=tuple(text for text, _ in self.own["sibling"].texts("'sibling'"))
            if "sibling" in self.own
            else (),
            world=self.world,
            family=self.family_name,
            file=self.node.file,
            line=self.node.line,
            note=self.own["note"].scalar("'note'") if "note" in self.own else "",
        )

    def expressions(self) -> tuple[str, ...]:
        node = self.get("expressions")
        found = tuple(text for text, _ in node.texts("'expressions'"))
        if not found or len(set(found)) != len(found):
            node.fail(
                "the expressions are missing or one is given twice.",
                "List each once: [in, on top of]",
            )
        return found

    def slots(self, used: set[str]) -> tuple[tuple[Slot, ...], set[str]]:
        """The slots that the sentences use, sorted by name, and all names that the family and the
        pattern declare."""
        declared: dict[str, Node] = {}
        for keys, own in ((self.family, False), (self.own, True)):
            for name, node in (keys["slots"].mapping("'slots'") if "slots" in keys else {}).items():
                if not SLOT.fullmatch(name):
                    node.fail(
                        f"'{shown(name)}' cannot be the name of a slot.",
                        "Use a capital, with a digit if you like: X, Y2, NP1.",
                    )
                if own and name not in used:
                    node.fail(f"no sentence uses the slot '{name}'.", "Remove it, or use it.")
                declared[name] = node
        for name in sorted(used):
            if name not in declared:
                self.node.fail(
                    f"the slot '{name}' is not declared.", "Say under 'slots' what may fill it."
                )
        if not 1 <= len(used) <= SLOT_LIMIT:
            self.node.fail(f"the pattern has {len(used)} slots.", f"Use 1 to {SLOT_LIMIT}.")
        return tuple(self.slot(name, declared[name]) for name in sorted(used)), set(declared)

    def slot(self, name: str, node: Node) -> Slot:
        if node.kind == "mapping":
            keys = node.mapping(f"the slot '{name}'", ("words",))
            words = (
                [item.text or "" for item in keys["words"].sequence("'words'")]
                if "words" in keys
                else []
            )
            words = [" ".join(word.split()) for word in words]
            if not 1 <= len(words) <= WORDS_LIMIT or len(set(words)) != len(words):
                node.fail(
                    f"the words of '{name}' are missing, too many or repeated.",
                    "Write {words: [at once, right away]}",
                )
            if not all(word.isprintable() and not set(word) & set("{}") for word in words):
                node.fail(
                    f"a word of '{name}' holds a character that cannot be used.",
                    "Write plain words.",
                )
            return Slot(name, frozenset(range(len(words))), tuple(words))
        domain = read_expression(
            lambda text: self.world.members(parse_set(text)),
            node.scalar(f"the slot '{name}'"),
            node,
        )
        if not domain:
            node.fail(f"nothing can fill the slot '{name}': the set is empty.", "Mend the set.")
        return Slot(name, domain)

    def conditions(self, slots: Sequence[Slot], declared: set[str]) -> tuple[Condition, ...]:
        places = {slot.name: place for place, slot in enumerate(slots)}
        words = {slot.name: slot.words for slot in slots if slot.words}
        found: list[Condition] = []
        for keys, own in ((self.family, False), (self.own, True)):
            for text, node in keys["where"].texts("'where'") if "where" in keys else ():
                try:
                    condition = parse_condition(text)
                    if (
                        not own
                        and (unused := slots_of(condition) - set(places))
                        and unused <= declared
                    ):
                        continue
                    found.append(resolve(condition, self.world, places, words))
                except ExpressionError as error:
                    node.fail(
                        f"{error}, in: {shown(text)}",
                        "docs/patterns.md shows how conditions are written.",
                    )
        if len(found) > CONDITION_LIMIT:
            self.node.fail(
                f"the pattern has more than {CONDITION_LIMIT} conditions.",
                "Put some into a relation of the world.",
            )
        return tuple(found)

    def examples(self, slots: Sequence[Slot]) -> tuple[Mapping[str, str] | tuple[str, ...], ...]:
        if "examples" not in self.own:
            return ()
        found: list[Mapping[str, str] | tuple[str, ...]] = []
        names = [slot.name for slot in slots]
        for node in self.own["examples"].sequence("'examples'"):
            if node.kind == "mapping":
                fillers = {
                    slot: filler.scalar("a filler")
                    for slot, filler in node.mapping("an example", names).items()
                }
                if len(fillers) != len(names):
                    node.fail(
                        f"the example does not fill {', '.join(sorted(set(names) - set(fillers)))}.",
                        "Name a filler for each slot.",
                    )
                found.append(fillers)
            else:
                sentences = tuple(text for text, _ in node.texts("an example"))
                count = len(self.get("premises").texts("'premises'")) + 1
                if len(sentences) != count:
                    node.fail(
                        f"the example has {len(sentences)} sentences, the pattern {count}.",
                        "Write premises, then hypothesis.",
                    )
                found.append(sentences)
        if len(found) > EXAMPLE_LIMIT:
            self.node.fail(
                f"the pattern has more than {EXAMPLE_LIMIT} examples.", "Keep the telling ones."
            )
        return tuple(found)


def _sentence(text: str, node: Node) -> Sentence:
    try:
        return parse_sentence(text)
    except SentenceError as error:
        node.fail(
            f"{error}, in: {shown(text)}", "docs/patterns.md shows how sentences are written."
        )
