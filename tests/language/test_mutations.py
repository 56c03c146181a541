"""Malformed files by the hundred: each is fine or one clear error, never a traceback, a hang or
executed code.

`make hostile` damages many more, in processes with limits of time and memory.
"""

import re
from pathlib import Path
from random import Random

import pytest

from gnomon.errors import DataError, GnomonError
from gnomon.language.checking import check
from gnomon.language.patternfile import parse_bank
from gnomon.language.problems import read_problems
from gnomon.language.restrictions import read_signature

MOST_CALLS = 200_000  # of functions, for one small file
# Bits that mean something to YAML, to XML, to the language of conditions, to Python or to a shell.
SPICE = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "#",
    "&a",
    "*a",
    "!!python/object/apply:os.system",
    "'",
    '"',
    "|",
    ">",
    "\t",
    "\n",
    "\0",
    "\u2028",
    "é",
    "%",
    "%s",
    "%(x)s",
    "{X",
    "{X:is|are|am}",
    "{0}",
    "{X.__class__}",
    "not ",
    " and ",
    "((((",
    "))",
    "X = Y",
    "<<: *A",
    "__import__('os').system('touch PWNED')",
    "<!ENTITY a 'b'>",
    "&a;",
    "<",
    "</",
    "/>",
    "]]>",
    "<PT>",
    "is: a",
    "equals: a",
    "inverse of ",
    "-1",
    "1e999",
    "NaN",
    "null",
    "~",
    "---",
    "...",
    "999999999999",
    "$(touch PWNED)",
]


def mutated(text: str, random: Random) -> str:
    """The text with one to four small injuries."""
    for _ in range(random.randint(1, 4)):
        at, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + random.choice([1, 3, 20, 200]))
        lines = text.split("\n")
        match random.randrange(8):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + random.choice(SPICE) + text[at:]
            case 2:
                text = text[:at] + random.choice(SPICE) + text[end:]
            case 3:
                text = text[:end] + text[at:end] * random.choice([1, 2, 50]) + text[end:]
            case 4:
                i, j = random.randrange(len(lines)), random.randrange(len(lines))
                lines[i], lines[j] = lines[j], lines[i]
                text = "\n".join(lines)
            case 5:
                del lines[random.randrange(len(lines))]
                text = "\n".join(lines)
            case 6:
                words = re.findall(r"\w+", text)
                if words:
                    text = text.replace(
                        random.choice(words),
                        random.choice([*words, "", "zzz"]),
                        random.choice([1, -1]),
                    )
            case 7:
                text = text[:at]
        text = text or "x"
    return text[:200_000]


@pytest.fixture
def outcome(calls):
    """What comes of a file: "fine", or the error that a person would see; after bounded work.

    Any other exception goes through.
    """

    def come(read, *files) -> str:
        refused = []

        def attempt() -> None:
            try:
                read(*files)
            except GnomonError as error:
                refused.append(error)

        assert calls(attempt) < MOST_CALLS
        if not refused:
            return "fine"
        (error,) = refused
        assert isinstance(error, DataError)
        assert error.message.rstrip().endswith((".", ")")) or " in: " in error.message, error
        assert len(str(error)) < 1000
        return str(error)

    return come


def read_yaml(patterns: str, world: str) -> None:
    check(parse_bank(patterns, world, "mine.yaml"))


def test_mutated_patterns(outcome, patterns_text, world_text, tmp_path):
    random = Random(1)
    seen = [outcome(read_yaml, mutated(patterns_text, random), world_text) for _ in range(250)]
    assert len(set(seen)) > 60  # many different complaints, so the injuries reach many places
    assert not (tmp_path / "PWNED").exists()


def test_mutated_worlds(outcome, patterns_text, world_text, tmp_path):
    random = Random(2)
    seen = [outcome(read_yaml, patterns_text, mutated(world_text, random)) for _ in range(250)]
    assert len(set(seen)) > 60
    assert not (tmp_path / "PWNED").exists()


XML = """<problems>
<group seed="1" ent_type="directional">
  <problem id="1" label="entailment" exp="into">
    <ex>Ada walked into the barn
      Ada was in the barn</ex>
    <PT>{NP1} walked into {NP2}
      {NP1} was in {NP2}</PT>
    <SR>enter(NP1,NP2)</SR>
  </problem>
  <problem id="2a" label="neutral" exp="to, at">
    <PT>{NP1} walked to {NP2} {_at_once}
      {NP1} was in {NP3}</PT>
    <BL>NP2 != NP3 and NP1 not in ["Ada", "the cat"] or (NP2,NP3) in sig['enter_v2']</BL>
  </problem>
  <SR>enter(NP1,NP3); being(NP1)</SR>
  <BL>diff_values([NP1, NP2])</BL>
</group>
</problems>
"""
SIGNATURE = """
name_pn: &NAME {Ada, Omar}
animal_n: &ANIMAL {cat, dog}
being_n: &BEING {<<: *NAME, <<: *ANIMAL}
house_n: &HOUSE {barn, hut}
enter_v2: &ENTER
- [*BEING, *HOUSE]
near_p2:
- *ENTER
- [*HOUSE, {hut, <<: *NAME}]
- [cat, dog]
"""


def read_published(folder: Path, xml: str, signature: str) -> None:
    (folder / "problems.xml").write_text(xml, encoding="utf-8", errors="replace")
    (folder / "world.yaml").write_text(signature, encoding="utf-8", errors="replace")
    check(read_problems(folder / "problems.xml", read_signature(folder / "world.yaml")))


def test_mutated_files_in_the_authors_format(outcome, tmp_path):
    random = Random(3)
    assert outcome(read_published, tmp_path, XML, SIGNATURE) == "fine"
    seen = [outcome(read_published, tmp_path, mutated(XML, random), SIGNATURE) for _ in range(200)]
    seen += [outcome(read_published, tmp_path, XML, mutated(SIGNATURE, random)) for _ in range(100)]
    assert len(set(seen)) > 40
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("size", [1000, 100_000])
def test_a_long_line_of_anything_is_read_or_refused_after_bounded_work(outcome, size, world_text):
    for character in "[{(&*!|-:#'\"x ":
        outcome(read_yaml, character * size, world_text)
        outcome(
            read_yaml,
            f"patterns: [{{id: p, where: '{'(' * size}', premises: {character * size}",
            world_text,
        )
