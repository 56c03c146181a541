"""Prove the labels of our patterns under every reading and keep which of them hang on one.

python scripts/proofs.py src/gnomon/data/patterns/proofs.yaml
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from gnomon.files import package_data
from gnomon.language.patternfile import read_bank
from gnomon.proofs.solver import digest_of_sources, prove_patterns

HEAD = """\
# Which labels of the bank hang on a reading, and on which; every other label follows under all.
# Written by scripts/proofs.py; a test proves them again if the bank or the lexicon has changed.
"""


def main() -> None:
    """Prove and write."""
    bank = read_bank(package_data("patterns/bank"))
    refuted_under = {}
    reasons = {}
    for proof in prove_patterns(bank.patterns, needed=False):
        if proof.reason:
            reasons[proof.pattern.id] = proof.reason
        other = [name for name in proof.proofs if name not in proof.holds_under]
        if other:
            refuted_under[proof.pattern.id] = other
    content = {
        "digest": digest_of_sources(),
        "not_expressible": reasons,
        "refuted_under": refuted_under,
    }
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100)
    Path(sys.argv[1]).write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
