"""The live line of a run: a model's name cannot steer the terminal that shows it."""

import io

from gnomon.cli.progress import live_line
from gnomon.engine import Progress


class Terminal(io.StringIO):
    """Standard error with a person in front of it."""

    def isatty(self):
        return True


def test_a_hostile_name_is_shown_as_escapes(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    import sys

    with live_line("scales \u00b7 m\x1b]0;PWNED\x07[red]", quiet=False) as watch:
        watch(Progress(total=10, done=10, right=5, asked=10, started=0.0))
    shown = sys.stderr.getvalue()
    assert "]0;PWNED" in shown
    assert "[red]" in shown
    assert "\x1b]0;" not in shown
    assert "\x07" not in shown


def test_nothing_is_drawn_where_nobody_looks(capsys):
    with live_line("scales", quiet=False) as watch:
        watch(Progress(total=10, done=10, right=5, asked=10, started=0.0))
    assert capsys.readouterr().err == ""
