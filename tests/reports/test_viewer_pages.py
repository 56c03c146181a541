"""The viewer's pages: overview, models, benchmarks by category, comparisons, filters, prompts."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from types import ModuleType
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra 'report' is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import msgspec
from starlette.testclient import TestClient

import gnomon
from gnomon.models.prompts.preview import PromptFormat
from gnomon.records import Answer, Item
from gnomon.reports.pictures import painted
from gnomon.reports.viewer import shelf
from gnomon.reports.viewer.app import make_app
from gnomon.reports.viewer.comparison import difference
from gnomon.reports.viewer.shelf import Shelf
from gnomon.runs import Notes, Run, RunLog, change_notes


def client(folder: Path) -> TestClient:
    return TestClient(make_app(str(folder)), base_url="http://localhost:8765")


@pytest.fixture
def viewer(runs: Path) -> TestClient:
    return client(runs)


def links(page: str, words: str) -> list[str]:
    """The addresses of the links with these words."""
    found = re.findall(rf'href="([^"]+)"[^>]*>{re.escape(words)}', page)
    return [html.unescape(address) for address in found]


def test_the_overview_has_each_model_on_each_benchmark_beside_chance(viewer: TestClient) -> None:
    page = viewer.get("/").text
    table = page.partition('<table data-sortable class="crosstable">')[2].partition("</table>")[0]
    assert "Inference from sentences about space" in table
    assert table.count('<th scope="row">') == 3 + 2  # models, chance and the benchmark's name
    assert "33 %" in table.replace("\xa0", " ")
    assert 'class="above best"' in table
    assert "the best here" in table
    copied = html.unescape(page.partition('<pre id="markdown"')[2].partition("</pre>")[0])
    assert copied.count("| Chance |") == 1
    rows = [line for line in copied.splitlines() if "|" in line]
    assert len({row.count("|") for row in rows}) == 1
    assert len(rows) == 2 + 3 + 1


def test_a_name_cannot_break_the_copied_table(made: ModuleType, tmp_path: Path) -> None:
    made.write(tmp_path / "a", "spacenli@fresh", "one|two `x` [y](z)", made.entailment(20, 5))
    page = client(tmp_path).get("/").text
    assert "one\\|two \\`x\\` \\[y](z)" in page


def test_answers_that_readers_see_only_now_are_not_missed(
    made: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log is flushed before readers see what is new: its files are as they will be."""
    monkeypatch.setattr(shelf, "_files", lambda run: [])
    items = list(made.entailment(2, 5))
    run = made.write(tmp_path / "a", "spacenli@fresh", "m", items, answered=0.5, finished=False)
    runs = Shelf(tmp_path)
    with RunLog(run.path) as log:
        assert runs.counts(run).asked == 5
        log.add_answers([(5, made.answer(items[5], 0.5, 0, "log-probability"))])
        assert runs.counts(run).asked == 6


def test_a_list_polls_for_what_it_shows(made: ModuleType, tmp_path: Path) -> None:
    for name in ("a", "b"):
        made.write(tmp_path / name, "spacenli@fresh", name, made.entailment(4, 5))

    def hide(notes: Notes) -> None:
        notes.hidden = True

    change_notes(tmp_path / "b", hide)
    viewer = client(tmp_path)
    for address in ("/", "/?hidden=1"):
        page = viewer.get(address).text
        polled = re.search(r'data-live="([^"]+)" data-version="([^"]+)"', page)
        assert polled is not None
        assert viewer.get(polled[1]).json()["version"] == polled[2]


def test_questions_of_ones_own_have_their_own_title_and_words_on_every_page(
    made: ModuleType, tmp_path: Path
) -> None:
    items = []
    for item in made.entailment(4, 5):
        items.append(
            msgspec.structs.replace(item, tags={"kind": "a" if item.group == "0" else "b"})
        )
    run = made.write(tmp_path / "mine", "items@mine.csv", "m", items, finished=False)
    about = {"title": "Cups and cats", "tag_words": {"kind": "sort of thing", "kind=a": "cups"}}
    with RunLog(run.path) as log:
        log.write_manifest(msgspec.structs.replace(run.manifest, about=about))
    viewer = client(tmp_path)
    assert viewer.get("/live").json()["runs"][0]["title"] == "Cups and cats"
    name = f"items@mine.csv&id={items[0].id}"
    for address in ("/run/mine/items", "/benchmark?name=items@mine.csv", f"/item?benchmark={name}"):
        page = viewer.get(address).text
        assert "Cups and cats" in page
        assert "sort of thing" in page.lower()
        assert "cups" in page


