"""Malformed files by the hundred: each is fine or one clear error, never a traceback, a hang or
executed code.

`python tests/language/test_mutations.py 20000` runs as many as you like, also on the patterns that
ship.
"""

import re
import sys
import time
from pathlib import Path
from random import Random

import pytest

from gnomon.errors import DataError, GnomonError
from gnomon.language.checking import check
from gnomon.language.patternfile import parse_bank
from gnomon.language.problems import read_problems
from gnomon.language.restrictions import read_signature

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


def outcome(action) -> str:
    """ "fine", or the error that a person would see; any other exception goes through."""
    start = time.process_time()
    found: GnomonError | None = None
    try:
        action()
    except GnomonError as error:
        found = error
    assert time.process_time() - start < 5
    if found is None:
        return "fine"
    assert isinstance(found, DataError)
    assert found.message.rstrip().endswith((".", ")")) or " in: " in found.message, found
    assert len(str(found)) < 1000
    return str(found)


def yaml_outcome(patterns: str, world: str) -> str:
    return outcome(lambda: check(parse_bank(patterns, world, "mine.yaml")))


def test_mutated_patterns(patterns_text, world_text, tmp_path):
    random = Random(1)
    seen = [yaml_outcome(mutated(patterns_text, random), world_text) for _ in range(250)]
    assert len(set(seen)) > 60  # many different complaints, so the injuries reach many places
    assert not (tmp_path / "PWNED").exists()


def test_mutated_worlds(patterns_text, world_text, tmp_path):
    random = Random(2)
    seen = [yaml_outcome(patterns_text, mutated(world_text, random)) for _ in range(250)]
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


def published_outcome(folder: Path, xml: str, signature: str) -> str:
    (folder / "problems.xml").write_text(xml, encoding="utf-8", errors="replace")
    (folder / "world.yaml").write_text(signature, encoding="utf-8", errors="replace")
    return outcome(
        lambda: check(read_problems(folder / "problems.xml", read_signature(folder / "world.yaml")))
    )


def test_mutated_files_in_the_authors_format(tmp_path):
    random = Random(3)
    assert published_outcome(tmp_path, XML, SIGNATURE) == "fine"
    seen = [published_outcome(tmp_path, mutated(XML, random), SIGNATURE) for _ in range(200)]
    seen += [published_outcome(tmp_path, XML, mutated(SIGNATURE, random)) for _ in range(100)]
    assert len(set(seen)) > 40
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("size", [1000, 100_000])
def test_a_long_line_of_anything_is_read_or_refused_at_once(size, world_text):
    for character in "[{(&*!|-:#'\"x ":
        yaml_outcome(character * size, world_text)
        yaml_outcome(
            f"patterns: [{{id: p, where: '{'(' * size}', premises: {character * size}", world_text
        )


def main(count: int) -> None:
    import tempfile

    from gnomon.files import package_data

    folder = Path(tempfile.mkdtemp())
    shipped = [
        file.read_text("utf-8") for file in sorted(package_data("patterns/bank").glob("*.yaml"))
    ]
    world = package_data("patterns/world.yaml").read_text("utf-8")
    random, seen, slowest = Random(0), set(), 0.0
    for i in range(count):
        start = time.process_time()
        blocks = random.choice(shipped).split("\n  - family")
        part = blocks[0] + "\n  - family" + random.choice(blocks[1:])
        match i % 4:
            case 0:
                seen.add(yaml_outcome(mutated(part, random), world))
            case 1:
                seen.add(yaml_outcome(part, mutated(world, random)))
            case 2:
                seen.add(published_outcome(folder, mutated(XML, random), SIGNATURE))
            case 3:
                seen.add(published_outcome(folder, XML, mutated(SIGNATURE, random)))
        slowest = max(slowest, time.process_time() - start)
    executed = (folder / "PWNED").exists()
    print(
        f"{count} files, {len(seen)} different outcomes, slowest {slowest:.2f} s, executed: {executed}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
