"""The page in a headless Chromium: by keyboard, by touch, on a phone, in the dark."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra 'people' is not installed")

from gnomon.people.answering import AskedItems, PersonSettings, person_folder
from gnomon.people.order import read_extras
from gnomon.people.page.app import make_app
from gnomon.people.page.study import AnnotationStudy
from gnomon.people.tasks import TASKS, task_named
from gnomon.runs import Run
from gnomon.web import listen

pytestmark = pytest.mark.browser
SECRET = b"zqgold"
KEYS = {  # what a person presses, and what it means
    "choose": (["2"], {"choice": "neutral"}),
    "scale": (["5"], {"scale": "5"}),
    "validate": (["f"], {"choice": "false"}),
    "contrast": (
        ["2", "c", "o", "n", "t", "a", "Enter", "1"],
        {"order": "ba", "relation": "contains", "true_of": "0"},
    ),
    "picture": (["1", "1", "2"], {"a": "yes", "b": "yes", "relation": "smaller"}),
}
TAPS = {
    "choose": ["One cannot tell"],
    "scale": ["definitely true"],
    "validate": ["False"],
    "contrast": ["The box … the cat", "contains", "First picture"],
    "picture": ["Yes", "smaller"],
}


LOWEST = """() => Math.min(...[...document.querySelectorAll('.face, .button')]
    .map(part => part.getBoundingClientRect().height).filter(height => height > 0))"""


class Site:
    """A study that is served, and what went over the wire."""

    def __init__(self, study: AnnotationStudy, address: str, token: str) -> None:
        self.study = study
        self.link = f"{address}/join?token={token}"
        self.address = address
        self.heard: list[bytes] = []

    @property
    def folder(self) -> Path:
        return person_folder(self.study.asked, "ann", self.study.settings.task, self.study.folder)


@pytest.fixture
def site(asked_of: Callable[..., AskedItems], tmp_path: Path) -> Iterator[Callable[[str], Site]]:
    """site(kind): a server with a task of that kind, for ann."""
    uvicorn = pytest.importorskip("uvicorn", reason="the extra 'people' is not installed")
    running = []

    def start(kind: str, **options: Any) -> Site:
        asked = asked_of(kind, tmp_path)
        few = 3 if options else 2
        asked = asked._replace(items=asked.items[:few])
        study = AnnotationStudy(
            asked, PersonSettings(task_named(kind, **options)), tmp_path / "runs"
        )
        token = study.seat(["ann"])["ann"]
        listener = listen("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(make_app(study), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread, listener, study))
        return Site(study, f"http://127.0.0.1:{listener.getsockname()[1]}", token)

    yield start
    for server, thread, listener, study in running:
        server.should_exit = True
        thread.join(10)
        listener.close()
        study.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """look(site, phone=False, scheme="light"): a page on which the link was opened."""
    contexts = []

    def show(
        site: Site, *, phone: bool = False, scheme: str = "light", scripts: bool = True
    ) -> Any:
        context = browser.new_context(
            viewport={"width": 390 if phone else 1280, "height": 844},
            color_scheme=scheme,
            has_touch=phone,
            is_mobile=phone,
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda said: _note(page, said))
        page.on("response", lambda answer: _take_down(site, answer))
        page.goto(site.link)
        return page

    yield show
    for context in contexts:
        context.close()


def _note(page: Any, said: Any) -> None:
    if said.type == "error":
        page.errors.append(said.text)


def _take_down(site: Site, answer: Any) -> None:
    headers = repr(sorted(answer.headers.items())).encode()
    body = b""
    if answer.status not in (303, 304):
        body = answer.body()
    site.heard.append(answer.url.encode() + headers + body)


def wait_for(page: Any, title: str) -> None:
    """Until a page of that title is there, and its script has run."""
    page.wait_for_function(
        "title => document.title.startsWith(title) && document.readyState !== 'loading'",
        arg=title,
    )


def begin(page: Any) -> None:
    page.click("[data-go]")
    wait_for(page, "Item 1 of")


def option(page: Any, label: str) -> Any:
    return page.locator("[data-part] .option", has=page.get_by_text(label, exact=True))


def serious(page: Any) -> list[str]:
    """What axe-core finds that keeps people out."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page.evaluate(
        "() => document.querySelectorAll('details').forEach(part => { part.open = true; })"
    )
    found = axe.Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in found]


def check_all_was_kept(site: Site, response: dict[str, str]) -> None:
    kept = read_extras(site.folder)
    assert len(kept) == len(site.study.asked.items)
    assert all(extra.response == response for extra in kept)
    assert all(extra.seconds is not None for extra in kept)
    assert Run.open(site.folder).counts().answered == len(kept)


def check_traffic(site: Site) -> None:
    assert len(site.heard) > 2 * len(site.study.asked.items)
    for heard in site.heard:
        assert SECRET not in heard


