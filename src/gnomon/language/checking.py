"""Is a bank of patterns sound? All that `gnomon audit` says of a file, and the paper's tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from gnomon.contracts import Listing
from gnomon.files import package_data, read_yaml
from gnomon.language.patterns import CLASSES, LABELS, Bank, Example, Pattern, Problem, derive
from gnomon.language.population import Population, shared_problems
from gnomon.language.sampling import samples
from gnomon.language.surface import Grammar
from gnomon.language.world import Members, World

Shared = tuple[Pattern, Pattern, int]  # two patterns, and how many problems both make
ENOUGH = 200  # problems that a pattern should have, as in the paper
COMPARED = 200  # problems of each pattern that are compared with those of the others
READ = 40  # problems of each pattern whose English is looked at


class _Finding(NamedTuple):
    """Something to fix (an error) or to look at (a warning)."""

    level: str  # "error" or "warning"
    pattern: Pattern
    message: str


@dataclass(frozen=True)
class Report:
    """What is known of a bank."""

    findings: tuple[_Finding, ...]
    populations: dict[str, int]
    listings: tuple[Listing, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.level == "error" for finding in self.findings)


def check(bank: Bank, *, seed: int = 0) -> Report:
    """Look at every pattern of a bank, and at what they share."""
    findings: list[_Finding] = []
    populations: dict[str, int] = {}
    grammar = Grammar(bank.world)
    texts: dict[str, list[Pattern]] = {}
    for pattern in bank.patterns:
        population = Population(pattern)
        populations[pattern.id] = len(population)
        findings += _population_findings(pattern, population)
        findings += _example_findings(pattern)
        drawn = samples(pattern, COMPARED, seed=seed, population=population)
        problems = [sample.problem for sample in drawn]
        findings += _surface_findings(pattern, problems, grammar)
        for problem in problems:
            texts.setdefault(problem.text, []).append(pattern)
        if not pattern.siblings and not pattern.file.endswith(".xml"):
            findings.append(_Finding("warning", pattern, "it has no sibling with another label"))
    shared = _merged(shared_problems(bank.patterns), texts)
    findings += _contradictions(shared)
    described = [_described(pattern) for pattern in bank.patterns]
    listings = (
        _pattern_listing(bank, populations),
        *tables(described, "patterns"),
        _shared_listing(shared),
        _coverage(described),
    )
    return Report(tuple(findings), populations, listings)


def _described(pattern: Pattern) -> Described:
    return Described(
        pattern.kind,
        pattern.label,
        pattern.expressions,
        len(pattern.premises),
        pattern.negated,
    )


def _contradictions(shared: Sequence[Shared]) -> Iterator[_Finding]:
    for first, second, count in shared:
        if first.label != second.label:
            yield _Finding(
                "error",
                second,
                f"{count:,} of its problems are also problems of '{first.id}', "
                f"but labelled {second.label} here and {first.label} there",
            )


def _population_findings(pattern: Pattern, population: Population) -> Iterator[_Finding]:
    if not len(population):
        yield _Finding("error", pattern, "its restrictions cannot be satisfied: it has no problems")
    elif len(population) < ENOUGH:
        yield _Finding(
            "warning",
            pattern,
            f"it has only {len(population)} problems (the paper drew {ENOUGH} from each)",
        )


def _example_findings(pattern: Pattern) -> Iterator[_Finding]:
    for example in pattern.examples:
        if derive(pattern, example) is None:
            problem = f"the example cannot be derived: {_shown(example)}"
            yield _Finding("error", pattern, problem)


def _shown(example: Example) -> str:
    if isinstance(example, tuple):
        return ". ".join(example)
    return ", ".join(f"{slot}: {filler}" for slot, filler in example.items())


def _surface_findings(
    pattern: Pattern, problems: Sequence[Problem], grammar: Grammar
) -> Iterator[_Finding]:
    for problem in problems:
        if problem.hypothesis in problem.premises:
            same = f"the hypothesis can be one of the premises: {problem.hypothesis}"
            yield _Finding("error", pattern, same)
            break
    yield from _complaints(pattern, problems[:READ], grammar)
    words = [sentence.text for sentence in pattern.sentences]
    for slot in pattern.slots:
        words += slot.words
    text = " ".join(words).lower()
    for expression in pattern.expressions:
        if not re.search(rf"\b{re.escape(expression.lower())}\b", text):
            yield _Finding("warning", pattern, f"no sentence holds its expression '{expression}'")


def _complaints(
    pattern: Pattern, problems: Sequence[Problem], grammar: Grammar
) -> Iterator[_Finding]:
    """What is wrong with the English: one complaint of a kind for each sentence is enough."""
    said: set[tuple[int, str]] = set()
    for problem in problems:
        for place, sentence in enumerate((*problem.premises, problem.hypothesis)):
            for complaint in grammar.complaints(sentence):
                kind = (place, re.sub(r"'[^']*'", "", complaint))
                if kind not in said:
                    said.add(kind)
                    yield _Finding("warning", pattern, f"{complaint}: {sentence}")


def _merged(exact: Iterable[Shared], texts: Mapping[str, Sequence[Pattern]]) -> list[Shared]:
    """The exact counts, and what was seen in samples of patterns whose sentences can coincide."""
    found = {}
    for first, second, count in exact:
        found[first.id, second.id] = (first, second, count)
    seen: Counter[tuple[Pattern, Pattern]] = Counter()
    for patterns in texts.values():
        for first, second in combinations(patterns, 2):
            if first is not second:
                seen[first, second] += 1
    for (first, second), count in seen.items():
        found.setdefault((first.id, second.id), (first, second, count))
    return list(found.values())


def _pattern_listing(bank: Bank, populations: dict[str, int]) -> Listing:
    rows = []
    for pattern in bank.patterns:
        derived = sum(derive(pattern, example) is not None for example in pattern.examples)
        rows.append(
            (
                pattern.id,
                pattern.kind,
                pattern.label,
                len(pattern.premises),
                populations[pattern.id],
                f"{derived}/{len(pattern.examples)}",
            )
        )
    columns = ("id", "class", "label", "premises", "problems", "examples")
    return Listing("Patterns", columns, tuple(rows))


def _shared_listing(shared: Sequence[Shared]) -> Listing:
    rows = []
    for first, second, count in shared:
        labels = "same" if first.label == second.label else "DIFFERENT"
        rows.append((first.id, second.id, labels, count))
    columns = ("pattern", "also", "labels", "problems")
    return Listing("Problems made by two patterns", columns, tuple(rows))


def _coverage(patterns: Sequence[Described]) -> Listing:
    expected: list[str] = read_yaml(package_data("patterns/expressions.yaml"))
    used: set[str] = set()
    for pattern in patterns:
        used.update(pattern.expressions)
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


# The tables that describe patterns: spatial expressions and labels (SpaceNLI, Tables 2 and 3).


SOME = 8  # members of a class that are named
NEGATED = "with negation"
PREMISES = {
    1: "1 premise",
    2: "2 premises",
    3: "3 premises",
    4: "4 premises",
    5: "5 premises",
}
SLICES = (*CLASSES, NEGATED, *PREMISES.values(), "all")


class Described(NamedTuple):
    """What the tables need to know of a pattern; `problems` is how many were made from it."""

    kind: str
    label: str
    expressions: tuple[str, ...]
    premises: int
    negated: bool
    problems: int = 1


def tables(patterns: Iterable[Described], counted: str = "problems") -> list[Listing]:
    """Tables 2 and 3 of the paper for any patterns.

    `counted` names what `Described.problems` counts.
    """
    patterns = list(patterns)
    return [expression_table(patterns), label_table(patterns, counted)]


def expression_table(patterns: Sequence[Described]) -> Listing:
    """Table 2: in how many patterns of each class an expression occurs, the most frequent first.

    What the paper prints as "#patterns" is the sum of a column; the last row has the true numbers
    of patterns.
    """
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in CLASSES}
    sizes = Counter(pattern.kind for pattern in patterns)
    total: Counter[str] = Counter()
    for pattern in patterns:
        counts[pattern.kind].update(pattern.expressions)
        total.update(pattern.expressions)

    rows: list[tuple[str | int, ...]] = []
    for expression in sorted(total, key=lambda expression: (-total[expression], expression)):
        cells = [counts[kind][expression] for kind in CLASSES]
        rows.append((expression, *cells, total[expression]))
    sums = [counts[kind].total() for kind in CLASSES]
    rows.append(("(sum)", *sums, total.total()))
    rows.append(("(patterns)", *[sizes[kind] for kind in CLASSES], len(patterns)))
    title = "Patterns with each spatial expression"
    return Listing(title, ("expression", *CLASSES, "all"), tuple(rows))


def label_table(patterns: Sequence[Described], counted: str = "problems") -> Listing:
    """Table 3: the labels of the problems in percent, by class, negation and number of premises."""
    slices: dict[str, list[Described]] = {name: [] for name in SLICES}
    for pattern in patterns:
        for name in _slices_of(pattern):
            slices[name].append(pattern)
    total = _problems(patterns)
    rows = []
    for name, chosen in slices.items():
        if not chosen:
            continue
        count = _problems(chosen)
        shares = []
        for label in LABELS:
            alike = [pattern for pattern in chosen if pattern.label == label]
            shares.append(_percent(_problems(alike), count))
        rows.append((name, *shares, _percent(count, total), count))
    columns = ("slice", *LABELS, "% of all", counted)
    return Listing("Labels in percent", columns, tuple(rows))


def vocabulary(world: World) -> list[Listing]:
    """What there is to write patterns with: classes, scales and relations."""

    def some(members: Members) -> str:
        names = [world.entities[number].name for number in sorted(members)]
        if len(names) > SOME:
            names = [*names[:SOME], "..."]
        return ", ".join(names).replace(", ...", " ...")

    classes = []
    for name, members in sorted(world.classes.items()):
        classes.append((name, len(members), some(members)))
    scales = []
    for name, levels in sorted(world.scales.items()):
        scales.append((name, " < ".join(levels)))
    relations = []
    for name, relation in sorted(world.relations.items()):
        for place in range(relation.arity):
            relations.append((name, place + 1, some(relation.projection(place))))
    return [
        Listing("Classes", ("class", "entities", "such as"), tuple(classes)),
        Listing("Scales", ("scale", "levels"), tuple(scales)),
        Listing("Relations", ("relation", "place", "such as"), tuple(relations)),
    ]


def _slices_of(pattern: Described) -> list[str]:
    """The rows of Table 3 that a pattern belongs to."""
    names = [pattern.kind, "all"]
    if pattern.negated:
        names.append(NEGATED)
    if pattern.premises in PREMISES:
        names.append(PREMISES[pattern.premises])
    return names


def _problems(patterns: Sequence[Described]) -> int:
    return sum(pattern.problems for pattern in patterns)


def _percent(part: int, whole: int) -> float:
    if not whole:
        return 0.0
    return round(100 * part / whole, 2)
