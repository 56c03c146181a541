"""A model that compares the first digits it sees."""

from gnomon import Answer


class Digits:
    """Right about single digits, and nothing else."""

    scale = "probability"

    def __init__(self, sure: float) -> None:
        self.spec = "digits"
        self.sure = sure

    def describe(self):
        return {"rule": "compare the digits", "sure": self.sure}

    def answer(self, items):
        return [self._one(item) for item in items]

    def _one(self, item):
        words = item.text.strip(".").split()
        first, second = int(words[0]), int(words[-1])
        scores = (self.sure, 1 - self.sure) if first > second else (1 - self.sure, self.sure)
        best = item.choices[0] if scores[0] > scores[1] else item.choices[1]
        return Answer(item=item.id, scores=scores, choice=best)


def digits(name: str, *, sure: float = 0.9):
    """Compares two digits.

    sure   the probability of what it picks
    """
    return Digits(sure)
