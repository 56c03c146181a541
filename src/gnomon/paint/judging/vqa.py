"""The judge that is asked: a model that sees answers the item's own question about the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gnomon.contracts import TEXT
from gnomon.errors import DataError, UsageError
from gnomon.paint.judging.boxes import abstain
from gnomon.paint.records import Painted, Truth, Verdict, asked_of
from gnomon.records import MASK, Image, Item
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

    def look(self, item: Item, painted: Painted, picture: Pixels, truth: Truth | None) -> Verdict:
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
        return Verdict(item.choices.index(answer.choice), answer.scores or (), seen)


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
