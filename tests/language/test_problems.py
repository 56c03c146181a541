"""Files in the format of SpaceNLI's authors: what they mean, and what is refused."""

import gzip
import tracemalloc

import pytest

from gnomon.errors import DataError
from gnomon.language.patterns import derive
from gnomon.language.problems import SIZE_LIMIT, id_order, read_problems
from gnomon.language.restrictions import read_signature
from gnomon.language.sampling import Enumeration

SIGNATURE = """
# sets are mappings without values; merges repeat
name_pn: &NAME {Ada, the Hague}
animal_n: &ANIMAL {cat, dog}
being_n: &BEING {<<: *NAME, <<: *ANIMAL, robot}
house_n: &HOUSE {barn, hut}
enter_v2: &ENTER
- [*BEING, *HOUSE]
near_p2:
- *ENTER
- [cat, dog]
above_p2:
- [{barn}, {cat, boat}]
k_above_p2:
- [{hut}, {cat}]
k_unknown_p2:
- [{hut}, {cat}]
MOD_2:
- [{old}, <<: *HOUSE]
"""

PROBLEMS = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<problems>
<group seed="7" ent_type="projective">
  <problem id="10b" label="neutral" exp="near, in front of" ent_type="directional">
    <ex>^Ada is near the barn
        The cat is near the barn</ex>
    <PT>^{NP1} is near {NP3}
        {NP2} is near {NP3} {_at_once}</PT>
    <SR>near(NP1,NP3); above(NP4,NP1)</SR>
    <BL>NP1 != NP2</BL>
  </problem>
  <problem id="9" label="entailment" exp="above">
    <PT>{NP2} is not above {NP1}
        {NP1} is below {NP2}</PT>
    <SR>above(NP2,NP1))</SR>
  </problem>
  <problem id="9x" label="entailment"><ex>Without a pattern</ex></problem>
  <SR>near(NP2,NP3)</SR>
</group>
<problem id="2" label="contradiction" ent_type="non-projective">
  <PT>{NP1} came {immediately_r_01}
      {NP1} stayed</PT>
  <SR>animal(NP1)</SR>
