"""What is wrong with a file of questions, row by row: all of it, not only the first thing."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gnomon.errors import DataError
from gnomon.records import Fingerprint, Item, digest, problem

MOST = 100_000  # findings that are kept: a file in which every row is wrong says it once


class RowFinding(NamedTuple):
    """What is wrong with one row."""

    line: int
    level: str  # "error" if it cannot be asked, "warning" otherwise
    message: str


class Checker:
    """Takes items one by one, and remembers what is wrong, with their pictures too if asked."""

    def __init__(self, *, pictures: bool = True) -> None:
        self._looks_at_pictures = pictures
        self.findings: list[RowFinding] = []
        self.items = self.canaries = 0
        self._told: set[int] = set()
        self._ids: dict[str, int] = {}
        self._questions: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._digest = Fingerprint()
        self._chances = 0.0
        self._bare: list[int] = []  # lines of items without a picture

    def tell(self, line: int, message: str) -> None:
        """Note that a row cannot be asked; the first reason is enough."""
        if line not in self._told and len(self.findings) < MOST:
            self._told.add(line)
            self.findings.append(RowFinding(line, "error", message))

    def add(self, line: int, item: Item, *, canary: bool) -> None:
        """Check one more item."""
        self.items += 1
        self.canaries += canary
        self._digest.add(item)
        wrong = problem(item)
        if wrong:
            self.tell(line, wrong)
        elif not item.text.strip():
            self.tell(line, "the text is empty")
        if item.choices and item.gold:
            self._chances += len(item.gold) / len(item.choices)
        for image in item.images:
            self._check_picture(line, image.path)
        if not item.images:
            self._bare.append(line)
        self._check_repeats(line, item)

    def tell_of_missing_pictures(self) -> None:
        """After the last item of a file with a column of pictures: whose cell is empty."""
        pictured = self.items - len(self._bare)
        told = f"it has no picture, as {pictured:,} of the {self.items:,} items have"
        for line in self._bare[: MOST - len(self.findings)]:
            self.findings.append(RowFinding(line, "warning", told))

    def _check_picture(self, line: int, path: str) -> None:
        from gnomon.vision.images import describe

        if "://" in path or not self._looks_at_pictures:
            return
        try:
            describe(path)
        except DataError as error:
            self.tell(line, f"a picture cannot be shown: {error.message.rstrip('.')}")

    def _check_repeats(self, line: int, item: Item) -> None:
        earlier = self._ids.setdefault(item.id, line)
        if earlier != line:
            self.tell(line, f"the id '{item.id[:80]}' stands in line {earlier} already")
        shown = [image.identity for image in item.images]
        name = digest(item.form, item.context, item.text, *sorted(item.choices), *shown, digits=32)
        before, gold = self._questions.setdefault(name, (line, item.gold))
        if before == line or len(self.findings) >= MOST:
            return
        if set(gold) != set(item.gold):
            self.tell(line, f"the same question has another right answer in line {before}")
        else:
            told = f"the same question stands in line {before} already"
            self.findings.append(RowFinding(line, "warning", told))

    @property
    def digest(self) -> str:
        """The digest of the items, as in a run's manifest."""
        return self._digest.hexdigest()

    @property
    def chance(self) -> float:
        """What a guess is expected to get."""
        return self._chances / max(1, self.items)


def in_order(findings: Iterable[RowFinding]) -> Iterator[RowFinding]:
    """The findings by line, each once."""
    yield from sorted(dict.fromkeys(findings))
