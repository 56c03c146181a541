"""Is a bank of patterns sound? Everything that `gnomon check` says about a file, as plain data.

An error is a pattern that cannot be used or whose label cannot be trusted; a warning is worth a
look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from gnomon.contracts import Listing
from gnomon.files import package_data, read_yaml
from gnomon.language.examples import derive
from gnomon.language.grammar import Grammar
from gnomon.language.patterns import LABELS, Bank, Pattern, Problem
from gnomon.language.population import Population
from gnomon.language.sampling import samples
from gnomon.language.sharing import shared_problems
from gnomon.language.tables import Described, tables

ENOUGH = 200  # problems that a pattern should have, as in the paper
COMPARED = 200  # problems of each pattern that are compared with those of the others
READ = 40  # problems of each pattern whose English is looked at


class Finding(NamedTuple):
    """Something to mend (an error) or to look at (a warning)."""

    level: str  # "error" or "warning"
    pattern: Pattern
    message: str


@dataclass(frozen=True)
class Report:
    """What is known of a bank."""

    findings: tuple[Finding, ...]
    populations: dict[str, int]
    listings: tuple[Listing, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.level == "error" for finding in self.findings)


def check(bank: Bank, *, seed: int = 0) -> Report:
    """Look at every pattern of a bank, and at what they share."""
    findings: list[Finding] = []
    populations: dict[str, int] = {}
    grammar = Grammar(bank.world)
    texts: dict[str, list[Pattern]] = {}
    for pattern in bank.patterns:
        population = Population(pattern)
        populations[pattern.id] = len(population)
        findings += _population_findings(pattern, population)
        findings += _example_findings(pattern)
        problems = [
            sample.problem
            for sample in samples(pattern, COMPARED, seed=seed, population=population)
        ]
        findings += _surface_findings(pattern, problems, grammar)
        for problem in problems:
            texts.setdefault(problem.text, []).append(pattern)
        if not pattern.siblings and not pattern.file.endswith(".xml"):
            findings.append(Finding("warning", pattern, "it has no sibling with another label"))
    shared = _merged(shared_problems(bank.patterns), texts)
    for first, second, count in shared:
        if first.label != second.label:
            findings.append(
                Finding(
                    "error",
                    second,
                    f"{count:,} of its problems are also problems of '{first.id}', "
                    f"but labelled {second.label} here and {first.label} there",
                )
            )
    described = [
        Described(p.kind, p.label, p.expressions, len(p.premises), p.negated, 1)
        for p in bank.patterns
    ]
    listings = (
        _pattern_listing(bank, populations),
        *tables(described, "patterns"),
        _shared_listing(shared),
        _coverage(described),
    )
    return Report(tuple(findings), populations, listings)


def _population_findings(pattern: Pattern, population: Population) -> Iterator[Finding]:
    if not len(population):
        yield Finding("error", pattern, "its restrictions cannot be satisfied: it has no problems")
    elif len(population) < ENOUGH:
        yield Finding(
            "warning",
            pattern,
            f"it has only {len(population)} problems (the paper drew {ENOUGH} from each)",
        )


def _example_findings(pattern: Pattern) -> Iterator[Finding]:
    for example in pattern.examples:
        if derive(pattern, example) is None:
            shown = (
                ". ".join(example)
                if isinstance(example, tuple)
                else ", ".join(f"{k}: {v}" for k, v in example.items())
            )
            yield Finding("error", pattern, f"the example cannot be derived: {shown}")


def _surface_findings(
    pattern: Pattern, problems: Sequence[Problem], grammar: Grammar
) -> Iterator[Finding]:
    same = next((problem for problem in problems if problem.hypothesis in problem.premises), None)
    if same:
        yield Finding(
            "error", pattern, f"the hypothesis can be one of the premises: {same.hypothesis}"
        )
    said: set[tuple[int, str]] = set()  # one complaint of a kind for each sentence is enough
    for problem in problems[:READ]:
        for place, sentence in enumerate((*problem.premises, problem.hypothesis)):
            for complaint in grammar.complaints(sentence):
                kind = (place, re.sub(r"'[^']*'", "", complaint))
                if kind not in said:
                    said.add(kind)
                    yield Finding("warning", pattern, f"{complaint}: {sentence}")
    text = " ".join(
        [sentence.text for sentence in pattern.sentences]
        + [word for s in pattern.slots for word in s.words]
    ).lower()
    for expression in pattern.expressions:
        if not re.search(rf"\b{re.escape(expression.lower())}\b", text):
            yield Finding("warning", pattern, f"no sentence holds its expression '{expression}'")


def _merged(
    exact: Iterable[tuple[Pattern, Pattern, int]],
    texts: Mapping[str, Sequence[Pattern]],
) -> list[tuple[Pattern, Pattern, int]]:
    """The exact counts, and what was seen in the samples of patterns whose sentences differ but can
    coincide."""
    found = {(first.id, second.id): (first, second, count) for first, second, count in exact}
    seen: Counter[tuple[str, str]] = Counter()
    by_id = {
        pattern.id: pattern
        for patterns in texts.values()
        if len(patterns) > 1
        for pattern in patterns
    }
    for patterns in texts.values():
        for first, second in combinations(patterns, 2):
            if first is not second:
                seen[first.id, second.id] += 1
    for pair, count in seen.items():
        if pair not in found:
            found[pair] = (by_id[pair[0]], by_id[pair[1]], count)
    return list(found.values())


def _pattern_listing(bank: Bank, populations: dict[str, int]) -> Listing:
    rows = tuple(
        (
            p.id,
            p.kind,
            p.label,
            len(p.premises),
            populations[p.id],
            f"{sum(derive(p, example) is not None for example in p.examples)}/{len(p.examples)}",
        )
        for p in bank.patterns
    )
    return Listing("Patterns", ("id", "class", "label", "premises", "problems", "examples"), rows)


def _shared_listing(shared: Sequence[tuple[Pattern, Pattern, int]]) -> Listing:
    return Listing(
        "Problems made by two patterns",
        ("pattern", "also", "labels", "problems"),
        tuple((a.id, b.id, "same" if a.label == b.label else "DIFFERENT", n) for a, b, n in shared),
    )


def _coverage(patterns: Sequence[Described]) -> Listing:
    expected: list[str] = read_yaml(package_data("spacenli/expressions.yaml"))
    used = {expression for pattern in patterns for expression in pattern.expressions}
    missing = [expression for expression in expected if expression not in used]
    labels = Counter(pattern.label for pattern in patterns)
    return Listing(
        "Coverage",
        ("what", "value"),
        (
            ("patterns", len(patterns)),
            *((label, labels[label]) for label in LABELS),
            ("spatial expressions", len(used)),
            ("of the paper's 31", len(expected) - len(missing)),
            ("missing of those", ", ".join(missing) or "none"),
        ),
    )
