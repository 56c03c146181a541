"""YAML of strangers as plain nodes that know their line, so that complaints name file and line.

Built from parse events with hard limits; anchors, aliases, tags and repeated keys are refused, and
every scalar stays the text that was written (no surprise of `no` becoming false) unless its value
is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from gnomon.errors import DataError
from gnomon.files import read_text, yaml_events

SIZE_LIMIT = 16 * 2**20  # characters in one file
DEPTH_LIMIT = 24  # lists and mappings inside each other
NEEDS_QUOTES = "Text that starts with { or [ needs quotes."


@dataclass(slots=True)
class Node:
    """A scalar (`text`; none for an empty one), a list (`items`) or a mapping (`entries`)."""

    kind: str  # "text", "list" or "mapping"
    file: str
    line: int
    text: str | None = None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    tag: str = ""  # such as !function, where it was let in
    quoted: bool = False

    @property
    def value(self) -> Any:
        """A scalar as YAML means it: a number, yes or no, a date, nothing, or its text."""
        import yaml

        if self.text is None or self.quoted or self.kind != "text":
            return self.text
        loader = yaml.SafeLoader("")
        tag = loader.resolve(yaml.ScalarNode, self.text, (True, False))  # type: ignore[no-untyped-call]
        meant = yaml.ScalarNode(tag, self.text)
        try:
            return loader.construct_object(meant)
        except (yaml.YAMLError, ValueError):
            self.fail(f"'{shown(self.text)}' cannot be read.", "Correct it, or put it in quotes.")

    def plain(self) -> Any:
        """The values without lines; what has a tag stays a node."""
        if self.tag:
            return self
        if self.kind == "list":
            return [each.plain() for each in self.items]
        if self.kind == "mapping":
            return {name: each.plain() for name, each in self.entries.items()}
        return self.value

    def fail(self, message: str, hint: str = "") -> NoReturn:
        """Complain about this node."""
        raise DataError(message, hint, file=self.file, line=self.line)

    def mapping(self, what: str, keys: Collection[str] = ()) -> dict[str, Node]:
        """The entries of a mapping, whose keys must be among `keys`, if any are given.

        An empty node has none.
        """
        if self.kind == "text" and self.text is None:
            return {}
        if self.kind != "mapping":
            self.fail(
                f"{what} must be a mapping of keys to values, not a {self.kind}.",
                "docs/patterns.md shows how it is written.",
            )
        if not keys:
            return self.entries
        for key, value in self.entries.items():
            if key not in keys:
                near = get_close_matches(key, list(keys), n=1)
                known = f"It takes: {', '.join(keys)}."
                hint = f"Did you mean {near[0]}?" if near else known
                value.fail(f"{what} has no key '{shown(key)}'.", hint)
        return self.entries

    def sequence(self, what: str) -> list[Node]:
        """The items of a list."""
        if self.kind != "list":
            self.fail(
                f"{what} must be a list, not a {self.kind}.",
                "Write its items in [brackets] or on lines with a dash.",
            )
        return self.items

    def scalar(self, what: str) -> str:
        """The text of a scalar that is not empty."""
        if self.kind != "text":
            self.fail(f"{what} must be text, not a {self.kind}.", NEEDS_QUOTES)
        words = (self.text or "").split()
        if not words:
            self.fail(f"{what} must be text, not empty.", "Write the text after the colon.")
        return " ".join(words)

    def texts(self, what: str) -> list[tuple[str, Node]]:
        """The texts of a list, or of a single text, each with its node."""
        nodes = [self] if self.kind == "text" else self.sequence(what)
        return [(node.scalar(what), node) for node in nodes]

    def choice(self, what: str, known: Collection[str]) -> str:
        """A text that must be one of the known ones."""
        text = self.scalar(what)
        if text not in known:
            self.fail(f"{what} cannot be '{shown(text)}'.", f"It is one of: {', '.join(known)}.")
        return text


def shown(text: str, limit: int = 60) -> str:
    """A stranger's text, made fit for a message: printable and short.

    >>> shown("a" * 80)[-3:]
    '...'
    """
    if len(text) > limit:
        text = f"{text[: limit - 3]}..."
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def read_document(file: str | Path, *, limit: int = SIZE_LIMIT, tags: Collection[str] = ()) -> Node:
    """The single document of a YAML file; of tags only those that are named are let in."""
    return parse_document(read_text(file, limit=limit), str(file), tags)


def parse_document(text: str, file: str = "", tags: Collection[str] = ()) -> Node:
    """The single document of a YAML text; `file` is its name in messages.

    >>> parse_document("a: [b, no]").entries["a"].items[1].text
    'no'
    """
    if len(text) > SIZE_LIMIT:
        raise DataError(
            f"the file is larger than {SIZE_LIMIT // 2**20} MB.",
            "Split it into several files in one folder.",
            file=file,
        )
    return _build(yaml_events(text, file, deepest=DEPTH_LIMIT), file, tags)


def _build(events: Iterator[Any], file: str, tags: Collection[str]) -> Node:
    import yaml

    root: Node | None = None
    open_nodes: list[Node] = []
    keys: list[str | None] = []  # for each open mapping, the key that waits for its value
    for event in events:
        if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            open_nodes.pop()
            keys.pop()
            continue
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            raise DataError(
                "a second document starts here.",
                "Write one document per file.",
                file=file,
                line=_line(event),
            )
        if not isinstance(event, yaml.NodeEvent):
            continue
        line = _line(event)
        tag = getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent) or event.anchor or (tag and tag not in tags):
            raise DataError(
                "anchors (&), aliases (*) and tags (!) of YAML are not used here.",
                "Write the text itself; put quotes around text that starts with & * or !.",
                file=file,
                line=line,
            )
        node = _node(event, file, line)
        root = root or node
        if open_nodes:
            _attach(open_nodes[-1], keys, node)
        if node.kind != "text":
            open_nodes.append(node)
            keys.append(None)
    return root or Node("text", file, 1)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _node(event: Any, file: str, line: int) -> Node:
    import yaml

    if isinstance(event, yaml.ScalarEvent):
        plain = event.style in (None, "")
        empty = plain and event.value in ("", "~", "null", "Null", "NULL")
        text = None if empty else event.value
        return Node("text", file, line, text, tag=event.tag or "", quoted=not plain)
    kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
    return Node(kind, file, line, tag=event.tag or "")


def _attach(parent: Node, keys: list[str | None], node: Node) -> None:
    if parent.kind == "list":
        parent.items.append(node)
        return
    key = keys[-1]
    if key is not None:
        parent.entries[key] = node
        keys[-1] = None
        return
    if node.kind != "text" or node.text is None:
        node.fail("a key must be a plain word.", NEEDS_QUOTES)
    key = " ".join(node.text.split())
    if key in parent.entries:
        node.fail(f"the key '{shown(key)}' is given twice.", "Keep one of them.")
    keys[-1] = key
