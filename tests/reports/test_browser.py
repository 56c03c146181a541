from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gnomon.records import Item
from gnomon.reports.page.page import write_report
from gnomon.runs import RunLog

pytestmark = pytest.mark.browser
Show = Callable[..., Any]


@pytest.fixture(scope="module")
def report(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report, as a file."""
    names = ("good", "middling", "guess", "pairs", "colours")
    return write_report(
        [runs / name for name in names], tmp_path_factory.mktemp("report") / "report.html"
    ).as_uri()


def open_items(page: Any) -> None:
    page.evaluate("() => { document.getElementById('items-fold').open = true; }")
    page.locator("#items").scroll_into_view_if_needed()
    page.wait_for_selector("#rows tr")


def unfold(page: Any) -> None:
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((each) => { each.open = true; })"
    )


def serious(page: Any) -> list[str]:
    """What axe-core finds that keeps people out."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    page.evaluate(
        "() => [...document.querySelectorAll('details')].slice(0, 3).forEach(part => { part.open = true; })"
    )
    found = axe.Axe().run(page).response["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in found]


def test_the_report_opens_from_a_file_without_errors_or_requests(report: str, tab: Show) -> None:
    shown = tab(report)
    open_items(shown.page)
    unfold(shown.page)
    assert shown.page.locator("figure svg.chart").count() >= 12
    for box in (chart.bounding_box() for chart in shown.page.locator("figure svg.chart").all()):
        assert box["width"] > 200
        assert box["height"] > 60
    title = shown.page.locator("h1").inner_text()
    assert title == "What hf:roberta-large-mnli and smollm2 know about space"
    assert shown.errors == []
    assert shown.strays == []


def test_tables_sort_both_ways(report: str, tab: Show) -> None:
    page = tab(report).page
    unfold(page)
    table = page.locator("table[data-sortable]").first

    def values():
        return [
            float(cell.get_attribute("data-value"))
            for cell in table.locator("tbody td:nth-child(3)").all()
        ]

    def names():
        return [cell.inner_text().lower() for cell in table.locator("tbody th").all()]

    best_first = values()
    runs = table.locator(
        "tbody tr:not(.paper)"
    ).count()  # on other items than the paper's models: each ranked apart
    assert 0 < runs < len(best_first)
    for part in (best_first[:runs], best_first[runs:]):
        assert part == sorted(part, reverse=True)
    table.locator("th button", has_text="Accuracy").first.click()
    table.locator("th button", has_text="Accuracy").first.press("Enter")
    assert values() == sorted(best_first)
    table.locator("th button", has_text="Model").click()
    assert names()[0].startswith("albert")
    table.locator("th button", has_text="Model").click()
    assert names()[-1].startswith("albert")
    assert table.locator("th[aria-sort=descending]").inner_text() == "Model"


def test_the_item_table_searches_filters_sorts_and_pages(report: str, tab: Show) -> None:
    page = tab(report).page
    open_items(page)
    count = page.locator("#count")
    assert count.inner_text() == "192 of 192 items"
    page.fill("#q", "ZZZ no such words")
    page.locator("#count", has_text="0 of 192 items").wait_for()
    page.fill("#q", "lake behind")
    page.wait_for_function("() => !document.getElementById('count').textContent.startsWith('0 ')")
    rows = page.locator("#rows tr")
    assert rows.count() > 0
    assert all("lake" in row.inner_text() and "behind" in row.inner_text() for row in rows.all())
    page.fill("#q", "")
    page.locator("#count", has_text="192 of 192 items").wait_for()
    page.select_option("#outcome", label="random: wrong")
    wrong = int(count.inner_text().split()[0])
    page.select_option("#outcome", label="random: right")
    assert wrong + int(count.inner_text().split()[0]) == 192
    page.select_option("#outcome", value="")
    page.select_option("#tags select[data-tag=class]", value="=projective")
    assert count.inner_text() == "48 of 192 items"
    page.select_option("#tags select[data-tag=class]", value="")
    page.locator("#items th button", has_text="Models right").click()
    shares = [
        int(cell.inner_text().split()[0])
        for cell in page.locator("#rows td[data-name='Models right']").all()
    ]
    assert shares == sorted(shares)
    first = rows.first.inner_text()
    page.click("#next")
    assert page.locator("#page").inner_text().startswith("Page 2 of")
    assert rows.first.inner_text() != first


def test_an_item_opens_to_show_every_answer_and_each_benchmark_has_its_items(
    report: str, tab: Show
) -> None:
    page = tab(report).page
    open_items(page)
    page.locator("#rows button").first.click()
    opened = page.locator("#rows tr.more")
    for label in ("hf:roberta-large-mnli", "smollm2", "random"):
        assert label in opened.inner_text()
    page.locator("#rows button").first.click()
    assert opened.count() == 0

    page.select_option("#benchmark", label="viphy@fresh")
    page.locator("#count", has_text="120 of 120 items").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_nothing_sticks_out_and_nobody_is_kept_out(
    runs: Path, tab: Show, tmp_path: Path, width: int, scheme: str
) -> None:
    names = ("middling", "pairs", "colours")  # enough for folds and a menu
    page = write_report([runs / name for name in names], tmp_path / "report.html")
    shown = tab(page.as_uri(), width=width, scheme=scheme)
    open_items(shown.page)
    shown.page.locator(".menu summary").click()
    menu = shown.page.locator(".menu ul").bounding_box()
    assert menu["x"] >= 0
    assert menu["x"] + menu["width"] <= width
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") == width
    assert serious(shown.page) == []
    assert shown.errors == []


def test_a_table_of_many_models_scrolls_in_its_own_frame(
    made: ModuleType, tab: Show, tmp_path: Path
) -> None:
    runs = []
    for number in range(20):
        folder = tmp_path / f"{number}"
        runs.append(made.write(folder, "viphy-size@fresh", f"model {number}", made.pairs()))
    shown = tab(write_report(runs, tmp_path / "report.html").as_uri(), width=1280)
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") == 1280


def test_a_number_leads_to_its_items_and_every_view_has_an_address(report: str, tab: Show) -> None:
    shown = tab(report)
    page = shown.page
    page.locator("table.matrix td.above a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#rows tr")
    assert page.locator("#count").inner_text() == "192 of 192 items"
    assert page.locator("#outcome").input_value().startswith("asked:")
    columns = page.locator("#rows tr").first.locator("td.answer").count()
    assert columns == 3  # every model beside the others

    page.fill("#q", '"behind the"')  # a phrase, as it stands
    page.locator("#clear").wait_for()
    page.wait_for_function("() => location.hash.includes('behind')")
    for row in page.locator("#rows tr td:first-child").all():
        assert "behind the" in row.inner_text()
    some = page.locator("#count").inner_text()
    page.select_option("#outcome", label="no model is right")
    fewer = page.locator("#count").inner_text()
    assert fewer != some
    view = page.url
    page.go_back()
    page.locator("#count", has_text=some).wait_for()
    other = tab(view).page  # the address, opened by somebody else
    other.locator("#count", has_text=fewer).wait_for()
    with other.expect_download() as saved:
        other.click("#csv")
    lines = saved.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 1 + int(fewer.split()[0])

    other.locator("#rows button").first.click()
    alone = other.locator("#rows tr.more a").get_attribute("href")
    other.locator("#rows tr.more a").click()
    other.locator("#count", has_text="1 of 192 items").wait_for()
    assert alone.partition("i=")[2]
    assert other.locator("#rows tr.more").count() == 1  # open at once
    assert shown.errors == []


def test_a_link_into_a_fold_opens_it(report: str, tab: Show) -> None:
    page = tab(f"{report}#s0-more").page
    assert page.locator("#s0-more").evaluate("fold => fold.open")
    page.locator("#s0-figures > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#s0-figures").evaluate("fold => fold.open")
    page.locator("#s0-figures .chart a").first.click()  # the name of a row of bars
    page.wait_for_selector("#rows tr")
    assert "t." in page.url


def test_the_reader_can_choose_dark(report: str, tab: Show) -> None:
    page = tab(report).page

    def ground():
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light = ground()
    page.click("#theme")
    assert ground() != light
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('figure text')).fill")
        != "rgb(0, 0, 0)"
    )
    page.click("#theme")
    assert ground() == light
    assert (
        tab(report, scheme="dark").page.evaluate(
            "() => getComputedStyle(document.body).backgroundColor"
        )
        != light
    )


