"""The reference pages of the guide, made from the code when the site is built: a hook of mkdocs.

docs/commands.md and docs/api.md hold a mark such as `<!-- made: commands -->` that is replaced by what
the parsers and docstrings say at that moment. Nothing of it is kept in a file, so it cannot go stale.

    mkdocs build --strict
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ForwardRef

import yaml

import gnomon
from gnomon import registry
from gnomon.cli import command_parser
from gnomon.grouped import grouped
from gnomon.registry import COMMANDS

COUNTERPARTS = Path(__file__).with_name("counterparts.yaml")
MARK = re.compile(r"<!-- made: (\w+) -->")
CODE = re.compile(r"(`[^`]*`)")
OPTION = re.compile(r"(\w+)  +(\S.*)")  # a line of a docstring that explains a parameter
FIELD = re.compile(r"^    (\w+): [^#\n]+  # (.+)$", re.MULTILINE)  # a field and what it is
SPECIAL = re.compile(r"([\\*_<>\[\]|#])")
LONGEST_SIGNATURE = 88  # characters on one line


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page: put what is made in the places of the marks."""
    return MARK.sub(lambda mark: MADE[mark[1]](), markdown)


# Commands


def commands() -> str:
    """All commands in their groups, each with what it does; pages.py makes the page of each."""
    tables = []
    for group, names in grouped(COMMANDS, lambda name: COMMANDS[name].group).items():
        tables.append(f"## {escaped(group).capitalize()}")
        listed = [
            f"| [`gnomon {name}`](commands/{name}.md) | {escaped(COMMANDS[name].summary)} |"
            for name in names
        ]
        tables.append("\n".join(["| command | what it does |", "| --- | --- |", *listed]))
    return "\n\n".join(tables)


def command(name: str) -> str:
    """The page of one command."""
    module = registry.command(name)
    parser = command_parser(name, module)
    summary, examples, rest = parts(inspect.cleandoc(parser.description or ""))
    section = [f"# gnomon {name} {{#gnomon-{name}}}", escaped(summary)]
    if examples:
        section.append(f"```sh\n{examples}\n```")
    section += [escaped(paragraph) for paragraph in rest]
    section += options(parser)
    return "\n\n".join(section)


def options(parser: argparse.ArgumentParser) -> list[str]:
    """The arguments of a command; what it does by a further word has a heading of its own."""
    found = []
    for action in visible(parser):
        if not isinstance(action, argparse._SubParsersAction):
            found.append(option(parser, action))
            continue
        said = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for word, part in action.choices.items():
            found += [f"## {parser.prog} {word}", escaped(said[word]), *options(part)]
    return found


def parts(text: str) -> tuple[str, str, list[str]]:
    """A help text as its first paragraph, its examples and the paragraphs after them."""
    paragraphs = text.split("\n\n")
    examples = ""
    rest = []
    for paragraph in paragraphs[1:]:
        if paragraph.startswith("examples:"):
            examples = inspect.cleandoc(paragraph.removeprefix("examples:"))
        else:
            rest.append(paragraph)
    return paragraphs[0], examples, rest


def visible(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a command that its help shows, without --help itself."""
    for action in parser._actions:
        if action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
            yield action


def option(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """One argument as a definition: how it is written, and its line of help."""
    formatter = parser._get_formatter()
    written = formatter._format_action_invocation(action)
    if not action.option_strings:
        written = formatter._format_args(action, action.dest)
    text = formatter._expand_help(action) if action.help else ""
    return f"`{plain(written)}`\n:   {escaped(plain(text)) or '(no words yet)'}"


def plain(text: str) -> str:
    """Text without the colours that argparse may put into it."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# Python


def api() -> str:
    """Every public name of the package: its signature and its docstring."""
    names = [name for name in gnomon.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(gnomon, name))]
    classes = [name for name in names if name not in functions]
    sections = [
        "## Functions",
        *map(documented, functions),
        "## Classes",
        *map(documented, classes),
    ]
    return "\n\n".join(sections)


