"""How `gnomon list` prints: lines that a terminal wraps well, and JSON."""

from __future__ import annotations

RUNS = "runs"  # the folder of runs


def hanging(start: str, text: str) -> str:
    """A line wrapped for the terminal, with later lines indented; in a pipe it stays one line."""
    from textwrap import fill

    from gnomon.tabular import terminal_width

    room = max(terminal_width(), len(start) + 30)
    indent = " " * len(start)
    return fill(text, room, initial_indent=start, subsequent_indent=indent, break_long_words=False)


def print_json(value: object, indent: int = 0) -> None:
    """Print a value for programs."""
    import msgspec

    encoded = msgspec.json.encode(value)
    if indent:
        encoded = msgspec.json.format(encoded, indent=indent)
    print(encoded.decode())
