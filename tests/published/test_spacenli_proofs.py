"""The published patterns through the prover: most are understood, and one of their labels is wrong."""

import pytest

pytest.importorskip("z3")

from gnomon.benchmarks.spacenli import published_bank
from gnomon.proofs.solver import prove_patterns

WRONG = {"103c"}
# These rest on what fills the slots, or on an event that is still going on; geometry leaves them open.
OPEN = {"10", "17", "21", "23", "104d*", "104e*"}


@pytest.fixture(scope="module")
def proofs(shared):
    return prove_patterns(published_bank(shared / "data" / "spacenli").patterns, names=["ordinary"])


def test_most_published_patterns_are_understood(proofs):
    assert sum(not proof.reason for proof in proofs) == 148


def test_the_published_labels_that_do_not_follow_are_known(proofs):
    refuted = {proof.pattern.id: proof.ordinary.verdict for proof in proofs if proof.refuted}
    assert set(refuted) == WRONG | OPEN
    assert set(refuted.values()) == {"neutral"}