def documented(name: str) -> str:
    """The section of one public name, with the methods of a class."""
    thing = getattr(gnomon, name)
    section = [f"### {name} {{#{name.lower()}}}", entry(name, thing)]
    if inspect.isclass(thing):
        section += fields(thing)
        section += [entry(f"{name}.{method}", member) for method, member in methods(thing)]
    return "\n\n".join(section)


def fields(thing: type) -> list[str]:
    """The fields of a record, as the comments beside them explain them."""
    try:
        source = inspect.getsource(thing)
    except OSError:  # made while the program runs
        return []
    return [f"`{found[1]}`\n:   {escaped(found[2])}" for found in FIELD.finditer(source)]


def methods(thing: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods and properties that a class itself defines, with docstrings."""
    for name, member in vars(thing).items():
        member = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.isfunction(member) or not member.__doc__:
            continue
        yield name, member


def entry(name: str, thing: Any) -> str:
    """The signature of a function or class, and what its docstring says."""
    section = []
    written = signature(name, thing)
    if written:
        section.append(f"```python\n{written}\n```")
    section.append(docstring(inspect.getdoc(thing) or ""))
    return "\n\n".join(section)


def signature(name: str, thing: Any) -> str:
    """How a thing is called, one parameter a line where that is long; empty where it is not known."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    written = []
    for number, each in enumerate(found.parameters.values()):
        if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in written):
            written.append("*")
        if not (number == 0 and each.name == "self"):
            written.append(parameter(each))
    given = found.return_annotation
    result = "" if given in (found.empty, None, "None") else f" -> {type_name(given)}"
    short = f"{name}({', '.join(written)}){result}"
    if len(short) <= LONGEST_SIGNATURE:
        return short
    return f"{name}(\n    " + ",\n    ".join(written) + f",\n){result}"


def parameter(found: inspect.Parameter) -> str:
    """One parameter with its type and its default; `...` for one that no literal can write."""
    stars = {found.VAR_POSITIONAL: "*", found.VAR_KEYWORD: "**"}.get(found.kind, "")
    written = stars + found.name
    if found.annotation is not found.empty:
        written += f": {type_name(found.annotation)}"
    if found.default is found.empty:
        return written
    default = repr(found.default)
    return f"{written} = {'...' if default.startswith('<') else default}"


def type_name(annotation: Any) -> str:
    """A type as it is written in the code."""
    if isinstance(annotation, ForwardRef):  # of a NamedTuple
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def docstring(text: str) -> str:
    """A docstring as markdown: examples and indented blocks as code, the rest as it stands."""
    return "\n\n".join(paragraph(part) for part in text.split("\n\n"))


def paragraph(text: str) -> str:
    """One paragraph of a docstring."""
    if text.startswith(">>>"):
        return f"```pycon\n{text}\n```"
    if text.startswith("    "):
        return f"```text\n{inspect.cleandoc(text)}\n```"
    rows = [OPTION.match(line) for line in text.splitlines()]
    if all(rows):  # lines of "name   what it is"
        return "\n\n".join(f"`{row[1]}`\n:   {escaped(row[2])}" for row in rows if row)
    return escaped(text)


def escaped(text: str) -> str:
    """Text in which markdown finds nothing but code in backticks."""
    pieces = CODE.split(text)
    pieces[::2] = [SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


# What commands are called in Python


def counterparts() -> str:
    """A table of all commands: their names in Python, or why there are none."""
    lines = ["| command | in Python |", "| --- | --- |"]
    for name, told in yaml.safe_load(COUNTERPARTS.read_text(encoding="utf-8")).items():
        parts = [f"`{each}`" for each in told.get("python", ())]
        parts += [f"`{each}` (may change)" for each in told.get("within", ())]
        parts += [told["why"]] if "why" in told else []
        lines.append(f"| `gnomon {name}` | {', '.join(parts)} |")
    return "\n".join(lines)


MADE = {"commands": commands, "api": api, "counterparts": counterparts}
