"""Every command of the registry, with the ways in which it is given a file.

A new command is tried as soon as it stands here; until then it is named as missing.
"""

from __future__ import annotations

from gnomon import registry

FILE = "FILE"
RANDOM = ("-m", "random", "--limit", "4")
# `view` and `people ask` serve without end: what they read is attacked elsewhere.
GIVEN: dict[str, tuple[tuple[str, ...], ...]] = {
    "demo": (("demo", "--help"),),
    "list": (("list",), ("list", "models"), ("list", "prompts"), ("list", "sets")),
    "show": (("show", FILE), ("show", FILE, "-m", "random", "-n", "2"), ("show", "scales")),
    "run": (
        ("run", FILE, *RANDOM),
        ("run", FILE, *RANDOM, "--dry-run"),
        ("run", FILE, *RANDOM, "--runs", "RUNS"),
        ("run", "scales", *RANDOM, "--prompt", FILE),
        ("run", "scales", "-m", f"openai:{FILE}", "--set", "attempts=1", "--dry-run"),
    ),
    "prompts": (("prompts", "scales", *RANDOM, "--candidates", FILE),),
    "power": (("power", FILE), ("power", "scales")),
    "ci": (("ci", "init", FILE, "-m", "random", "-o", "ci.yml"),),
    "train": (("train", FILE, "--check"), ("train", FILE, "-o", "trained")),
    "score": (("score", FILE), ("score", "--answers", FILE, "--benchmark", "scales")),
    "compare": (("compare", FILE, FILE),),
    "table": (("table", FILE), ("table", FILE, "--format", "latex")),
    "report": (("report", FILE, "-o", "page.html"),),
    "view": (("view", "--runs", FILE, "--host", "0.0.0.0"),),
    "cite": (("cite", FILE), ("cite",)),
    "make": (
        ("make", FILE, "-o", "made.jsonl"),
        ("make", FILE, "--as", "lm-eval", "-o", "task"),
        ("make", FILE, "--as", "dataset", "-o", "set"),
    ),
    "audit": (("audit", FILE), ("audit", FILE, "--check", "validation"), ("audit", FILE, FILE)),
    "prove": (("prove", "--say", "The cup is in the box.", "The box is big.", "--picture", FILE),),
    "scene": (("scene", "--seed", "3", "-o", f"{FILE}.json"), ("scene", "--say", FILE)),
    "look": (("look", FILE, "-o", "knowledge", "--depth", "none"),),
    "people": (
        ("people", "agree", FILE),
        ("people", "list", "--runs", FILE),
        ("people", "forget", "ann", "--runs", FILE, "--yes"),
    ),
    "runs": (
        ("runs", "list", "--runs", FILE),
        ("runs", "import", FILE),
        ("runs", "merge", FILE, "-o", "merged"),
        ("runs", "recover", FILE, "-o", "saved"),
        ("runs", "rm", FILE),
    ),
    "data": (("data", "list"),),
    "doctor": (("doctor",), ("doctor", "--format", "json")),
    "completion": (("completion", "bash"),),
}
ALL = [words for ways in GIVEN.values() for words in ways]


def missing() -> list[str]:
    """Commands of the registry that nobody tries."""
    return [name for name in registry.COMMANDS if name not in GIVEN]


def filled(words: tuple[str, ...], file: str) -> list[str]:
    """A command with the file that it is given."""
    return [word.replace(FILE, file) for word in words]
