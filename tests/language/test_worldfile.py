"""Mini worlds: what the YAML means, and what is wrong with a bad one, with its line."""

import pytest

from gnomon.errors import DataError
from gnomon.language.world import parse_world


def names(world, members):
    return {world.entities[number].name for number in members}


def test_a_class_has_the_entities_of_its_subclasses(world_text):
    world = parse_world(world_text)
    assert names(world, world.classes["small"]) == {
        "ball",
        "scissors",
        "apple",
        "crate",
        "trash can",
    }
    assert names(world, world.classes["tall"]) == {"wardrobe", "shelves", "Ada"}


def test_flags_come_from_the_entity_and_from_the_class_it_is_listed_under(world_text):
    world = parse_world(world_text)
    flags = {entity.name: entity.flags for entity in world.entities}
    assert flags["Ada"] == {"proper"}
    assert flags["scissors"] == {"plural"}
    assert flags["teacher"] == set()


def test_a_relation_is_the_union_of_its_rows_and_a_later_row_overrules(world_text):
    world = parse_world(world_text)
    number = world.numbers
    inside, holds = world.relations["inside"], world.relations["holds"]
    assert inside.holds([number["ball"], number["crate"]])
    assert not inside.holds([number["ball"], number["trash can"]])
    assert inside.holds([number["apple"], number["trash can"]])
    assert holds.holds([number["crate"], number["ball"]])
    assert not holds.holds([number["ball"], number["crate"]])


def test_a_relation_inside_a_relation_keeps_its_own_exceptions():
    world = parse_world("""
classes: {a: , b: }
entities: {a: [p, q], b: [r]}
relations:
  near: [a * b, "not {p} * {r}"]
  far: ["{p} * {r}", near]
""")
    p, q, r = (world.numbers[name] for name in "pqr")
    assert world.relations["far"].holds([p, r])
    assert world.relations["far"].holds([q, r])
    assert not world.relations["near"].holds([p, r])


def test_documents_add_to_each_other(world_text):
    from gnomon.language.world import build_world
    from gnomon.yamlnodes import parse_document

    more = parse_document(
        "entities: {toy: [kite], name: [Ines]}\nrelations: {flies: ['person * {kite}']}"
    )
    world = build_world([parse_document(world_text), more])
    assert "kite" in names(world, world.classes["small"])
    assert "proper" in world.entities[world.numbers["Ines"]].flags


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("classes: {a: {is: b}}\nentities: {a: [x]}", 1, "there is no class 'b'"),
        ("classes:\n  a: {is: b}\n  b: {is: a}\nentities: {a: [x]}", 2, "a -> b -> a"),
        ("classes: {a: , b: {equals: b}}\nentities: {a: [x]}", 1, "depends on itself"),
        ("classes:\n  a:\n  b:\nentities: {a: [x]}", 3, "the class 'b' is empty"),
        ("classes: {a: }\nentities:\n  b: [x]", 3, "there is no class 'b'"),
        ("classes: {a: , b: {equals: 'a - a'}}\nentities: {a: [x]}", 1, "empty"),
        ("classes: {a: {equals: '{y}'}, b: }\nentities: {b: [x]}", 1, "there is no entity 'y'"),
        ("classes: {a: {iss: b}}", 1, "has no key 'iss'"),
        ("classes: {1a: }", 1, "cannot be the name of a class"),
        ("classes: {not: }", 1, "cannot be the name of a class"),
        ("classes: {a: }\nentities: {a: [{x: plurals}]}", 2, "a flag cannot be 'plurals'"),
        ("classes: {a: }\nentities: {a: ['x{y']}", 2, "cannot be the name of an entity"),
        ("classes: {a: }\nentities: {a: x}", 2, "must be a list"),
        (
            "classes: {a: }\nentities: {a: [x]}\nrelations:\n  r:\n    - a * a\n    - a",
            6,
            "has 1 places, the first has 2",
        ),
        ("classes: {a: }\nentities: {a: [x]}\nrelations: {r: [a * b]}", 3, "there is no class 'b'"),
        ("classes: {a: }\nentities: {a: [x]}\nrelations: {r: [a * (a - a)]}", 3, "place 2"),
        ("classes: {a: }\nentities: {a: [x]}\nrelations: {r: [s], s: [r]}", 3, "r -> s -> r"),
        ("classes: {a: }\nentities: {a: [x]}\nrelations: {r: [not a * a]}", 3, "no first row"),
        ("classes: {a: }\nentities: {a: [x]}\nrelations: {r: []}", 3, "no first row"),
        (
            "classes: {a: }\nentities: {a: [x]}\nrelations: {r: [inverse of q]}",
            3,
            "there is no relation 'q'",
        ),
        ("classes: {a: , b: }\nentities: {a: [x], b: [x]}\nscales: {s: [a, b]}", 3, "two levels"),
        ("classes: {a: }\nentities: {a: [x]}\nscales: {s: [a]}", 3, "1 levels"),
        ("classes: {a: }\nentities: {a: [x]}\nscales: {s: [a, c]}", 3, "there is no class 'c'"),
        ("animals: {a: }", 1, "has no key 'animals'"),
        ("- a", 1, "must be a mapping"),
    ],
)
def test_what_is_wrong_and_where(text, line, says):
    with pytest.raises(DataError) as caught:
        parse_world(text, "world.yaml")
    assert says in str(caught.value)
    assert caught.value.line == line


def test_a_long_chain_of_relations_is_refused_not_crashed():
    rows = "\n".join(f"  r{i}: [r{i + 1}]" for i in range(5000))
    with pytest.raises(DataError, match="depends on"):
        parse_world(f"classes: {{a: }}\nentities: {{a: [x]}}\nrelations:\n{rows}\n  r5000: [a * a]")


def test_relations_that_double_with_every_level_are_refused_before_anyone_goes_through_them():
    rows = "\n".join(f"  r{i}: [r{i - 1}, inverse of r{i - 1}]" for i in range(1, 60))
    with pytest.raises(DataError, match="more than 2,000 rows"):
        parse_world(f"classes: {{a: }}\nentities: {{a: [x]}}\nrelations:\n  r0: [a * a]\n{rows}")