def test_without_scripts_everything_but_the_item_table_is_there(report: str, tab: Show) -> None:
    page = tab(report, scripts=False).page
    assert page.locator("figure svg.chart").count() >= 12
    page.locator("#s0-examples > summary").click()  # folds need no script
    assert page.locator("#s0-examples .card").first.is_visible()
    assert "needs JavaScript" in page.locator("noscript").inner_text()


HOSTILE = [
    "<script>window.owned = 1</script>",
    "<img src=x onerror='window.owned = 1'>",
    "<svg/onload=window.owned=1>",
    "--></script><script>window.owned=1</script>",
    "javascript:window.owned=1",
    "\u202eevil \u2066marks",
    "</td></tr></table><h1>gone",
    "&lt;b&gt;",
    "x" * 2**20,
    "\x00\x08\ufffe",
]


@pytest.fixture
def hostile(made: ModuleType, tmp_path: Path) -> Path:
    """Runs in which everything that can be said is hostile."""
    folder = tmp_path / "hostile"
    short = [text[:300] for text in HOSTILE]
    items = [
        Item(
            id=f"{i} {text}",
            form="choice",
            text=text,
            context=text,
            choices=("no", f"yes {text}"),
            gold=(f"yes {text}",),
            group=f"{i % 2} {short[0]}",
            tags={"kind": text, short[1]: text},
        )
        for i, text in enumerate(short * 3)
    ]
    for name, seed in (("a", 1), ("b", 2)):
        made.write(
            folder / name,
            "b<script>window.owned=1</script>@fresh",
            f"{short[0]}{name}",
            items,
            seed=seed,
            replies=HOSTILE,
            description={"prompt": short[2], short[3]: short[0]},
        )
    return folder