</problem>
</problems>
"""


@pytest.fixture
def read(tmp_path):
    def read(problems: str = PROBLEMS, signature: str = SIGNATURE):
        (tmp_path / "problems.xml").write_text(problems, encoding="utf-8")
        (tmp_path / "world.yaml").write_text(signature, encoding="utf-8")
        return read_problems(tmp_path / "problems.xml", read_signature(tmp_path / "world.yaml"))

    return read


def phrases(pattern, place):
    return {
        pattern.phrase(place, filling[place])
        for filling in map(Enumeration(pattern).unrank, range(len(Enumeration(pattern))))
    }


def test_patterns_are_sorted_by_number_and_take_attributes_of_their_group(read):
    bank = read()
    assert [(p.id, p.kind, p.expressions, len(p.premises), p.negated) for p in bank.patterns] == [
        ("2", "non-projective", (), 1, False),
        ("9", "projective", ("above",), 1, True),
        ("10b", "directional", ("near", "in front of"), 1, False),
    ]
    assert id_order("99*d") < id_order("99a") < id_order("100")


def test_entities_are_numbered_by_their_phrases_and_names_have_no_article(read):
    pattern = read().patterns[0]
    assert [pattern.phrase(0, number) for number in range(len(pattern.world.entities))] == [
        "Ada",
        "the Hague",
        "the barn",
        "the cat",
        "the dog",
        "the hut",
        "the robot",
    ]


def test_known_relations_are_added_to_the_plain_one_and_restrictions_on_absent_slots_passed_over(
    read,
):
    nine, ten = read().patterns[1:]
    assert phrases(nine, 1) == {"the barn", "the hut"}  # above, with what is known to be above
    assert phrases(ten, 0) == {
        "Ada",
        "the Hague",
        "the cat",
        "the dog",
        "the robot",
    }  # above(NP4, NP1) is of no concern


def test_optional_text_and_word_senses_are_slots_of_words(read):
    two, _, ten = read().patterns
    assert ten.slots[-1].words == ("", "at_once")
    assert two.slots[1].words[:3] == ("at once", "directly", "forthwith")
    assert len(Enumeration(two)) == 2 * 10


def test_examples_are_derived(read):
    ten = read().patterns[2]
    filling = derive(ten, ten.examples[0])
    assert filling is not None
    assert ten.problem(filling).premises == ("Ada is near the barn.",)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("near(NP1,NP3)", "nearby(NP1,NP3)", "'nearby' with 2 slots is not one predicate"),
        ("near(NP1,NP3)", "near NP1 NP3", "cannot be read"),
        ("NP1 != NP2", "eval(NP1)", "the constraint 'eval(NP1)' cannot be read"),
        ('label="entailment" exp="above"', 'label="maybe" exp="above"', "the label 'maybe'"),
        ('id="9" ', 'id="x9" ', "an id must start with a number"),
        ('id="9" ', 'id="2" ', "given twice"),
        ("{immediately_r_01}", "{suddenly_r_01}", "of no known kind"),
        ("{NP1} stayed", "", "needs a premise and a hypothesis"),
        ("</group>", "", "not XML"),
        ("<problems>", "<!DOCTYPE problems><problems>", "document type or an entity"),
        (
            "<problems>",
            '<!DOCTYPE problems SYSTEM "file:///etc/passwd"><problems>',
            "document type or an entity",
        ),
        (
            "<problems>",
            '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><problems>&b;',
            "document type or an entity",
        ),
        (
            "<problems>",
            '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;&b;&b;">]><problems>&c;',
            "document type or an entity",
        ),
        ("<problems>", "<problems>" + "<a>" * 100_000, "levels deep"),
        ("<problems>", "<problems>&undefined;", "not XML"),
    ],
)
def test_what_is_wrong_with_a_file(read, old, new, says):
    assert old in PROBLEMS
    with pytest.raises(DataError) as caught:
        read(PROBLEMS.replace(old, new, 1))
    assert says in str(caught.value)
    assert "problems.xml" in str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize(
    "text",
    [b"<a>" * 4 * SIZE_LIMIT, b"<a b='" + b"c" * 12 * SIZE_LIMIT + b"'/>"],
    ids=["nesting", "attribute"],
)
def test_what_is_too_large_is_refused_before_it_is_read_whole(tmp_path, calls, text, pack):
    file = tmp_path / ("big.xml.gz" if pack is gzip.compress else "big.xml")
    file.write_bytes(pack(text))

    def refuse() -> None:
        with pytest.raises(DataError, match="larger than"):
            read_problems(file, None)  # type: ignore[arg-type]

    tracemalloc.start()
    refuse()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(text)
    assert calls(refuse) < 10_000


@pytest.mark.parametrize(
    ("signature", "says"),
    [
        ("a_n: &A {x}\nb_n: {<<: *C}", "'*C' is not defined"),
        ("a_n: [x]", "'a_n' is not a set"),
        ("r_p2:\n- [{a}, {b}, {c}]", "'r_p2' is not a relation"),
        ("r_p2: &R\n- [{a}, *R]", "is not defined above"),
        ("r: x", "'r' is not a relation"),
        ("[" * 200, "nested too deeply"),
        ("a_n: {<<: x}", "only sets can be merged"),
        ("- x", "not a mapping"),
        ("a_n: {[x]: y}", "a key is not a name"),
        ("a: b: c", "not YAML"),
    ],
)
def test_what_is_wrong_with_a_mini_world(read, signature, says):
    with pytest.raises(DataError, match=r"world\.yaml") as caught:
        read(signature=signature)
    assert says in str(caught.value)


def test_merges_and_aliases_that_explode_are_refused_early(tmp_path, calls):
    merges = (
        "a0_n: &A0 {"
        + ", ".join(f"x{i}" for i in range(1000))
        + "}\n"
        + "".join(f"a{i}_n: &A{i} {{{', '.join([f'<<: *A{i - 1}'] * 50)}}}\n" for i in range(1, 60))
    )
    lists = "r0_p1: &R0\n- [{x}]\n" + "".join(
        f"r{i}_p1: &R{i}\n" + f"- *R{i - 1}\n" * 10 for i in range(1, 30)
    )
    for text in (merges, lists):
        (tmp_path / "world.yaml").write_text(text)

        def refuse() -> None:
            with pytest.raises(DataError):
                read_signature(tmp_path / "world.yaml")

        assert calls(refuse) < 2_000_000  # unfolded, they are more than any machine could make
