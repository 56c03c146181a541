"""The pictures of the page for people in docs/people.md, made with drawn scenes.

    python scripts/people.py -o docs/images

Needs playwright and a Chromium (CHROMIUM, else the one on the path). Each picture is a task as a person sees it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from PIL import Image as Pixels

from gnomon.benchmarks.vsr.files import all_relations
from gnomon.items.source import load
from gnomon.people.answering import AskedItems, PersonSettings
from gnomon.people.page.app import make_app
from gnomon.people.page.study import AnnotationStudy
from gnomon.people.tasks import task_named
from gnomon.records import Item
from gnomon.vision.images import describe
from gnomon.web import listen

COLOURS = 96  # of a picture, so that it stays small
LIMIT = 120_000  # bytes


class Shot(NamedTuple):
    """A picture: the task, the window, and what the person does.

    They choose by a key, search for ?WORDS, or choose by a label.
    """

    name: str
    kind: str
    width: int
    height: int
    scheme: str
    chosen: tuple[str, ...]


SHOTS = (
    Shot("people-validate", "validate", 1180, 620, "light", ("False",)),
    Shot(
        "people-contrast",
        "contrast",
        1180,
        900,
        "light",
        ("2", "?behind", "behind", "Second picture"),
    ),
    Shot("people-phone", "scale", 390, 844, "dark", ("unknown",)),
)


def main() -> int:
    """Serve each task, take its picture, say how large it is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    args = parser.parse_args()
    sizes = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for shot in SHOTS:
            file = args.output / f"{shot.name}.png"
            with served(items_for(shot.kind), shot.kind, Path(folder)) as link:
                photograph(browser, link, shot, file)
            shrink(file)
            sizes.append(file.stat().st_size)
            print(f"{file}: {sizes[-1] / 1000:.0f} KB")
    return 0 if max(sizes) <= LIMIT else 1


def items_for(kind: str) -> tuple[Item, ...]:
    """Some items of a fresh benchmark."""
    if kind == "scale":
        return tuple(load("spacenli").limited(40).items())[3:]
    captions = list(load("vsr", seed=3).limited(16).items())
    if kind == "validate":
        return tuple(captions)
    first, second = captions[0], captions[1]
    return (
        Item(
            id="pair",
            form="choice",
            text="",
            choices=tuple(all_relations()),
            tags={"task": "contrast", "subj": first.tags["subj"], "obj": first.tags["obj"]},
            images=(describe(first.images[0].path), describe(second.images[0].path)),
        ),
    )


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@contextmanager
def served(items: tuple[Item, ...], kind: str, runs: Path) -> Iterator[str]:
    """The link of a person whose task is served."""
    study = AnnotationStudy(
        AskedItems(f"{kind}@picture", {}, None, items), PersonSettings(task_named(kind)), runs
    )
    token = study.seat(["ann"])["ann"]
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(study), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/join?token={token}"
    server.should_exit = True
    thread.join(10)
    listener.close()
    study.close()


def photograph(browser: Any, link: str, shot: Shot, file: Path) -> None:
    """The item after the person has chosen."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme=shot.scheme,
        is_mobile=shot.width < 500,
        has_touch=shot.width < 500,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(link)
    page.click("[data-go]")
    page.wait_for_selector("#item")
    for label in shot.chosen:
        if label.isdecimal():
            page.keyboard.press(label)
        elif label.startswith("?"):
            page.fill("[data-search]", label[1:])
        else:
            words = page.get_by_text(label, exact=True)
            page.locator("[data-part] .option", has=words).click()
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.screenshot(path=str(file))
    context.close()


def shrink(file: Path) -> None:
    """Fewer colours, so that the picture takes little room."""
    with Pixels.open(file) as picture:
        small = picture.convert("RGB").quantize(COLOURS)
    small.save(file, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
