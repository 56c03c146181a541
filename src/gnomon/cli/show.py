"""Show sample items and statistics of a benchmark; with a model, exactly what it would read.

examples:
  gnomon show scales
  gnomon show spacenli -n 5 --seed 7
  gnomon show vsr@published --data path/to/vsr --format markdown
  gnomon show scales -m smollm2 -n 2
  gnomon show spacenli -m openai:gpt-4o-mini --prompt chat --shots 3 --format json

With -m the model is loaded, but not asked, and nothing is sent to a server. Printed are the text or
the messages that it reads, special tokens in ⟦ ⟧, and for each choice the tokens whose likelihood
is scored, with · between them (␣ is a space, ⏎ a line end).
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from textwrap import indent
from typing import Any

from gnomon.cli.list import print_json
from gnomon.cli.selection import (
    check_no_model_options,
    chosen_models,
    chosen_sources,
)
from gnomon.contracts import Listing
from gnomon.errors import UsageError, inert
from gnomon.forms import gold_in_words
from gnomon.items.source import ItemSource
from gnomon.options import takes
from gnomon.records import WRITTEN, Item, Preview
from gnomon.registry import with_prompt
from gnomon.tabular import render

MANY = 30  # combinations of right labels, beyond which a table of them says nothing


def main(args: Namespace) -> int:
    """Print what the benchmark is, items spread over the whole, then the statistics."""
    from gnomon.items.limits import spread

    if args.n < 0:
        raise UsageError(
            f"The number of items must be 0 or more, not {args.n}.",
            "Give -n 0 for statistics only.",
        )
    args.blind = args.model is None
    source = chosen_sources(args, [args.benchmark])[0]
    if args.model is not None:
        return _show_prompts(args, source)
    check_no_model_options(args)
    items = list(source.without_pictures())
    places = spread(len(items), args.n)
    if "file" in source.options:
        places = list(range(min(args.n, len(items))))
    shown = [items[place] for place in places]
    tables = [*counts(items, source.benchmark.slices), *statistics(source, items)]
    tables = [table for table in tables if table.rows]
    if args.format == "json":
        _print_json(source, items, shown, tables)
        return 0
    if args.format in ("table", "markdown"):
        print(introduction(source, items))
        for item in shown:
            print(inert(f"\n{in_words(item)}"))
        print()
    if args.format != "csv":
        tables = [for_people(table) for table in tables]
    print("\n\n".join(render(table, args.format) for table in tables))
    return 0


def _show_prompts(args: Namespace, source: ItemSource) -> int:
    """Print what a model would read for a few items."""
    from gnomon.cli.dispatch import tell
    from gnomon.items.examples import in_words as about_examples
    from gnomon.items.examples import with_examples

    if args.format not in ("table", "json"):
        raise UsageError(
            f"Prompts cannot be shown as {args.format}.", "Leave out --format, or give json."
        )
    asked_so = with_prompt(chosen_models(args, [args.model])[0], source.benchmark.prompt)
    chosen = with_examples(source, asked_so, args.shots_from)
    shown = _with_pictures(source, args.n)
    opened = chosen.open()
    try:
        preview = getattr(opened, "preview", None)
        if preview is None:
            raise UsageError(
                f"{chosen.spec} reads no prompt.",
                "Choose a model that does, such as smollm2, hf:NAME or openai:NAME.",
            )
        found = [(item, preview(item)) for item in shown]
    finally:
        close = getattr(opened, "close", None)
        if close:
            close()

    if args.format == "json":
        rows = [{"item": item, "preview": seen} for item, seen in found]
        line = {"benchmark": source.name, "model": chosen.spec, "prompts": rows}
        print_json(line)
        return 0
    print("\n\n".join(prompt_in_words(item, seen) for item, seen in found))
    said = about_examples(chosen)
    if said:
        tell(said)
    return 0


def _with_pictures(source: ItemSource, count: int) -> list[Item]:
    """Items spread over the whole, of a file the first; pictures are made for these alone."""
    from gnomon.items.limits import spread

    items = list(source.without_pictures())
    if "file" in source.options:
        return items[:count]
    shown = [items[place] for place in spread(len(items), count)]
    illustrate = source.benchmark.illustrators.get(source.source)
    if illustrate is None:
        return shown
    return list(illustrate(shown, **source.options))


def _print_json(
    source: ItemSource, items: Sequence[Item], shown: Sequence[Item], tables: Sequence[Listing]
) -> None:

    found = {
        "benchmark": source.name,
        "items": len(items),
        "sample": shown,
        "tables": [table._asdict() for table in tables],
    }
    print_json(found)


def introduction(source: ItemSource, items: Sequence[Item]) -> str:
    """What it asks, how many items there are, and how many of them another seed makes again."""
    said = f"{source.name}: {source.benchmark.summary}. {len(items):,} items"
    groups = {item.group for item in items if item.group}
    if groups:
        said += f" in {len(groups):,} {source.benchmark.noun}"
    said += "."
    if source.source != "fresh" or "seed" not in source.options or not items:
        return said
    other = {**source.options, "seed": source.options["seed"] + 1}
    again = {_question(item) for item in replace(source, options=other).without_pictures()}
    shared = sum(_question(item) in again for item in items)
    return f"{said} Seed {other['seed']} shares {100 * shared / len(items):.1f} % of the questions."


def _question(item: Item) -> tuple[str, ...]:
    return (item.context, item.text, *(image.path for image in item.images))


def statistics(source: ItemSource, items: Sequence[Item]) -> list[Listing]:
    """The benchmark's own tables, made with those options of the source that it names."""
    make = source.benchmark.statistics
    if make is None:
        return []
    options = {name: value for name, value in source.options.items() if takes(make, name)}
    return make(items, **options)


