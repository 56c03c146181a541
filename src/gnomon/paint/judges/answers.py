"""Judges that are asked what a picture shows: a model that sees, or people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gnomon.contracts import TEXT
from gnomon.errors import DataError, UsageError
from gnomon.files import read_table
from gnomon.fingerprint import fingerprint
from gnomon.paint.judges.boxes import abstain
from gnomon.paint.records import (
    PAINTED,
    PICTURE,
    JudgeVerdict,
    Painted,
    asked_of,
)
from gnomon.records import MASK, Image, Item, digest
from gnomon.runs import open_runs
from gnomon.vision.images import Pixels

if TYPE_CHECKING:
    from gnomon.contracts import Model


def vqa_judge(spec: str, **options: Any) -> AskedJudge:
    """A judge that asks the model of a spec, such as hf:NAME."""
    from gnomon.registry import model

    opened = model(spec, **options).open()
    if "image" not in getattr(opened, "takes", TEXT):
        raise UsageError(
            f"{spec} sees no pictures, so it cannot judge them.",
            "Give a model that sees, such as hf:NAME of a vision-language model.",
        )
    return AskedJudge(opened)


class AskedJudge:
    """Puts the item's question about the picture to a model that sees."""

    asks = True  # any question, not only scenes

    def __init__(self, model: Model) -> None:
        self.model = model

    def describe(self) -> dict[str, Any]:
        """What determines the verdicts."""
        return {"judge": "vqa", "model": self.model.spec, **self.model.describe()}

    def close(self) -> None:
        """Let go of the model."""
        close = getattr(self.model, "close", None)
        if close:
            close()

    def look(self, item: Item, painted: Painted, picture: Pixels) -> JudgeVerdict:
        """What the model says that the picture shows; `painted` names the file."""
        question = question_of(item, painted, picture.size)
        if question is None:
            return abstain("the item does not name two things")
        (answer,) = self.model.answer([question])
        if answer.error:
            raise DataError(f"the judge fails: {answer.error}", file=painted.file)
        seen = {"question": question.text, "reply": answer.reply or ""}
        if answer.choice is None:
            return abstain("the reply names none of the choices", **seen)
        return JudgeVerdict(item.choices.index(answer.choice), answer.scores or (), seen)


def question_of(item: Item, painted: Painted, size: tuple[int, int]) -> Item | None:
    """What is asked about a picture: the item's own question, or its choices in a sentence.

    >>> item = Item(id="1", form="scene", text="An ant and a bird.", choices=("larger", "smaller"),
    ...             gold=("smaller",), tags={"thing_a": "ant", "thing_b": "bird"})
    >>> kept = Painted(item="1", number=0, prompt="", seed=0, file="a.png")
    >>> question_of(item, kept, (64, 64)).text
    'In the picture, the ant is [MASK] than the bird.'
    """
    image = Image(path=painted.file, sha256=painted.sha256, width=size[0], height=size[1])
    if item.form != "scene":  # the picture stands for what the question is about
        return replace(item, context="", images=(image,))
    asked = asked_of(item)
    if asked is None:
        return None
    link = "" if asked.kind == "position" else " than"
    text = f"In the picture, the {asked.first} is {MASK}{link} the {asked.second}."
    return replace(item, form="cloze", text=text, images=(image,))


COLUMNS = ("item", "picture", "choice")
Votes = dict[tuple[str, int], Counter[str]]


def people_judge(file: str) -> PeopleJudge:
    """The judge that a table of people's answers is, or a folder with their runs."""
    path = Path(file).expanduser()
    if path.is_dir():
        votes = _votes_in_runs(path)
        return PeopleJudge(votes, digest(repr(sorted(votes.items())), digits=40))
    votes = {}
    for line, row in read_table(path, COLUMNS):
        try:
            number = int(row["picture"])
        except ValueError:
            problem = f"the picture is '{row['picture'][:40]}', not a number."
            hint = "0 is the first picture of an item."
            raise DataError(problem, hint, file=path, line=line) from None
        votes.setdefault((row["item"], number), Counter())[row["choice"].strip()] += 1
    return PeopleJudge(votes, fingerprint(path))


def _votes_in_runs(folder: Path) -> Votes:
    """What people said of painted pictures; who skipped a picture said nothing of it."""
    votes: Votes = {}
    for run in open_runs([folder]):
        for item, answer in run.answers():
            if PAINTED not in item.tags or answer.error or answer.sample:
                continue
            key = item.tags[PAINTED], int(item.tags[PICTURE])
            votes.setdefault(key, Counter())[answer.choice or ""] += 1
    if not votes:
        raise DataError(
            "no run here says what people saw in painted pictures.",
            "Ask them with `gnomon people ask RUN --task picture`.",
            file=folder,
        )
    return votes


class PeopleJudge:
    """Says what most people said of a picture."""

    asks = True

    def __init__(self, votes: Votes, known: str) -> None:
        self._votes, self._known = votes, known
        self.items = {item for item, _ in votes}  # of which somebody has seen a picture

    def describe(self) -> dict[str, Any]:
        """What determines the verdicts."""
        return {"judge": "people", "file": self._known[:40], "pictures": len(self._votes)}

    def look(self, item: Item, painted: Painted, picture: Pixels) -> JudgeVerdict:
        """What most people said of the picture; nothing if they do not agree."""
        votes = self._votes.get((item.id, painted.number))
        if not votes:
            return abstain("nobody has judged it")
        said, count = votes.most_common(1)[0]
        seen = {"people": dict(votes)}
        if 2 * count <= votes.total():
            return abstain("people do not agree", **seen)
        if not said:
            return abstain("people cannot tell", **seen)
        if said not in item.choices:
            return abstain(f"'{said[:40]}' is none of the choices", **seen)
        shares = tuple(votes[choice] / votes.total() for choice in item.choices)
        return JudgeVerdict(item.choices.index(said), shares, seen)
