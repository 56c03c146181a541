"""Every command, printing where not every character can be printed, on files with odd names.

    python -m hostile.encodings [--trials N] [--plain] [--json]

Output is cp1252, latin-1 or ascii; the folder of the files has a name of ASCII, of other letters, or
of bytes that are no UTF-8; if told, the locale is C and Python's UTF-8 mode is off. What must hold: a
command does its work or refuses in a sentence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from gnomon.errors import GnomonError
from hostile.arguments import parser_of
from hostile.command import command
from hostile.commands import ALL, filled, missing
from hostile.readers import Reader, check_message
from hostile.samples import Sample
from hostile.tally import Tally
from hostile.trying import tell_and_keep, tried

PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ENCODINGS = ("cp1252", "latin-1", "ascii")
FOLDERS = (b"plain", "Größe 大".encode(), b"na\xefve")
ODD = "Is the cup → 大 é \u202e\U0001f600?"
ROWS = [
    {"id": f"大{number}", "text": f"{ODD} {number}", "choices": ["ja é", "nein →"], "gold": "ja é"}
    for number in range(4)
]
EXPERIMENT = "benchmarks: [scales]\nlimit: 2\nmodels: [{name: Größe 大, model: random}]\n"
FILES = {
    "items é.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS),
    "items.csv": "question,A,B,answer\n" + f"{ODD},ja é,nein →,A\n" * 3,
    "nice é.yaml": EXPERIMENT,
    "prompt.yaml": "summary: fragt →\ninstruction: Antworte 大.\nforms: [choice]\n",
    "answers.csv": "id,choice\n大0,ja é\n大1,nein →\n",
    "a é.png": "no picture",
}
RUNS = "runs"


def make(rng: Random, number: int, folder: Path) -> str:
    """Files and a run in a folder of some name, and the command that is given."""
    home = os.fsencode(folder) + b"/" + FOLDERS[number % len(FOLDERS)]
    os.mkdir(home)
    for name, content in FILES.items():
        with open(home + b"/" + name.encode(), "w", encoding="utf-8") as file:
            file.write(content)
    words = ALL[number // len(FOLDERS) % len(ALL)] if number else ("list",)
    name = rng.choice([*FILES, RUNS, "", "not there é.jsonl"])
    path = os.fsdecode(os.path.basename(home) + b"/" + name.encode())
    given = filled(words, path)
    encoding = rng.choice(ENCODINGS)
    # surrogates stand for bytes that are no text: JSON keeps them as escapes
    (folder / "trial.json").write_text(json.dumps([encoding, os.fsdecode(home), given]))
    return f"{encoding} {given}"


def attempt(folder: Path) -> int:
    """Make a run, and give the command."""
    encoding, home, words = json.loads((folder / "trial.json").read_text())
    runs = str(folder / RUNS)
    command("run", "scales", "-m", "大é=random", "--limit", "4", "--runs", runs, "--quiet")
    os.rename(runs, f"{home}/{RUNS}")
    ended = command(*words, encoding=encoding)
    check_message(ended.said, longest=10**6)
    if "Traceback" in ended.said:
        raise RuntimeError(ended.said[-300:])
    if ended.code:
        raise GnomonError(ended.told[:1000])
    return ended.code


def tallies(trials: int, kept: Path) -> Iterator[tuple[str, Tally]]:
    """All commands together, in every encoding and name."""
    for name in missing():
        unknown = Tally()
        unknown.fault("failed", f"{name} stands in no list: add it to hostile/commands.py")
        yield f"gnomon {name}", unknown
    reader = Reader("commands in other encodings", Sample({}), attempt, make=make)
    yield reader.name, tried(reader, range(trials), 0, kept)


def main() -> int:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--trials", type=int, default=3 * len(ALL))
    parser.add_argument("--plain", action="store_true", help="the locale is C")
    args = parser.parse_args()
    if args.plain and any(os.environ.get(name) != value for name, value in PLAIN.items()):
        again = [sys.executable, "-m", "hostile.encodings", *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, **PLAIN}).returncode
    well = tell_and_keep(lambda kept: tallies(args.trials, kept), as_json=args.json)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
