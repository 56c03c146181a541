"""What the docs promise is named by the packages, and importing them loads nothing heavy."""

import subprocess
import sys

import pytest

import gnomon.proofs
import gnomon.scenes


@pytest.mark.parametrize("door", [gnomon.scenes, gnomon.proofs])
def test_every_public_name_is_there(door):
    for name in door.__all__:
        assert getattr(door, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_it"):
        door.nothing_like_it  # noqa: B018


def test_a_door_loads_nothing_until_it_is_used():
    code = "import gnomon.scenes, gnomon.proofs, sys\nprint({'numpy', 'z3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
