"""Ask a solver (z3) whether statements can hold together; the only module that knows it.

Every statement is guarded by a switch, so that one solver answers all questions about a story: with
these premises, with or against that claim, and which premises are to blame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from gnomon.errors import GnomonError, importing
from gnomon.proofs.meaning.formulas import Formula, Names, Number, holds, smt

TIME_LIMIT = 20_000  # milliseconds for one question; the slowest of our own takes 200


class Witness(NamedTuple):
    """Numbers that make statements true: quantities and flags by name."""

    values: Mapping[str, Number]
    flags: Mapping[str, bool]

    def makes(self, formula: Formula) -> bool:
        """Whether a formula is true of these numbers; found without the solver."""
        return holds(formula, self.values, self.flags)


class Theory:
    """What is taken for granted, and numbered statements that are asked about."""

    def __init__(self, background: Sequence[Formula], statements: Sequence[Formula]) -> None:
        self._z3 = _solver_library()
        self._names = Names()
        lines = [f"(assert {smt(formula, self._names)})" for formula in background]
        switches = []
        for number, statement in enumerate(statements):
            written = smt(statement, self._names)
            lines.append(f"(assert (=> yes{number} {written}))")
            lines.append(f"(assert (=> no{number} (not {written})))")
            switches += [f"yes{number}", f"no{number}"]
        declared = [f"(declare-const {switch} Bool)" for switch in switches]
        self._context = self._z3.Context()  # its own, so that witnesses do not depend on others
        self._solver = self._z3.Solver(ctx=self._context)
        self._solver.set("timeout", TIME_LIMIT)
        text = "\n".join([self._names.declarations(), *declared, *lines])
        self._solver.from_string(text)

    def possible(self, true: Sequence[int], false: Sequence[int] = ()) -> bool:
        """Whether some statements can be true and others false together."""
        switches = [self._z3.Bool(f"yes{number}", self._context) for number in true]
        switches += [self._z3.Bool(f"no{number}", self._context) for number in false]
        answer = self._solver.check(*switches)
        if answer == self._z3.unknown:
            raise GnomonError(
                "The solver found no answer in time.", "Leave out premises that do not matter."
            )
        return bool(answer == self._z3.sat)

    def blamed(self, true: Sequence[int], false: Sequence[int] = ()) -> list[int]:
        """Of true statements that cannot hold together (against the false ones), a least set."""
        if self.possible(true, false):
            return []
        core = {str(switch) for switch in self._solver.unsat_core()}
        kept = [number for number in true if f"yes{number}" in core]
        for number in list(kept):
            fewer = [other for other in kept if other != number]
            if not self.possible(fewer, false):
                kept = fewer
        return kept

    def witness(self, true: Sequence[int], false: Sequence[int] = ()) -> Witness | None:
        """Numbers that make some statements true and others false, if there are any."""
        if not self.possible(true, false):
            return None
        model = self._solver.model()
        values: dict[str, Number] = {}
        for name in self._names.quantities:
            value = model.eval(self._z3.Real(name, self._context), model_completion=True)
            values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
        flags = {}
        for name in self._names.flags:
            flag = model.eval(self._z3.Bool(name, self._context), model_completion=True)
            flags[name] = bool(self._z3.is_true(flag))
        return Witness(values, flags)


def _solver_library() -> Any:
    with importing("Proving", "prove"):
        import z3
    return z3