def test_a_run_is_going_on_while_its_lock_is_held_however_old_its_log(
    made: ModuleType, tmp_path: Path
) -> None:
    items = made.entailment(4, 5)
    run = made.write(tmp_path / "slow", "spacenli@fresh", "m", items, answered=0.5, finished=False)
    for file in run.path.iterdir():
        os.utime(file, (0, 0))
    shelf = Shelf(tmp_path)
    with RunLog(run.path):
        assert shelf.state(run) == "running"
    assert shelf.state(run) == "stopped"


def test_looking_at_a_run_does_not_keep_it_from_going_on(made: ModuleType, tmp_path: Path) -> None:
    import fcntl

    items = made.entailment(4, 5)
    run = made.write(tmp_path / "a", "spacenli@fresh", "m", items, answered=0.5, finished=False)
    shelf = Shelf(tmp_path)
    with (run.path / "run.lock").open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)  # as a viewer does, for an instant
        assert shelf.state(run) == "stopped"


def test_the_live_list_knows_when_a_run_comes_or_ends(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(4, 5))
    made.write(tmp_path / "a", "spacenli@fresh", "a", items, answered=0.5, finished=False)
    viewer = client(tmp_path)
    first = viewer.get("/live").json()
    assert [(row["name"], row["done"], row["total"]) for row in first["runs"]] == [("a", 10, 20)]
    assert f'data-version="{first["version"]}"' in viewer.get("/").text
    assert viewer.get("/live").json()["version"] == first["version"]
    made.write(tmp_path / "b", "spacenli@fresh", "b", items)
    second = viewer.get("/live").json()
    assert second["version"] != first["version"]
    assert [row["name"] for row in second["runs"]] == ["a"]


def test_a_model_has_a_page_with_all_its_runs_and_what_it_knows(viewer: TestClient) -> None:
    page = viewer.get("/model", params={"name": "smollm2"}).text
    for run in ("middling", "pairs", "colours"):
        assert f'href="/run/{run}"' in page
    lead = page.partition('<div class="lead">')[2].partition("</div>")[0].lower()
    assert (
        "better than chance at" in lead
        or "as good as guessing at" in lead
        or "too few items" in lead
    )
    assert viewer.get("/model", params={"name": "no such model"}).status_code == 404


def test_what_the_answers_took_is_added_up(made: ModuleType, tmp_path: Path) -> None:
    def say(item: Item) -> Answer:
        said = item.choices[0]
        return Answer(
            item=item.id, choice=said, seconds=2.0, tokens=70, tokens_read=50, tokens_written=20
        )

    prices = {"price_input": 1000.0, "price_output": 2000.0}
    for name, benchmark in (("a", "spacenli@fresh"), ("b", "quiz@fresh")):
        items = made.entailment(4, 5)
        made.write(tmp_path / name, benchmark, "m", items, say=say, model_options=prices)
    page = client(tmp_path).get("/model", params={"name": "m"}).text
    told = (
        "1 min 20 s of answering · 2,000 tokens read, 800 written · cost 3.60 at the prices given"
    )
    assert told in page
    item = client(tmp_path).get("/item?benchmark=quiz@fresh&id=0-0").text
    assert "50 tokens read, 20 written · 2.00 s" in item


def test_a_benchmark_is_ranked_by_category(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(24, 8))
    made.write(tmp_path / "a", "spacenli@fresh", "a", items, skill=0.8)
    made.write(tmp_path / "b", "spacenli@fresh", "b", items, skill=0.2, seed=1)
    viewer = client(tmp_path)
    whole = viewer.get("/benchmark", params={"name": "spacenli@fresh"}).text
    assert '<option value="class=projective"' in whole
    part = viewer.get(
        "/benchmark", params={"name": "spacenli@fresh", "part": "class=projective"}
    ).text
    assert "Only items of the category" in part
    shelf = Shelf(tmp_path)
    board = shelf.board("spacenli@fresh", shelf.runs(), "class=projective")
    right = sum(item.tags["class"] == "projective" for item in items)
    assert [each.items for each in board.parts] == [right]
    unknown = {"name": "spacenli@fresh", "part": "class=none"}
    assert viewer.get("/benchmark", params=unknown).status_code == 400


@pytest.fixture
def four(made: ModuleType, tmp_path: Path) -> Path:
    items = list(made.entailment(24, 8))
    for i, skill in enumerate((0.9, 0.85, 0.5, 0.1)):
        made.write(tmp_path / f"r{i}", "spacenli@fresh", f"m{i}", items, skill=skill, seed=i)
    return tmp_path


