"""Graphs of things that point to others."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def strong_components(successors: Mapping[Node, Iterable[Node]]) -> Iterator[list[Node]]:
    """The strongly connected components of a graph, those without successors first.

    By Tarjan's algorithm, without recursion.

    >>> list(strong_components({"a": "b", "b": "ac", "c": ""}))
    [['c'], ['b', 'a']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()

    def enter(node: Node) -> tuple[Node, Iterator[Node]]:
        index[node] = low[node] = len(index)
        stack.append(node)
        waiting.add(node)
        return node, iter(successors.get(node, ()))

    for root in successors:
        if root in index:
            continue
        work = [enter(root)]
        while work:
            node, rest = work[-1]
            for following in rest:
                if following not in index:
                    work.append(enter(following))
                    break
                if following in waiting:
                    low[node] = min(low[node], index[following])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    yield _taken_off(stack, waiting, node)


def _taken_off(stack: list[Node], waiting: set[Node], root: Node) -> list[Node]:
    """What lies from the root upwards on the stack, which then ends below it."""
    found: list[Node] = []
    while not found or found[-1] != root:
        found.append(stack.pop())
    waiting.difference_update(found)
    return found


def shortest_cycle(successors: Callable[[Node], Iterable[Node]], start: Node) -> list[Node]:
    """A cycle through a thing, as short as there is; empty if there is none.

    >>> shortest_cycle({"a": "bc", "b": "d", "c": "a", "d": "a"}.get, "a")
    ['a', 'c']
    """
    before: dict[Node, Node] = {}
    queue = [start]
    for node in queue:
        for other in successors(node):
            if other == start:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if other not in before:
                before[other] = node
                queue.append(other)
    return []
