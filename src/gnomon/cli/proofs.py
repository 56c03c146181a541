"""What `gnomon check --prove` prints: which labels are proved, refuted, or hang on a reading."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from gnomon.errors import inert

if TYPE_CHECKING:
    from gnomon.language.patterns import Bank
    from gnomon.proofs.patternproofs import PatternProof


def print_proofs(bank: Bank, format: str) -> int:
    """Prove every label of a bank; 1 if one is refuted."""
    from gnomon.proofs.patternproofs import prove_patterns

    in_full = format == "json"
    proofs = prove_patterns(bank.patterns, needed=in_full, witnesses=in_full)
    if format == "json":
        import msgspec

        print(msgspec.json.encode([_record(proof) for proof in proofs]).decode())
    else:
        _print_findings(proofs)
        _print_tables(proofs, format)
    return 1 if any(proof.refuted for proof in proofs) else 0


def _record(proof: PatternProof) -> dict[str, Any]:
    from gnomon.proofs.witnesses import centres

    ordinary = proof.ordinary
    found: dict[str, Any] = {
        "pattern": proof.pattern.id,
        "label": proof.pattern.label,
        "proved": ordinary.verdict if ordinary else "",
        "proof": proof.tag,
        "reading": proof.holds_under,
        "needed": [number + 1 for number in ordinary.needed] if ordinary else [],
        "witness": None,
        "reason": proof.reason,
    }
    if ordinary and ordinary.could:
        found["witness"] = {
            "could": centres(ordinary.could),
            "need_not": centres(ordinary.need_not),
        }
    return found


def _print_findings(proofs: list[PatternProof]) -> None:
    for proof in proofs:
        pattern = proof.pattern
        where = f"{pattern.file}:{pattern.line}"
        if proof.reason:
            print(inert(f"{where}: not expressible: '{pattern.id}': {proof.reason}"))
        if proof.refuted and proof.ordinary:
            found = f"the label is {pattern.label}, but what follows is {proof.ordinary.verdict}"
            print(inert(f"{where}: refuted: '{pattern.id}': {found}."))


def _print_tables(proofs: list[PatternProof], format: str) -> None:
    from gnomon.contracts import Listing
    from gnomon.tabular import render

    rows = []
    for proof in proofs:
        if proof.tag == "some readings":
            other = [name for name in proof.proofs if name not in proof.holds_under]
            rows.append((proof.pattern.id, proof.pattern.label, ", ".join(other)))
    dependent = Listing(
        "Labels that hang on a reading", ("pattern", "label", "not under"), tuple(rows)
    )
    if rows:
        print(f"\n{render(dependent, format)}")
    counts = Counter(proof.tag for proof in proofs)
    tags = ", ".join(f"{count} {tag}" for tag, count in counts.most_common())
    refuted = sum(proof.refuted for proof in proofs)
    print(f"\n{len(proofs)} labels: {tags}; {refuted} refuted under the ordinary reading.")
