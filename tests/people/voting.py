"""Votes and runs of people, made for tests."""

import numpy as np

import gnomon
from gnomon.items.writing import write_items
from gnomon.people.votes import PersonVote, Votes
from gnomon.records import Answer, Item


def items_of(count, labels, gold=None, **more):
    """So many items with these labels; each its own group."""
    found = []
    for number in range(count):
        right = labels[0] if gold is None else labels[gold[number]]
        tags = {"relation": f"r{number % 3}"} | more
        found.append(
            Item(
                id=str(number),
                form="choice",
                text=f"Question {number}?",
                choices=tuple(labels),
                gold=(right,),
                group=str(number),
                tags=tags,
            )
        )
    return found


def votes_of(matrix, labels=("a", "b", "c", "d", "e"), gold=None, points=None):
    """Votes from a matrix [items, people] of codes, -1 for none."""
    matrix = np.asarray(matrix)
    judged = []
    for row, item in enumerate(items_of(len(matrix), labels, gold)):
        said = []
        for person, code in enumerate(matrix[row]):
            label = None if code < 0 else labels[code]
            point = -1 if points is None else int(points[row][person])
            if code >= 0 or point >= 0:
                said.append(PersonVote(f"p{person}", label, point))
        judged.append((item, said))
    return Votes.of("items@test.jsonl", judged)


class Person:
    """Answers from a list, as a person does; none skips the item."""

    scale = "none"
    takes = frozenset({"text", "image"})

    def __init__(self, name, choices, *, task="choose", replies=()):
        self.spec = f"people:{name}"
        self._choices, self._task, self._replies = dict(choices), task, dict(replies)

    def describe(self):
        return {"task": self._task}

    def answer(self, items):
        found = []
        for item in items:
            choice, reply = self._choices.get(item.id), self._replies.get(item.id)
            error = None if choice or reply else "skipped: unclear"
            rule = f"people/{self._task}"
            found.append(Answer(item=item.id, choice=choice, reply=reply, rule=rule, error=error))
        return found


def people_runs(folder, items, said, **more):
    """A run for each person: {name: {item id: choice}}."""
    file = folder / "items.jsonl"
    write_items(file, items)
    found = []
    for name, choices in said.items():
        source = gnomon.load(str(file))
        found.append(gnomon.run(source, Person(name, choices, **more), runs=folder / "runs"))
    return found