def test_several_runs_are_compared_in_a_matrix_of_paired_differences(four: Path) -> None:
    viewer = client(four)
    page = viewer.get("/compare?run=r0&run=r1&run=r2&run=r3").text
    assert "of 6 pairs differ significantly" in page
    assert "corrected by Holm" in page
    table = page.partition('<table class="crosstable">')[2].partition("</table>")[0]
    gaps = re.findall(r"<span(?: class=\"best\")?>([+−][0-9.]+|–)</span>", table)
    assert len(gaps) == 16
    assert gaps[1].replace("+", "−") == gaps[4].replace("+", "−")  # the same, turned about
    assert "Right for all" in page
    counts = dict(
        re.findall(r'<bdi>(Right for \w+|Different answers)</bdi></th><td class="num">(\d+)', page)
    )
    assert sum(int(counts[f"Right for {which}"]) for which in ("all", "some", "none")) == 192


@pytest.mark.parametrize("query", ["run=r0", "run=r0&run=r0", "run=r0" + "&run=r1" * 9])
def test_one_run_the_same_twice_or_too_many_are_not_compared(four: Path, query: str) -> None:
    answer = client(four).get(f"/compare?{query}")
    assert answer.status_code == 400
    assert "2 to 8 different runs" in answer.text


def test_a_difference_that_items_cannot_show_is_told_in_one_reading(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.entailment(10, 4))
    for name, seed in (("a", 1), ("b", 2)):
        made.write(tmp_path / name, "spacenli@fresh", name, items, seed=seed)
    page = client(tmp_path).get("/compare?run=a&run=b").text
    assert re.search(
        r"A real difference of less than [0-9.]+ points could easily go unnoticed here\.", page
    )


def test_settings_that_differ_are_told_in_words(made: ModuleType, tmp_path: Path) -> None:
    items = list(made.entailment(4, 5))
    one = made.write(tmp_path / "a", "b@fresh", "m", items, model_options={"shots": 3})
    two = made.write(tmp_path / "b", "b@fresh", "m", items, description={"prompt": "Say: {text}"})
    found = difference([one.manifest, two.manifest])
    assert found.text == (
        "They were asked the same items; they differ in option of the model (shots) and prompt."
    )
    assert [(each.name, each.values) for each in found.settings] == [
        ("Option of the model: shots", ("3", "not set")),
        ("Prompt", ("not set", "Say: {text}")),
    ]
    same = difference([one.manifest, one.manifest])
    assert same == ("They were asked the same items, with the same settings.", ())


def test_items_are_filtered_by_tag_and_sorted_and_the_address_says_so(
    viewer: TestClient, runs: Path
) -> None:
    page = viewer.get("/run/good/items?tag.class=projective&outcome=wrong&sort=hard").text
    rows = {item.id: (item, answer) for item, answer in Run.open(runs / "good").rows()}
    addresses = map(html.unescape, re.findall(r'href="(/item[^"]+)', page))
    shown = [parse_qs(urlsplit(address).query)["id"][0] for address in addresses]
    expected = [
        item.id
        for item, answer in rows.values()
        if item.tags["class"] == "projective" and answer.choice not in item.gold
    ]
    assert set(shown) == set(expected)
    assert len(shown) == len(expected) > 1
    scores = [
        rows[name][1].scores[rows[name][0].choices.index(rows[name][0].gold[0])] for name in shown
    ]
    assert scores == sorted(scores)
    assert (
        "tag.class=projective" in page.partition("/item?")[2]
    )  # an item's address leads back to the same list


def test_a_phrase_in_quotation_marks_is_searched_as_a_whole(
    made: ModuleType, tmp_path: Path
) -> None:
    texts = ("the cup is left of the box", "the box left the hall of fame")
    items = [
        Item(id=str(i), form="choice", text=text, choices=("no", "yes"), gold=("yes",))
        for i, text in enumerate(texts)
    ]
    made.write(tmp_path / "a", "quiz@fresh", "m", items)
    viewer = client(tmp_path)
    assert ">2 items<" in viewer.get("/run/a/items", params={"q": "left of"}).text
    assert ">1 item<" in viewer.get("/run/a/items", params={"q": '"left of"'}).text


def test_an_item_leads_to_the_one_before_and_after_within_the_filter(
    viewer: TestClient, runs: Path
) -> None:
    listed = viewer.get("/run/good/items?outcome=wrong").text
    address = html.unescape(re.findall(r'href="(/item[^"]+)"', listed)[0])
    wrong = [i.id for i, a in Run.open(runs / "good").rows() if a.choice not in i.gold]
    walked = []
    while address:
        walked.append(parse_qs(urlsplit(address).query)["id"][0])
        page = viewer.get(address).text
        address = next(iter(links(page, "Next item")), "")
    assert walked == wrong
    assert len(walked) > 3
    back = links(page, "Previous item")[0]
    assert parse_qs(urlsplit(back).query)["id"][0] == wrong[-2]