@pytest.mark.parametrize("kind", TASKS)
def test_a_task_is_done_by_keyboard_alone(
    kind: str, site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site(kind)
    page = look(served)
    page.keyboard.press("Enter")  # the button that begins has the focus
    keys, response = KEYS[kind]
    for number in range(1, len(served.study.asked.items) + 1):
        wait_for(page, f"Item {number} of")
        if number == 1 and kind == "contrast":  # the other kinds are looked at on the phone
            assert serious(page) == []
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    wait_for(page, "Thank you")
    assert page.errors == []
    check_all_was_kept(served, response)
    check_traffic(served)


@pytest.mark.parametrize("kind", TASKS)
def test_a_task_is_done_by_touch_on_a_phone_in_the_dark(
    kind: str, site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site(kind)
    page = look(served, phone=True, scheme="dark")
    page.tap("[data-go]")
    for number in range(1, len(served.study.asked.items) + 1):
        wait_for(page, f"Item {number} of")
        for label in TAPS[kind]:
            for option in page.locator("[data-part] .option:visible").filter(has_text=label).all():
                option.tap()
        if number == 1:
            assert page.evaluate("() => document.documentElement.scrollWidth") == 390
            assert serious(page) == []
            assert page.evaluate(LOWEST) >= 40
        page.tap("[value=save]")
    wait_for(page, "Thank you")
    assert page.errors == []
    check_all_was_kept(served, KEYS[kind][1])
    check_traffic(served)


def test_back_skip_comment_and_help_have_keys(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site("choose")
    page = look(served)
    page.keyboard.press("Enter")
    wait_for(page, "Item 1 of")
    page.keyboard.press("h")
    assert page.locator("#help .guide").is_visible()
    page.keyboard.press("c")
    page.keyboard.type("a brief remark, with b, s and 1 in it")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for(page, "Item 2 of")
    page.keyboard.press("s")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # among the reasons it skips
    page.get_by_role("link", name="Back to the last item").click()
    wait_for(page, "Item 2 of")
    page.keyboard.press("b")
    wait_for(page, "Item 1 of")
    page.get_by_role("link", name="Forward").click()
    wait_for(page, "Item 2 of")
    assert page.locator("#skip").get_attribute("open") is not None
    first, second = read_extras(served.folder)
    assert first.comment == "a brief remark, with b, s and 1 in it"
    assert first.response == {"choice": "entailment"}
    assert second.skipped == "unclear"
    page.get_by_role("link", name="Pause").click()
    assert serious(page) == []
    assert "2 of 2 done" in page.locator("main").inner_text()
    assert page.errors == []


def test_keys_can_be_switched_off(site: Callable[..., Site], look: Callable[..., Any]) -> None:
    page = look(site("choose"))
    begin(page)
    page.keyboard.press("h")
    page.locator("#keys").uncheck()
    page.locator("body").press("2")
    assert page.locator("input[name='part.choice']:checked").count() == 0
    page.locator("#keys").check()
    page.locator("body").press("2")
    assert page.locator("input[name='part.choice']:checked").get_attribute("value") == "neutral"


def test_the_point_of_view_is_asked_where_it_applies(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site("validate", ask_frame=True)
    page = look(served)
    begin(page)
    seen = []
    for number in range(1, 4):
        wait_for(page, f"Item {number} of")
        turned = "left" in page.locator(".text").inner_text()
        assert page.locator(".note.rule").count() == turned
        page.keyboard.press("t")
        if turned:
            page.keyboard.press("2")
        page.keyboard.press("Enter")
        seen.append(turned)
    wait_for(page, "Thank you")
    assert sorted(seen) == [False, True, True]
    frames = [extra.response.get("frame") for extra in read_extras(served.folder)]
    assert sorted(map(str, frames)) == ["None", "own", "own"]


def test_the_sentence_that_is_made_is_shown(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    page = look(site("contrast"))
    begin(page)
    option(page, "The box … the cat").click()
    option(page, "contains").click()
    assert page.locator("[data-preview]").inner_text() == "The box contains the cat."
    option(page, "The cat … the box").click()
    option(page, "under").click()
    assert page.locator("[data-preview]").inner_text() == "The cat is under the box."


def test_a_relation_is_asked_only_if_both_things_are_seen(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site("picture")
    page = look(served)
    begin(page)
    assert not page.get_by_text("larger", exact=True).is_visible()
    page.keyboard.press("1")
    page.keyboard.press("1")
    assert page.get_by_text("larger", exact=True).is_visible()
    page.keyboard.press("1")
    page.locator("[data-part=b] .option").nth(1).click()
    assert not page.get_by_text("larger", exact=True).is_visible()
    page.keyboard.press("Enter")
    wait_for(page, "Item 2 of")
    assert read_extras(served.folder)[0].response.get("relation") is None


def test_an_answer_that_is_missing_is_asked_for(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    served = site("choose")
    page = look(served)
    assert serious(page) == []
    begin(page)
    page.keyboard.press("Enter")
    page.locator("[role=alert]").wait_for()
    assert "Please answer" in page.locator("[role=alert]").inner_text()
    assert serious(page) == []
    assert not read_extras(served.folder)


def test_the_page_works_without_scripts(
    site: Callable[..., Site], look: Callable[..., Any]
) -> None:
    kind = "picture"
    served = site(kind)
    page = look(served, scripts=False)
    page.click("[data-go]")
    for number in range(1, len(served.study.asked.items) + 1):
        page.get_by_role("heading", name=f"Item {number} of").wait_for(state="attached")
        for name, value in KEYS[kind][1].items():
            page.check(f"input[name='part.{name}'][value='{value}']", force=True)
        page.click("[value=save]")
    page.get_by_role("heading", name="Thank you").wait_for()
    kept = read_extras(served.folder)
    assert len(kept) == len(served.study.asked.items)
    assert all(extra.response == KEYS[kind][1] for extra in kept)
