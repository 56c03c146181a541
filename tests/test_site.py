"""The site of the guide in a browser: no endless pages, open to everybody, and a search that finds what is there."""

import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parent.parent
TALLEST = 12_000  # pixels of a page that is 1,280 wide
REFERENCE = "/api/"  # every public name on one page, to be searched by the browser
LOOKED_AT = ("/", "/commands/", "/commands/run/", "/performance/", "/logs/")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("mkdocs")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(built)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run(command, cwd=ROOT, env=quiet, check=True, capture_output=True, timeout=300)
    return built


@pytest.fixture(scope="module")
def site(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = context.new_page()
    found.set_default_timeout(120_000)
    yield found
    context.close()


def test_no_page_but_the_reference_is_endless(folder, site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, java_script_enabled=False)
    heights = {}
    for file in sorted(folder.rglob("index.html")):
        path = f"/{file.parent.relative_to(folder).as_posix()}/".replace("/./", "/")
        page.goto(site + path)
        heights[path] = page.evaluate("() => document.documentElement.scrollHeight")
    page.close()
    assert len(heights) > 60
    too_tall = {path: height for path, height in heights.items() if height > TALLEST}
    assert set(too_tall) <= {REFERENCE}, too_tall


def test_pages_are_open_to_everybody(site, page):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    for path in LOOKED_AT:
        page.goto(site + path)
        found = axe.Axe().run(page).response["violations"]
        assert [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in found] == [], path


def test_search_finds_exit_codes(site, page):
    page.goto(site)
    page.locator(".md-search__input").fill("exit code")
    first = page.locator(".md-search-result__item").first
    first.wait_for(timeout=180_000)  # a busy machine reads the index slowly
    assert "commands/" in first.locator("a").first.get_attribute("href")
    assert "Exit codes" in first.inner_text()
