"""What the tutorial says that commands print is what they print: all but two that take long are given again."""

import importlib.util
import re
from pathlib import Path

import pytest

from gnomon.errors import GnomonError

ROOT = Path(__file__).parent.parent
SUITE = "gnomon run quick -m smollm2 -m random"
INSTEAD = (
    "gnomon run posrel viphy-color -m smollm2 -m random --limit 40"  # what step 11 needs of it
)
LONGER = (
    "gnomon run scales -m smollm2 -m random --limit 400"  # step 2 is the same, with fewer items
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
CLOSE = 3.0  # points: the last bits of likelihoods depend on the processor


@pytest.fixture(scope="module")
def tutorial():
    spec = importlib.util.spec_from_file_location("tutorial", ROOT / "scripts/tutorial.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(line: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(line)]


def words(text: str) -> list[str]:
    """The lines without figures, bars, verdicts and what pads them."""
    verdicts = re.compile(r"(may be|at) chance|[█▉▊▋▌▍▎▏]+|\\textit|\\textbf")
    return [" ".join(verdicts.sub("", NUMBER.sub("#", line)).split()) for line in text.splitlines()]


@pytest.mark.weights
def test_the_outputs_of_the_tutorial_are_those_of_its_commands(tutorial, tmp_path):
    from gnomon.models.llamacpp.smollm2 import weights

    try:
        weights()
    except GnomonError as error:
        pytest.skip(f"the weights cannot be fetched: {error.message}")
    place = tutorial.prepared(tutorial.PAGE.read_text(encoding="utf-8"), tmp_path)
    checked = 0
    for command, output in tutorial.stated():
        if command == LONGER:
            continue
        if command == SUITE:
            tutorial.output_of(INSTEAD, place)
            continue
        printed = tutorial.output_of(command, place)
        assert words(printed) == words(output), command
        for now, then in zip(printed.splitlines(), output.splitlines(), strict=True):
            assert numbers(now) == pytest.approx(numbers(then), abs=CLOSE), (command, now)
        checked += 1
    assert checked >= 7


def test_every_output_of_the_tutorial_but_one_names_its_command(tutorial):
    """The plan of a dry run depends on the machine, and mine.csv is a file."""
    page = tutorial.PAGE.read_text(encoding="utf-8")
    outputs = re.findall(r"```(?:text|latex)\n", page)
    assert len(outputs) == len(list(tutorial.stated())) + 2
