"""A child process does what it is asked, and its death is one sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon.errors import DataError, ModelError
from gnomon.jobs import (
    LENGTH,
    Child,
    ChildDiedError,
    ChildFaultError,
    Notice,
    do_jobs,
    how_it_ended,
)


class Clerk:
    """What the child holds in these tests."""

    def __init__(self, name="clerk"):
        if name == "nobody":
            raise DataError("there is no such clerk.", "Name another.")
        self.name = name
        self.calls = 0

    def count(self, *values):
        self.calls += 1
        return [self.name, self.calls, *values]

    def say(self):
        print("on the standard output")
        return "said"

    def refuse(self):
        raise ModelError("no such model.", "Choose another.")

    def fail(self):
        raise KeyError("a bug")

    def die(self, number):
        os.kill(os.getpid(), number)

    def leave(self, code):
        os._exit(code)

    def nap(self, file):
        Path(file).write_text(str(os.getpid()))
        time.sleep(600)

    def write(self, content):
        os.write(1, content)
        os._exit(0)


@pytest.fixture
def child():
    made = Child(Clerk)
    yield made
    made.end()


def test_an_object_in_a_child_remembers_from_call_to_call(child):
    assert child.call("count", 7) == ["clerk", 1, 7]
    assert child.call("count", b"bytes") == ["clerk", 2, b"bytes"]


def test_what_it_prints_does_not_disturb_what_it_says(child):
    assert child.call("say") == "said"


def test_an_error_for_people_comes_back_as_it_was(child):
    with pytest.raises(ModelError, match="no such model") as caught:
        child.call("refuse")
    assert caught.value.hint == "Choose another."
    assert child.call("count") == ["clerk", 1], "it lives on"


def test_an_object_that_cannot_be_made_says_why_at_the_first_call():
    nobody = Child(Clerk, "nobody")
    with pytest.raises(DataError, match="no such clerk"):
        nobody.call("count")
    nobody.end()


def test_a_fault_in_the_code_is_told_with_its_place(child):
    with pytest.raises(ChildFaultError, match="KeyError: 'a bug'") as caught:
        child.call("fail")
    assert "in fail" in caught.value.__notes__[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_a_death_is_told_by_the_name_of_its_signal(child, number):
    with pytest.raises(ChildDiedError, match=number.name):
        child.call("die", number)


def test_a_death_is_told_by_its_exit_code(child):
    with pytest.raises(ChildDiedError, match="exit code 3") as caught:
        child.call("leave", 3)
    assert caught.value.code == 3
    with pytest.raises(ChildDiedError):
        child.call("count")


def test_a_signal_without_a_name_has_a_number():
    assert how_it_ended(-9999) == "signal 9999"


def test_what_a_child_sends_is_never_unpickled(child):
    """Compiled code that crashes may leave anything in the pipe."""
    import pickle

    class Trap:
        def __reduce__(self):
            return (os.mkdir, ("trapped",))

    content = pickle.dumps(Trap())
    with pytest.raises(ChildDiedError):
        child.call("write", LENGTH.pack(len(content)) + content)
    assert not Path("trapped").exists()


@pytest.mark.parametrize("content", [b"\xff" * 40, b"", b"abc"])
def test_nonsense_is_a_death(child, content):
    with pytest.raises(ChildDiedError):
        child.call("write", content)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_a_child_ends_with_its_parent_at_whatever_it_is(tmp_path):
    file = tmp_path / "pid"
    script = (
        "from tests.test_jobs import Child, Clerk\n"
        f"Child(Clerk, stop_with_parent=True).call('nap', {str(file)!r})\n"
    )
    root = str(Path(__file__).parents[1])
    parent = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": root})
    while not file.exists() or not file.read_text():
        assert parent.poll() is None
        time.sleep(0.02)
    number = int(file.read_text())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and Path(f"/proc/{number}").exists():
        time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def double(task):
    return 2 * task


def test_results_come_in_the_order_of_their_tasks():
    told = []
    found = do_jobs(double, range(10), processes=2, watch=lambda *done: told.append(done))
    assert list(found) == [2 * n for n in range(10)]
    assert told[-1] == (10, 10)


def test_a_job_whose_process_dies_is_said_in_one_sentence():
    with pytest.raises(DataError, match=r"ended before its time: the process ended \(exit code"):
        list(do_jobs(os._exit, [3, 4, 5, 6], processes=2))


def test_what_takes_a_moment_is_told_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 2.5, 30.0, 70.0, 71.0])
    notice = Notice("Drawing", clock=lambda: next(times))
    for done in (1, 2, 3, 4, 5):
        notice(done, 5)
    # nothing at first, then a line, and another one a minute later
    assert capsys.readouterr().err == "Drawing: 2/5\nDrawing: 4/5\n"


def test_what_is_over_in_a_moment_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 0.5, 1.0])
    notice = Notice("Drawing", clock=lambda: next(times))
    notice(1, 2)
    notice(2, 2)
    assert capsys.readouterr().err == ""
