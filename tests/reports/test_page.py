from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import gnomon
import gnomon.reports.page.headline as headline_module
from gnomon.errors import UsageError
from gnomon.records import Answer, Image, Item
from gnomon.reports.page.headline import headline
from gnomon.reports.page.page import write_report
from gnomon.reports.page.summary import sentences
from gnomon.reports.papers import Result
from gnomon.reports.study import studies
from gnomon.reports.words import measure_name
from gnomon.runs import Run, RunLog

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "--></script><svg onload=alert(1)>",
    "]]>",
    "{{ 7*7 }}{% raw %}",
    "\u202eevil\u202c",
    "</style><style>*{display:none}",
)


class Tags(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    names = ("good", "middling", "guess", "pairs", "colours")
    out = write_report(
        [runs / name for name in names], tmp_path_factory.mktemp("page") / "report.html"
    )
    return out.read_text(encoding="utf-8")


def test_the_same_runs_give_the_same_bytes(runs: Path, tmp_path: Path) -> None:
    one = write_report([runs / "good"], tmp_path / "report.html").read_bytes()
    two = write_report([runs / "good"], tmp_path / "report.html").read_bytes()
    assert one == two


def test_the_policy_names_the_one_style_sheet_and_the_one_script(page: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    policy = policy.replace("&#39;", "'")
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    for name, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    seen = Tags(page).seen
    links = 0
    for tag, attributes in seen:
        for name in ("src", "href", "action", "srcset", "data"):
            value = attributes.get(name) or ""
            links += value.startswith("#")
            kept = "download" in attributes and value.startswith("data:text/yaml")
            assert value == "" or value.startswith("#") or kept, (tag, name, value)
        assert tag not in ("iframe", "object", "embed", "link", "base")
    assert links > 5  # the page's own sections


def test_no_element_has_a_style_or_handler_attribute(page: str) -> None:
    seen = Tags(page).seen
    names = {name for _, attributes in seen for name in attributes}
    assert {"class", "id", "href"} <= names
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_every_id_occurs_once_and_every_reference_leads_somewhere(page: str) -> None:
    seen = [attributes for _, attributes in Tags(page).seen]
    ids = [a["id"] for a in seen if a.get("id")]
    assert len(ids) > 20
    assert len(ids) == len(set(ids))
    for attributes in seen:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set((attributes.get(name) or "").split()) <= set(ids)
        href = attributes.get("href") or ""
        place, _, _ = href[1:].partition("?")  # items have addresses with what is shown of them
        assert not href.startswith("#") or place in ids


def test_whatever_models_and_data_say_is_text(made: ModuleType, tmp_path: Path) -> None:
    items = [
        Item(
            id=f"{i}{text}",
            form="choice",
            text=text,
            context=text,
            choices=("no", text),
            gold=(text,),
            group=text,
            tags={"kind": text, text: "x"},
        )
        for i, text in enumerate(HOSTILE * 4)
    ]
    run = made.write(
        tmp_path / "r",
        "b<script>@fresh",
        "m<script>alert(1)</script>",
        items,
        replies=list(HOSTILE),
        description={"prompt": HOSTILE[0], HOSTILE[1]: HOSTILE[2]},
        options={HOSTILE[0]: HOSTILE[1]},
    )
    page = write_report([run], tmp_path / "report.html").read_text(encoding="utf-8")
    tags = Tags(page).seen
    assert [tag for tag, _ in tags].count("script") == 2  # the packed items and our own
    assert not [tag for tag, _ in tags if tag in ("img", "object", "iframe")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page  # shown, not evaluated


def test_a_report_of_nothing_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        write_report([], tmp_path / "report.html")


def test_one_run_its_folder_and_a_folder_of_runs_can_be_reported(
    made: ModuleType, tmp_path: Path
) -> None:
    run = made.write(tmp_path / "runs" / "r", "spacenli@fresh", "m", made.entailment(3, 4))
    pages = [
        write_report(what, tmp_path / f"{i}.html", command="same").read_bytes()
        for i, what in enumerate((run, [run], run.path, str(run.path), tmp_path / "runs"))
    ]
    assert len(set(pages)) == 1


def test_a_link_stays_a_link_and_a_device_a_device(runs: Path, tmp_path: Path) -> None:
    write_report([runs / "good"], tmp_path / "real.html")  # in place of what Gnomon wrote
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    write_report([runs / "good"], tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert "What hf:roberta" in (tmp_path / "real.html").read_text(encoding="utf-8")
    write_report([runs / "good"], "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_run_that_has_just_begun_can_be_reported(made: ModuleType, tmp_path: Path) -> None:
    run = made.write(
        tmp_path / "r", "spacenli@fresh", "m", made.entailment(3, 4), answered=0, finished=False
    )
    assert "12 not asked yet" in write_report([run], tmp_path / "report.html").read_text(
        encoding="utf-8"
    )


def test_the_summary_says_accuracy_and_whole_groups(made: ModuleType, tmp_path: Path) -> None:
    items = [
        Item(
            id=f"{g}-{i}",
            form="choice",
            text="?",
            choices=("no", "yes"),
            gold=("yes",),
            group=str(g),
        )
        for g in range(4)
        for i in range(5)
    ]
    run = made.write(tmp_path / "r", "spacenli@fresh", "m", items, answered=0, scale="none")
    log = RunLog(tmp_path / "r")  # the first pattern wholly right, the others but for one item
    log.add_answers(
        [
            (n, Answer(item=item.id, choice="no" if n % 5 == 0 and n else "yes"))
            for n, item in enumerate(items)
        ]
    )
    log.close()
    study = studies([run])[0]
    said = " ".join(sentences(study, headline(study))).replace("\xa0", " ")
    assert said.startswith(
        "m is right on 17 of 20 items of “Inference from sentences about space” (fresh), better than chance (50 %), "
        "but gets only 25 % of its 4 patterns (5 items each) right throughout."
    )
    assert "In the paper, on its own items, the best model, " in said


def test_the_page_and_score_agree_to_the_digit_on_an_unfinished_run(
    made: ModuleType, tmp_path: Path
) -> None:
    """Items that were not asked count for neither; one that failed is wrong for both."""
    items = list(made.entailment(24, 20))

    def say(item: Item) -> Answer:
        if item.id.endswith("-3"):
            return Answer(item=item.id, error="timeout")
        return made.answer(item, 0.6, 1, "log-probability")

    run = made.write(
        tmp_path / "r", "spacenli@fresh", "m", items, say=say, answered=0.7, finished=False
    )
    text = write_report([run], tmp_path / "report.html").read_text(encoding="utf-8")
    ours = text.partition('<tr class="paper">')[0]
    shown = dict(re.findall(r'<td class="num" data-name="([^"]+)" data-value="([0-9.]+)"', ours))
    expected = {measure_name(s.measure): s for s in gnomon.score(run) if s.value is not None}
    assert set(shown) >= {"Accuracy", "Pattern accuracy @0.9", "Pattern accuracy area"}
    assert shown.pop("Items") == str(round(len(items) * 0.7))
    for name, value in shown.items():
        assert float(value) == expected[name].value, name
        assert f"{100 * expected[name].value:.1f}\xa0%" in text
        assert f"{100 * expected[name].low:.1f}–{100 * expected[name].high:.1f}" in text
    assert "336 of 480" in text


def test_pictures_are_named_where_their_items_are_shown(made: ModuleType, tmp_path: Path) -> None:
    images = (Image(path="photos/cat & <dog>.jpg"),)
    items = []
    for i in range(4):
        gold = ("yes",)
        item = Item(id=str(i), form="caption", text="?", choices=("no", "yes"), gold=gold)
        items.append(msgspec.structs.replace(item, images=images))
    run = made.write(tmp_path / "r", "quiz@fresh", "m", items)
    page = write_report([run], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "picture: <bdi>photos/cat &amp; &lt;dog&gt;.jpg</bdi>" in page


def test_published_models_stand_beside_the_runs(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def result(model: str, value: float, by: str = "", key: str = "") -> Result:
        return Result(
            paper="liu2022",
            table="Table 2",
            model=model,
            kind="model",
            variant="",
            benchmark="scales",
            form="",
            measure="accuracy",
            by=by,
            key=key,
            value=value,
            sd=None,
            note="",
        )

    published = [result("BERT", 0.49), result("BERT", 0.51, "scale", "size"), result("VinVL", 0.99)]
    monkeypatch.setattr(headline_module, "results_of", lambda spec: published)
    study = studies([Run.open(runs / "pairs")])[0]
    assert study.spec is not None
    lines = headline(study).lines
    assert [line.model for line in lines] == [
        "smollm2",
        "VinVL",
        "BERT",
    ]  # other items: not ranked among them
    assert lines[1].source == "Table 2"
    assert lines[1].cells[0] is not None
    assert lines[1].cells[0].value == 0.99