def counts(items: Sequence[Item], slices: Iterable[str]) -> list[Listing]:
    """Right labels by form, and a table for each slice."""
    return [_right_labels(items), *(_slice(items, tag) for tag in slices)]


def _right_labels(items: Sequence[Item]) -> Listing:
    """Where labels combine freely, each is counted by itself."""
    title = "Right answers"
    written = [(item.form, "written") for item in items if item.form in WRITTEN]
    items = [item for item in items if item.form not in WRITTEN]
    forms = Counter((item.form, ", ".join(item.gold)) for item in items)
    if len(forms) > MANY:
        title = "Right answers, each label by itself (an item may have several)"
        forms = Counter((item.form, label) for item in items for label in item.gold)
    total = len(items) + len(written)
    forms.update(written)
    rows = []
    for (form, label), n in sorted(forms.items()):
        rows.append((form, label, n, n / total))
    return Listing(title, ("form", "label", "items", "share"), tuple(rows))


def _slice(items: Sequence[Item], tag: str) -> Listing:
    """How many items have each value of a tag, the most frequent first."""
    seen = Counter(item.tags[tag] for item in items if tag in item.tags)
    rows = []
    for key, n in sorted(seen.items(), key=lambda pair: (-pair[1], pair[0])):
        rows.append((key, n, n / len(items)))
    return Listing(f"By {tag}", (tag, "items", "share"), tuple(rows))


def in_words(item: Item) -> str:
    """An item as a person would read it."""
    head = f"[{item.id}]  {item.form}"
    if item.group:
        head += f", group {item.group}"
    lines = [head]
    for text in (item.context, item.text):
        lines += [f"  {line}" for line in text.splitlines()]
    choices = []
    for choice in item.choices:
        mark = "✓" if choice in item.gold and item.form not in WRITTEN else " "
        choices.append(f"{mark} {choice}")
    if choices:
        lines.append("  " + "   ".join(choices))
    if item.form in WRITTEN:
        lines.append(f"  right: {gold_in_words(item) or 'not known'}")
    return "\n".join(lines)


def for_people(table: Listing) -> Listing:
    """Percentages as a person reads them.

    A column "share" holds fractions; one whose name ends in " %" holds percentages already.

    >>> for_people(Listing("", ("label %", "share"), ((30.0, 0.3),))).rows
    (('30.0', '30.0 %'),)
    """
    rows = []
    for row in table.rows:
        rows.append(tuple(map(_for_people, table.columns, row)))
    return table._replace(rows=tuple(rows))


def _for_people(column: str, value: Any) -> Any:
    if column == "share":
        return f"{100 * value:.1f} %"
    if column.endswith(" %") and isinstance(value, float):
        return f"{value:.1f}"
    return value


# What a model reads for an item, for the terminal: special tokens and scored tokens marked.


MARGIN = "  │ "


def prompt_in_words(item: Item, shown: Preview) -> str:
    """An item as a model reads it."""
    lines = [f"[{item.id}]  {item.form}, {_size(shown)}"]
    if shown.trouble:
        lines.append(f"  It cannot be asked: {shown.trouble}.")
    if shown.images and not shown.messages:
        lines.append(f"  with {_pictures(shown.images)}")
    for message in shown.messages:
        lines.append(f"  {message['role']}:")
        lines.append(indent(message["content"], MARGIN, lambda _: True))
    if shown.messages and shown.images:
        lines.append(f"  with {_pictures(shown.images)} before the last message")
    if shown.text:
        marked = mark_special(shown.text, shown.special)
        if marked.endswith("\n"):  # nobody would see it
            marked = marked.removesuffix("\n") + "⏎"
        lines.append(indent(marked, MARGIN, lambda _: True))
    if shown.how:
        lines.append(f"  Asked for: {shown.how}")
    lines += _scored(item, shown)
    for name, value in shown.limits.items():
        lines.append(f"    {name}: {_value(value)}")
    return inert("\n".join(lines))


def mark_special(text: str, special: tuple[str, ...]) -> str:
    """A text with its special tokens in brackets that no text has.

    >>> mark_special("<s>An ant is", ("<s>",))
    '⟦<s>⟧An ant is'
    """
    if not special:
        return text
    longest_first = sorted(filter(None, special), key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    return re.sub(either, lambda match: f"⟦{match[0]}⟧", text)


def visible(token: str) -> str:
    """A token with its spaces and line ends to be seen.

    >>> visible(" larger")
    '␣larger'
    """
    return token.replace(" ", "␣").replace("\n", "⏎")


def _scored(item: Item, shown: Preview) -> list[str]:
    width = max((len(each.choice) for each in shown.scored), default=0)
    lines = []
    for each in shown.scored:
        right = "✓" if each.choice in item.gold else " "
        text = "·".join(map(visible, each.tokens)) or visible(each.text)
        count = f"  ({_tokens(len(each.tokens))})" if each.tokens else ""
        lines.append(f"  {right} {each.choice:<{width}}  {text}{count}")
    return lines


def _size(shown: Preview) -> str:
    if shown.tokens is None:
        return "tokens not counted: the tokenizer is elsewhere" if not shown.trouble else "not read"
    return _tokens(shown.tokens)


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"


def _pictures(count: int) -> str:
    return "a picture" if count == 1 else f"{count} pictures"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
