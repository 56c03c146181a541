"""The guide is true: every python block runs, every page is in the navigation, every command shown
exists."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gnomon.cli import command_parser
from gnomon.registry import COMMANDS, command

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md"])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[str]:
    return [
        code
        for language, code in BLOCK.findall(page.read_text(encoding="utf-8"))
        if language in languages
    ]


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=[page.name for page in WITH_PYTHON])
def test_python_blocks_of_a_page_run_in_order(page, tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for code in blocks(page, "console", "sh"):
            lines = code.replace("\\\n", " ").splitlines()
            found += [
                (page.name, line.lstrip("$ ").split(" #")[0])
                for line in lines
                if line.lstrip("$ ").startswith("gnomon ")
            ]
    return found


@pytest.mark.parametrize(
    ("page", "line"), commands(), ids=[f"{page}: {line}"[:70] for page, line in commands()]
)
def test_commands_shown_in_the_guide_parse(page, line):
    words = shlex.split(line)
    words = words[
        : next((i for i, word in enumerate(words) if word in ("|", ">", "&&", ";")), len(words))
    ]
    assert words[1] in COMMANDS or words[1].startswith("--")
    if words[1] in COMMANDS and "--help" not in words:
        command_parser(words[1], command(words[1])).parse_args(words[2:])


def test_examples_in_help_texts_parse():
    for name in COMMANDS:
        module = command(name)
        for line in (module.__doc__ or "").splitlines():
            if line.startswith("  gnomon "):
                words = shlex.split(line.split(" >")[0].split(" |")[0])
                command_parser(words[1], command(words[1])).parse_args(words[2:])


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w-]+\.md", str(yaml.safe_load(navigation)["nav"])))
    assert named == {page.name for page in (ROOT / "docs").glob("*.md")}