def test_hostile_replies_are_shown_as_text_in_the_report(
    hostile: Path, tab: Show, tmp_path: Path
) -> None:
    page = write_report([hostile / "a", hostile / "b"], tmp_path / "report.html")
    assert page.stat().st_size < 2**20
    shown = tab(page.as_uri())
    open_items(shown.page)
    for button in shown.page.locator("#rows button").all():
        button.click()
    assert "<script>window.owned = 1</script>" in shown.page.locator("#rows").inner_text()
    assert shown.page.evaluate("() => window.owned") is None
    assert shown.page.locator("#rows img, #rows script, #rows svg:not(.swatch)").count() == 0
    assert shown.errors == []
    assert shown.strays == []


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve a folder of runs on a free port; returns the address."""
    uvicorn = pytest.importorskip("uvicorn", reason="the extra 'report' is not installed")
    from gnomon.reports.viewer.app import make_app
    from gnomon.web import listen

    running = []

    def start(folder: Path) -> str:
        listener = listen("127.0.0.1", 0)
        server = uvicorn.Server(
            uvicorn.Config(make_app(str(folder)), log_level="error", lifespan="off")
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread, listener))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for server, thread, listener in running:
        server.should_exit = True
        thread.join(10)
        listener.close()


def test_hostile_replies_are_shown_as_text_in_the_viewer(
    hostile: Path, tab: Show, serve: Callable[[Path], str]
) -> None:
    address = serve(hostile)
    for path in ("/", "/run/a", "/run/a/items", "/compare?a=a&b=b"):
        shown = tab(address + path, allowed=address)
        assert shown.page.evaluate("() => window.owned") is None
        assert "<script>" in shown.page.locator("main").inner_text()
        assert shown.errors == []
        assert [url for url in shown.strays if not url.startswith("data:")] == []
    shown.page.goto(address + "/run/a/items")
    shown.page.locator("#main tbody a").first.click()
    said = "<script>window.owned = 1</script>"
    shown.page.locator("main", has_text=said).wait_for()
    assert said in shown.page.locator("main").inner_text()
    assert shown.page.evaluate("() => window.owned") is None


# A page that asks every few seconds asks twenty times as often.
IMPATIENT = "const wait = setTimeout; window.setTimeout = (call, ms) => wait(call, ms / 20);"


def test_the_viewer_shows_runs_as_they_go_on(
    made: ModuleType, tmp_path: Path, tab: Show, serve: Callable[[Path], str]
) -> None:
    items = list(made.entailment(5, 8))
    folder = tmp_path / "runs"
    made.write(folder / "live", "spacenli@fresh", "m", items, answered=0.25, finished=False)
    address = serve(folder)
    one = tab(f"{address}/run/live", allowed=address, before=IMPATIENT)
    every = tab(address, allowed=address, before=IMPATIENT)
    assert "10 of 40 items" in one.page.locator("[data-part=done]").inner_text()
    with RunLog(folder / "live") as log:
        new = [(n, made.answer(items[n], 0.5, 0, "log-probability")) for n in range(10, 30)]
        log.add_answers(new)
        for shown in (one, every):
            shown.page.locator("[data-part=done]", has_text="30 of 40 items").wait_for()
            shown.page.locator("[data-part=state]", has_text="running").wait_for()
            assert shown.page.evaluate("() => document.querySelector('progress').value") == 0.75
    every.page.locator("[data-part=state]", has_text="stopped").wait_for()

    every.page.evaluate("() => { window.same = true; }")
    made.write(folder / "new", "spacenli@fresh", "newcomer", items)
    table = every.page.locator("table.crosstable")
    table.locator("th", has_text="newcomer").wait_for()
    assert every.page.evaluate("() => window.same")  # the page was not loaded anew
    table.locator("th button", has_text="Model").click()
    assert table.locator("th[aria-sort]").count() == 1
    assert (one.errors, every.errors) == ([], [])


VIEWER_PAGES = (
    "/",
    "/benchmark?name=spacenli@fresh",
    "/model?name=smollm2",
    "/run/good",
    "/run/good/items?tag.class=projective",
    "/compare?run=good&run=middling",
    "/compare?run=good&run=middling&run=guess",
    "/item?benchmark=spacenli@fresh&id=3-1&run=good",
    "/run/good/delete",
)


def check_overview(page: Any) -> None:
    """Figures are to be seen, the best are bold, and no heading runs into the next one."""
    table = page.locator("table.crosstable")
    weights = table.locator("a.best").evaluate_all(
        "all => all.map(a => +getComputedStyle(a).fontWeight)"
    )
    assert weights
    assert min(weights) >= 700
    figures = table.locator("tbody td a")
    assert figures.count() > 4
    assert all(figure.is_visible() for figure in figures.all())
    heads = table.locator("thead th")
    assert heads.evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")


@pytest.mark.parametrize(("width", "scheme", "first"), [(390, "dark", 0), (1280, "light", 1)])
def test_the_viewer_is_open_to_everybody(
    runs: Path, tab: Show, serve: Callable[[Path], str], width: int, scheme: str, first: int
) -> None:
    address = serve(runs)
    shown = tab(address, width=width, scheme=scheme, allowed=address)
    for number, path in enumerate(VIEWER_PAGES):
        shown.page.goto(address + path)
        assert shown.page.evaluate("() => document.documentElement.scrollWidth") == width, path
        if path == "/":
            check_overview(shown.page)
        if number % 2 == first:  # each page once: axe takes its time
            assert serious(shown.page) == [], path
    assert shown.errors == []


def test_runs_are_compared_from_the_leaderboard(
    runs: Path, tab: Show, serve: Callable[[Path], str]
) -> None:
    address = serve(runs)
    page = tab(address + "/?benchmark=spacenli@fresh", allowed=address).page
    page.click("text=Compare the ticked runs")
    page.wait_for_url("**/compare?**")
    assert page.locator("#differing tbody tr").count() > 10
    row = page.locator("#differing tbody tr").first
    assert row.locator("td").nth(2).inner_text() != row.locator("td").nth(3).inner_text()


def test_labels_are_marked_as_doubtful_by_keyboard_alone(
    made: ModuleType, tmp_path: Path, tab: Show, serve: Callable[[Path], str]
) -> None:
    items = list(made.entailment(5, 8))
    run = made.write(tmp_path / "runs" / "a", "spacenli@fresh", "m", items)
    address = serve(tmp_path / "runs")
    shown = tab(f"{address}/item?benchmark=spacenli@fresh&id=0-0&run=a", allowed=address)
    page = shown.page
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**id=0-1**")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**id=0-2**")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**id=0-1**")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.tagName") == "TEXTAREA":
            break
    page.keyboard.type("neutral <b>fits</b> too")
    page.keyboard.press("ArrowLeft")  # moves the cursor, not the page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("h2", has_text="The label is marked as doubtful").wait_for()
    assert "neutral <b>fits</b> too" in page.locator("#doubt").inner_text()
    assert [doubt.item for doubt in run.notes.doubts.values()] == ["0-1"]
    assert shown.errors == []
