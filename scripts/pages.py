"""Pages of the site that are no files: the parts of long pages, and one page a command (a hook of mkdocs).

pages.yaml says at which headings a page is cut. Links to a heading lead to the part that it is in, so that a page of docs/
is written, linked and read in the repository as one.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any, NamedTuple

import yaml
from markdown.extensions.toc import slugify
from mkdocs.structure.files import File

import gnomon
from gnomon.registry import COMMANDS

ROOT = Path(__file__).parent.parent
HEADING = re.compile(r"^(#{1,6}) (.*?)(?: *\{#([\w-]+)\})? *$")
LINK = re.compile(r"\]\(([\w/-]+\.md)?#([\w-]+)\)")
OVERVIEW = "commands.md"


class Part(NamedTuple):
    """A page of the site: its address, its title, its text."""

    uri: str
    title: str
    text: str


def on_config(config: Any) -> Any:
    """Name the version at the foot of each page, link the repository if it is known, and list the parts."""
    config.copyright = f"Gnomon {gnomon.__version__} · {config.copyright}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.repo_url = project.get("urls", {}).get("Repository") or config.repo_url
    for section in config.nav:
        for title, pages in section.items():
            section[title] = [entry for page in pages for entry in _entries(page)]
    return config


def _entries(page: dict[str, str]) -> list[Any]:
    """A page of the navigation, with those that are made from it."""
    (title, uri), *_ = page.items()
    further = [{part.title: part.uri} for part in parts().get(uri, ())[1:]]
    if uri == OVERVIEW:
        return [{title: [{"All commands": uri}, *further]}]
    return [page, *further]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made."""
    for made in parts().values():
        for part in made[1:]:
            files.append(File.generated(config, part.uri, content=part.text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leave a long page its first part, and lead every link to the part that has its heading."""
    uri = page.file.src_uri
    if uri in parts():
        markdown = parts()[uri][0].text
    owner = next(
        (long for long, made in parts().items() if uri in [part.uri for part in made]), uri
    )

    def led(link: re.Match[str]) -> str:
        named = link[1] or owner
        place = homes().get((named, link[2]))
        if place is None or (link[1] is None and place == uri):
            return link[0]
        return f"]({relpath(place, dirname(uri) or '.')}#{link[2]})"

    return LINK.sub(led, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """The corner of a table has no heading, and is none for those to whom it is read."""
    return html.replace("<th></th>", "<td></td>")


@cache
def parts() -> dict[str, list[Part]]:
    """The pages that are made from a page, the first of them that page itself."""
    cuts = yaml.safe_load(Path(__file__).with_name("pages.yaml").read_text(encoding="utf-8"))
    found = {}
    for uri, titles in cuts.items():
        found[uri] = cut(uri, (ROOT / "docs" / uri).read_text(encoding="utf-8"), titles)
    found[OVERVIEW] = _commands()
    return found


def cut(uri: str, text: str, titles: dict[str, str]) -> list[Part]:
    """A page in parts: a new one begins at each heading that has a title."""
    made: list[tuple[str, str, list[str]]] = [(uri, "", [])]
    headings = []
    for level, heading, anchor, line in lines_of(text):
        if level == 2 and heading in titles:
            headings.append(heading)
            made.append((f"{uri.removesuffix('.md')}-{anchor}.md", titles[heading], []))
            line = f"# {titles[heading]}\n\n{line}"
        made[-1][2].append(line)
    if headings != list(titles):
        raise ValueError(f"docs/{uri} has the headings {headings}, pages.yaml {list(titles)}")
    return [Part(address, title, "\n".join(lines)) for address, title, lines in made]


def lines_of(text: str) -> list[tuple[int, str, str, str]]:
    """Each line: its level, words and anchor if it is a heading, and the line itself."""
    found = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.match(line)
        if heading is None:
            found.append((0, "", "", line))
            continue
        words = heading[2].replace("`", "")
        found.append((len(heading[1]), words, heading[3] or slugify(words, "-"), line))
    return found


def _commands() -> list[Part]:
    """The page of all commands, and one for each."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
    reference = sys.modules.get("reference") or module_from_spec(spec)
    if not hasattr(reference, "command"):
        spec.loader.exec_module(reference)
    made = [Part(OVERVIEW, "", (ROOT / "docs" / OVERVIEW).read_text(encoding="utf-8"))]
    for name in COMMANDS:
        made.append(Part(f"commands/{name}.md", f"gnomon {name}", reference.command(name)))
    return made


@cache
def homes() -> dict[tuple[str, str], str]:
    """Where each heading of a long page is on the site."""
    found = {}
    for uri, made in parts().items():
        for part in made:
            for level, _, anchor, _ in lines_of(part.text):
                if level:
                    found.setdefault((uri, anchor), part.uri)
    return found
