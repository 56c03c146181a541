"""The page of a knowledge folder: what it shows, how much, and how it is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gnomon.look import page as knowledge_page
from gnomon.look.page import write_knowledge_page
from gnomon.vision.knowledge import PropertyFinding

pytest.importorskip("jinja2")
PIL = pytest.importorskip("PIL.Image")
EVIL = "<script>alert(1)</script>"


def pair(
    first: str, second: str, property: str, counts: dict[str, int], **fields: Any
) -> PropertyFinding:
    total = sum(counts.values())
    return PropertyFinding(
        what=f"{first}|{second}",
        property=property,
        objects=(first, second),
        counts=counts,
        distribution={label: count / total for label, count in counts.items()},
        intervals=dict.fromkeys(counts, (0.2, 0.9)),
        pictures=total,
        **fields,
    )


FINDINGS = {
    "colour": [
        PropertyFinding(
            what="car",
            property="colour",
            objects=("car",),
            counts={"red": 3, "blue": 1},
            distribution={"red": 0.75, "blue": 0.25},
            intervals={"red": (0.3, 0.95), "blue": (0.05, 0.7)},
            typical=("red",),
            examples={"red": ("r1",), "blue": ("gone",)},
            pictures=4,
        ),
        PropertyFinding(what=EVIL, property="colour", objects=(EVIL,), pictures=1),
    ],
    "size": [
        pair("car", "cup", "size", {">": 9, "<": 1}, typical=(">",), examples={">": ("r1", "r2")})
    ],
    "elevation": [
        pair(
            "cup", "rug", "elevation", {">": 2, "=": 1, "<": 0}, scene="living_room", typical=(">",)
        )
    ],
}


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page."""
    folder = tmp_path_factory.mktemp("knowledge")
    PIL.new("RGB", (300, 200), "red").save(folder / "p.jpg")
    for name, found in FINDINGS.items():
        lines = b"\n".join(msgspec.json.encode(each) for each in found)
        (folder / f"{name}.jsonl").write_bytes(lines + b"\n")
    places = [
        {"id": "r1", "file": str(folder / "p.jpg"), "box": [0.1, 0.1, 0.6, 0.9], "name": "car"},
        {"id": "r2", "file": str(folder / "p.jpg"), "box": [0.7, 0.5, 0.701, 0.501], "name": "cup"},
        {"id": "gone", "file": str(folder / "gone.jpg"), "box": [0, 0, 1, 1], "name": "car"},
    ]
    lines_of = "\n".join(json.dumps(place) for place in places)
    (folder / "regions.jsonl").write_text(lines_of + "\n")
    manifest = {
        "pictures": 10,
        "mode": "right+swapped_axes",
        "switches": {"swapped_axes": ""},
        "agreement": [
            {
                "property": "size",
                "beside": "fresh",
                "meet": 9,
                "agree": 8,
                "share": 8 / 9,
                "low": 0.5,
                "high": 0.98,
                "disagree": ["car / person: smaller, not larger"],
            }
        ],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "troubles.jsonl").write_text('{"what": "a"}\n{"what": "b"}\n')
    write_knowledge_page(folder)
    return folder


def data_in(folder: Path) -> dict[str, Any]:
    text = (folder / "page.html").read_text()
    start = text.index('id="found">') + len('id="found">')
    found: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return found


def test_each_object_has_what_is_known_from_its_side(knowledge: Path) -> None:
    objects = {each["name"]: each for each in data_in(knowledge)["objects"]}
    (size,) = objects["cup"]["pairs"][0]["pairs"]
    assert size["other"] == "car"
    assert size["typical"] == ["smaller than"]
    assert size["labels"]["smaller than"]["count"] == 9
    (elevation,) = objects["rug"]["pairs"][0]["pairs"]
    assert elevation["typical"] == ["lower down than"]
    assert objects["car"]["colour"]["labels"]["red"]["crops"] == [0]


def test_crops_whose_picture_is_gone_are_left_out(knowledge: Path) -> None:
    found = data_in(knowledge)
    (car,) = [each for each in found["objects"] if each["name"] == "car"]
    assert car["colour"]["labels"]["blue"]["crops"] == []
    assert all(crop.startswith("data:image/jpeg;base64,") for crop in found["crops"])
    assert len(found["crops"]) == 3, "the car, and the pair from both sides"


def test_the_page_says_how_it_was_made_and_what_was_skipped(knowledge: Path) -> None:
    text = (knowledge / "page.html").read_text()
    assert "What 10 pictures show" in text
    assert "2 troubles in troubles.jsonl" in text
    assert "rows and columns swapped" in text
    assert "50\u00a0% to 98\u00a0%" in text
    assert "car / person: smaller, not larger" in text


def test_nothing_in_the_data_is_markup(knowledge: Path) -> None:
    assert EVIL not in (knowledge / "page.html").read_text()


def test_there_are_only_so_many_crops(
    knowledge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in knowledge.glob("*.jsonl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(knowledge_page, "MOST_CROPS", 1)
    write_knowledge_page(tmp_path)
    assert len(data_in(tmp_path)["crops"]) == 1


def test_an_empty_folder_has_a_page(tmp_path: Path) -> None:
    write_knowledge_page(tmp_path)
    assert data_in(tmp_path) == {"objects": [], "crops": []}


@pytest.mark.browser
def test_an_object_is_found_by_keyboard(knowledge: Path, tab: Any) -> None:
    shown = tab((knowledge / "page.html").as_uri())
    page = shown.page
    page.keyboard.press("Tab")
    page.focus("#q")
    page.keyboard.type("cup")
    assert page.locator("#rows tr:visible").count() == 1
    assert page.locator("#count").inner_text() == "1 object"
    page.keyboard.press("Enter")
    page.locator("#object h3", has_text="cup").wait_for()  # shown when the address has changed
    assert page.locator("#object h3").inner_text() == "cup"
    assert page.evaluate("document.activeElement.id") == "object"
    assert "smaller than" in page.locator("#object").inner_text()
    assert page.locator("#object img").count() == 1
    assert shown.errors == []
    assert shown.strays == []


@pytest.mark.browser
def test_the_page_fits_a_phone_and_keeps_nobody_out(knowledge: Path, tab: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = tab((knowledge / "page.html").as_uri())
    page = shown.page
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = axe.Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
