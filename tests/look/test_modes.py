"""The modes: each fault is one switch, with a sentence."""

import pytest

from gnomon.errors import UsageError
from gnomon.look.records import mode_named, switches


def test_right_has_no_faults_and_code_has_most():
    assert [mode_named(name).name for name in ("right", "paper", "code")]
    assert not mode_named("right").switches
    assert mode_named("code").switches >= {"swapped_axes", "whole_picture_mean", "top_point"}


def test_every_switch_is_used_and_says_what_it_does_in_a_sentence():
    used = mode_named("paper").switches | mode_named("code").switches
    assert used == set(switches())
    for switch in switches().values():
        assert switch.says.endswith(".")
        assert len(switch.says) > 40


def test_what_only_the_code_does_is_not_in_the_papers_mode():
    of_code = {name for name, switch in switches().items() if switch.of == "code"}
    assert of_code
    assert not of_code & mode_named("paper").switches


def test_one_fault_can_be_switched_on_alone():
    mode = mode_named("right+swapped_axes+top_point")
    assert mode.switches == {"swapped_axes", "top_point"}
    assert list(mode.describe()) == ["swapped_axes", "top_point"]


def test_what_does_not_exist_is_refused_by_name():
    with pytest.raises(UsageError, match="wrong"):
        mode_named("wrong")
    with pytest.raises(UsageError, match="swaped_axes"):
        mode_named("right+swaped_axes")
    with pytest.raises(KeyError):
        mode_named("right").has("no_such_switch")
