"""The live line of a run: a model's name cannot steer the terminal that shows it."""

import io

from gnomon.cli.progress import PlainLines, in_words, live_line, tell_of_stopping
from gnomon.runs.pace import WorkerPace
from gnomon.runs.progress import RunProgress


class Terminal(io.StringIO):
    """Standard error with a person in front of it."""

    def isatty(self):
        return True


def test_a_hostile_name_is_shown_as_escapes(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    import sys

    with live_line("scales \u00b7 m\x1b]0;PWNED\x07[red]", quiet=False) as watch:
        watch(RunProgress(total=10, done=10, right=5, asked=10, started=0.0))
    shown = sys.stderr.getvalue()
    assert "]0;PWNED" in shown
    assert "[red]" in shown
    assert "\x1b]0;" not in shown
    assert "\x07" not in shown


def test_a_run_that_is_soon_over_writes_nothing_to_a_pipe(capsys):
    with live_line("scales", quiet=False) as watch:
        watch(RunProgress(total=10, done=10, right=5, asked=10, started=0.0))
    assert capsys.readouterr().err == ""


def test_a_long_run_writes_a_line_to_a_pipe_after_its_first_batch_and_then_each_minute(capsys):
    seconds = iter([1.0, 10.0, 30.0, 69.0, 71.0, 100.0, 200.0])
    lines = PlainLines("scales \u00b7 m\x1b[31m", clock=lambda: next(seconds))
    for done in (0, 10, 30, 69, 71, 100, 200):
        lines(RunProgress(total=1000, done=done, asked=done, started=0.0))
    shown = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1].split(" ")[0] for line in shown] == [
        "10/1,000",
        "71/1,000",
        "200/1,000",
    ]
    assert "16 min 30 s left" in shown[0]
    assert "\x1b" not in shown[0]


def test_the_first_interrupt_is_answered_at_once(capsys):
    tell_of_stopping()
    assert "finishing the batch; Ctrl-C again stops at once" in capsys.readouterr().err


def test_the_line_tells_of_all_workers():
    workers = [WorkerPace("a", 30, 10.0), WorkerPace("b", 20, 10.0)]
    so_far = RunProgress(total=100, done=50, asked=50, workers=workers, wanted=4, lost=2, errors=1)
    assert in_words(so_far, now=10.0) == (
        "50/100 · 5.0 items/s · 2 of 4 workers, 2.0 to 3.0 each, 2 lost · 10 s left · 1 failed"
    )
    starting = RunProgress(total=100, wanted=4)
    assert in_words(starting, now=10.0) == "0/100 · 0 of 4 workers"