def test_an_item_page_shows_exactly_what_the_model_read(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(tmp_path / "a", "spacenli@fresh", "m", made.entailment(4, 5))
    item = next(run.items())
    asking = PromptFormat(way="pair", opening="<s>", middle="</s></s>", closing="</s>")
    with RunLog(run.path) as log:
        run.manifest.asking = msgspec.to_builtins(asking)
        log.write_manifest(run.manifest)
    page = client(tmp_path).get(f"/item?benchmark=spacenli@fresh&id={item.id}").text
    assert "Exactly what it read" in page
    assert f"<s>{item.context}</s></s>{item.text}</s>" in html.unescape(page)


def test_measures_of_hardly_any_pairs_are_not_on_the_run_page(
    made: ModuleType, tmp_path: Path
) -> None:
    items = list(made.pairs())[:40]
    made.write(tmp_path / "few", "scales@fresh", "m", items)
    page = client(tmp_path).get("/run/few").text
    shown = re.findall(
        r'<th scope="row">([^<]+)</th><td class="num">[^<]+</td><td class="num">[^<]*</td>'
        r'<td class="num">.*?</td><td class="num">([0-9,]+)</td>',
        page,
    )
    assert shown
    assert all(int(count.replace(",", "")) >= 5 for _, count in shown)


def test_only_pictures_in_the_run_s_own_folder_are_shown(made: ModuleType, tmp_path: Path) -> None:
    from PIL import Image

    run = made.write(tmp_path / "a", "spacenli@fresh", "m", made.entailment(4, 5))
    Image.new("RGB", (8, 8), "red").save(tmp_path / "secret.png")
    (run.path / "pictures").mkdir()
    Image.new("RGB", (8, 8), "blue").save(run.path / "pictures" / "1.png")
    (run.path / "pictures" / "2.png").symlink_to(tmp_path / "secret.png")
    names = ("pictures/1.png", "../secret.png", "pictures/2.png", str(tmp_path / "secret.png"))
    found = painted(run, Answer(item="1", files=names))
    assert len(found) == 1
    assert found[0].startswith("data:image/")


def test_people_have_rows_of_their_own(made: ModuleType, tmp_path: Path) -> None:
    made.write(tmp_path / "ann", "spacenli@fresh", "people:ann", made.entailment(20, 5))
    page = client(tmp_path).get("/").text
    table = page.partition('class="crosstable"')[2].partition("</table>")[0]
    assert "people:ann" in table
    assert 'href="/run/ann"' in page


def test_titles_of_benchmarks_are_for_people(viewer: TestClient) -> None:
    assert "<bdi>Sizes and heights of objects</bdi>" in viewer.get("/run/pairs").text


def test_a_run_without_answers_yet_is_not_called_damaged(made: ModuleType, tmp_path: Path) -> None:
    items = made.entailment(4, 5)
    made.write(tmp_path / "begun", "spacenli@fresh", "m", items, answered=0, finished=False)
    page = client(tmp_path).get("/").text
    assert "0 of 20 items" in page
    assert "cannot be read" not in page


def test_a_run_s_folder_may_have_any_name(made: ModuleType, tmp_path: Path) -> None:
    made.write(tmp_path / "a b?c#d", "spacenli@fresh", "m", made.entailment(4, 5))
    viewer = client(tmp_path)
    address = html.unescape(re.findall(r'href="(/run/[^"]+)"', viewer.get("/").text)[0])
    for page in (address, f"{address}/items", f"{address}/delete"):
        assert viewer.get(page).status_code == 200
    assert f'action="{address}/delete"' in html.unescape(viewer.get(f"{address}/delete").text)


def test_runs_of_one_model_are_told_apart_on_their_pages_and_have_chance(tmp_path: Path) -> None:
    for seed in (1, 2):
        gnomon.run(
            "posrel", gnomon.model("random", model_seed=seed), limit=20, runs=tmp_path / "runs"
        )
    viewer = client(tmp_path / "runs")
    folders = sorted(folder.name for folder in (tmp_path / "runs").iterdir())
    assert len(folders) == 2
    for folder in folders:
        page = html.unescape(viewer.get(f"/run/{folder}").text).replace("\xa0", " ")
        assert re.search(r"<h1>.*random \(model seed [12]\).*</h1>", page)
        peers = page.partition('id="peers"')[2].partition("</ul>")[0]
        assert re.search(r"random \(model seed [12]\)", peers)
        scores = page.partition('id="scores"')[2].partition("</table>")[0]
        assert "25.0 %" in scores
        assert "chance" in scores.lower()
