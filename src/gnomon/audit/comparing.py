"""Questions that ask which of two things is greater: what each choice says of the first.

"Is a cow smaller than an ant?" and "An ant is [MASK] than a cow" are put in one form, so that what
is learnt or checked of one holds for the other.
"""

from __future__ import annotations

from gnomon.audit.questions import Compared
from gnomon.contracts import Laws, OrderLaw, RelationLaw
from gnomon.records import Item


def comparison(item: Item, laws: Laws) -> Compared | None:
    """How an item of a set of comparisons is put; none in other sets."""
    if laws.order:
        return _by_order(item, laws.order)
    if laws.relations and "entailment" not in item.choices:
        return _by_relations(item, laws.relations)
    return None


def _by_order(item: Item, order: OrderLaw) -> Compared | None:
    """Larger or smaller is chosen, or a question asks with one of them."""
    first, second = item.tags[order.first], item.tags[order.second]
    scope = tuple(item.tags.get(tag, "") for tag in order.within)
    said = dict.fromkeys(order.greater, "greater") | dict.fromkeys(order.lesser, "lesser")
    if set(item.choices) <= set(said):
        targets = {choice: said[choice] for choice in item.choices}
        return Compared(first, second, targets, scope)

    asked = said.get(item.tags.get(order.word, ""))
    if asked is None:
        return None
    if asked == "lesser":
        first, second = second, first
    return Compared(first, second, {"yes": "greater", "no": "lesser"}, scope)


def _by_relations(item: Item, relations: RelationLaw) -> Compared | None:
    """Two of the choices are the converse of one another, such as higher up and lower down."""
    first, second = item.tags[relations.first], item.tags[relations.second]
    scope = tuple(item.tags.get(tag, "") for tag in relations.within)
    for greater, lesser in relations.converse:
        if {greater, lesser} <= set(item.choices):
            targets = dict.fromkeys(item.choices, "level")
            targets |= {greater: "greater", lesser: "lesser"}
            return Compared(first, second, targets, scope)
    return None
