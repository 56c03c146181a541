"""A real Label Studio: 60 captions with pictures go there, four people answer, all comes back once."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

httpx = pytest.importorskip("httpx", reason="the extra 'people' is not installed")
pytest.importorskip("starlette", reason="the extra 'people' is not installed")

from gnomon.cli import main
from gnomon.items.writing import write_items
from gnomon.people.answering import AskedItems, PersonSettings
from gnomon.people.labelstudio.projects import push
from gnomon.people.labelstudio.pulling import pull
from gnomon.people.labelstudio.server import LabelStudio, ServerError
from gnomon.people.order import read_extras
from gnomon.people.tasks import TASKS, task_named
from gnomon.records import Item
from gnomon.runs import runs_in
from tests.people.conftest import SECRET, picture
from tests.people.labelstudio_server import (
    NOT_INSTALLED,
    OWNER,
    PASSWORD,
    TOKEN,
    Annotator,
    choice,
    label_studio,
    program,
)

pytestmark = pytest.mark.labelstudio
COUNT = 60
LABELS = ("false", "true")
PROJECT = "sixty captions"
ANSWERS = {
    "choose": {"choice": "neutral"},
    "scale": {"scale": "4"},
    "validate": {"choice": "false"},
    "contrast": {"order": "ba", "relation": "contains", "true_of": "1"},
    "picture": {"a": "yes", "b": "yes", "relation": "smaller"},
}
TAPS = {  # what a person clicks to say so: a label, and which of those that have it
    "choose": [("One cannot tell", 0)],
    "scale": [("most likely true", 0)],
    "validate": [("False", 0)],
    "contrast": [("The box … the cat", 0), ("contains", 0), ("Second picture", 0)],
    "picture": [("Yes", 0), ("Yes", 1), ("smaller", 0)],
}
IN_BROWSER = 4  # captions that somebody answers by hand, before one is skipped


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = program()
    if file is None:
        pytest.skip(NOT_INSTALLED)
    with label_studio(file, tmp_path_factory.mktemp("label-studio")) as found:
        yield found


@pytest.fixture
def join(address: str) -> Iterator[Callable[[str], Annotator]]:
    """join(name): somebody who signs up."""
    with ExitStack() as all_closed:

        def sign_up(name: str) -> Annotator:
            person = Annotator(address, f"{name}@uni.example")
            all_closed.callback(person.web.close)
            return person

        yield sign_up


def sixty_captions(folder: Path) -> list[Item]:
    items = []
    for number in range(COUNT):
        gold = LABELS[number % 2]
        image = picture(folder / f"{SECRET}-{gold}-{number}.png", f"hsl({number * 6}, 60%, 50%)")
        items.append(
            Item(
                id=f"{SECRET}-{gold}-{number}",
                form="caption",
                text=f"The cat is on box {number}.",
                choices=LABELS,
                gold=(gold,),
                tags={"relation": f"{SECRET}-on"},
                images=(image,),
            )
        )
    return items


def number_in(text: str) -> int:
    found = re.search(r"box (\d+)\.", text)
    assert found is not None
    return int(found[1])


def known_votes() -> dict[str, list[str]]:
    """What three people say about each caption: mostly the right label."""
    draw = random.Random(11)
    votes = {}
    for name, care in (("ann", 0.9), ("ben", 0.8), ("cleo", 0.7)):
        said = []
        for number in range(COUNT):
            right = draw.random() < care
            said.append(LABELS[number % 2] if right else LABELS[1 - number % 2])
        votes[name] = said
    return votes


def answers_in(runs: Path) -> dict[str, dict[int, Any]]:
    """What the logs hold: the answers of each person by the number of the caption."""
    found: dict[str, dict[int, Any]] = {}
    for run in runs_in(runs):
        logged = [(number_in(item.text), answer) for item, answer in run.answers()]
        assert len(dict(logged)) == len(logged)
        found[run.manifest.model.partition(":")[2]] = dict(logged)
    return found


def open_project(page: Any, address: str, project: int, email: str) -> None:
    """Log in, go to the tasks, and close the instructions."""
    page.set_default_timeout(120_000)
    page.goto(f"{address}/user/login/")
    page.fill("input[name=email]", email)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(f"{address}/projects/{project}/data?labeling=1")
    page.get_by_text("Labeling Instructions").wait_for()
    page.keyboard.press("Escape")
    page.get_by_text("Labeling Instructions").wait_for(state="detached")


def press(page: Any, button: str) -> None:
    """Submit or skip, and wait until the server has it."""
    with page.expect_response(re.compile(r"/api/tasks/\d+/annotations")) as sent:
        page.get_by_test_id(f"bottombar-{button}-button").click()
    assert sent.value.status == 201, sent.value.text()


def answer_in_browser(
    page: Any, address: str, project: int, email: str
) -> tuple[dict[int, str], int]:
    """Log in, answer a few captions, skip one; gives what was said, and the caption that was skipped."""
    open_project(page, address, project, email)
    said: dict[int, str] = {}
    caption = page.get_by_text(re.compile(r"The cat is on box \d+\.")).first
    for _ in range(IN_BROWSER):
        caption.wait_for()
        number = number_in(caption.inner_text())
        said[number] = LABELS[number % 3 == 0]
        page.locator(".lsf-choice").filter(has_text=said[number].title()).first.click()
        press(page, "submit")
        page.get_by_text(f"box {number}.").first.wait_for(state="detached")
    caption.wait_for()
    skipped = number_in(caption.inner_text())
    page.locator(".lsf-choice").filter(has_text="not in the picture").first.click()
    press(page, "skip")
    return said, skipped


def agreed(runs: list[Path], capsys: Any) -> dict[str, float]:
    """The figures of `gnomon people agree` by their names."""
    capsys.readouterr()
    assert main(["people", "agree", *map(str, runs), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {figure["name"]: figure["value"] for figure in found["agreement"]}


def test_sixty_captions_go_there_and_four_people_s_answers_come_back(
    address: str,
    join: Callable[[str], Annotator],
    browser: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    inter_rater = pytest.importorskip(
        "statsmodels.stats.inter_rater", reason="statsmodels is not installed"
    )
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    write_items(tmp_path / "captions.jsonl", sixty_captions(tmp_path))
    command = ["people", "ask", str(tmp_path / "captions.jsonl"), "--task", "validate"]
    command += ["--label-studio", address, "--set", f"project={PROJECT}"]

    for new in (COUNT, 0):
        assert main([*command, "--push", "--set", "overlap=4"]) == 0
        told = capsys.readouterr().out
        assert f"{COUNT} items, {new} of them new; 4 people for each" in told
    project = int(re.search(r"/projects/(\d+)", told)[1])

    # what the server has
    people = {name: join(name) for name in ("ann", "ben", "cleo", "dan")}
    tasks = people["ann"].tasks(project)
    assert sorted(number_in(task["data"]["text"]) for task in tasks) == list(range(COUNT))
    assert len({task["data"]["picture1"] for task in tasks}) == COUNT
    seen = httpx.get(
        address + tasks[0]["data"]["picture1"], headers={"Authorization": f"Token {TOKEN}"}
    )
    assert seen.headers["Content-Type"] == "image/jpeg"
    assert seen.content.startswith(b"\xff\xd8")
    assert SECRET.encode() not in seen.content
    whole = people["ann"].web.get(
        "/api/tasks/", params={"project": project, "fields": "all", "page_size": 500}
    )
    assert SECRET not in whole.text
    assert all(task["predictions"] == [] for task in whole.json()["tasks"])

    # three people over REST, one in the browser
    votes = known_votes()
    made: dict[tuple[str, int], int] = {}
    for name in ("ann", "ben", "cleo"):
        for task in people[name].tasks(project):
            number = number_in(task["data"]["text"])
            made[name, number] = people[name].answer(task["id"], votes[name][number])
    tab = browser.new_page()
    said, skipped = answer_in_browser(tab, address, project, people["dan"].email)
    tab.close()

    # all comes back, and once
    names = ",".join(f"{name}={person.id}" for name, person in people.items())
    runs = tmp_path / "runs"
    for new in (True, False):
        assert main([*command, "--pull", "--people", names, "--runs", str(runs)]) == 0
        told = capsys.readouterr().out
        for name in ("ann", "ben", "cleo"):
            assert (
                f"{name} (user {people[name].id}): 60 answers; {60 * new} new, 0 changed." in told
            )
        few = f"{IN_BROWSER} answers, 1 skipped; {(IN_BROWSER + 1) * new} new, 0 changed."
        assert f"dan (user {people['dan'].id}): {few}" in told
        found = answers_in(runs)
        assert set(found) == {"ann", "ben", "cleo", "dan"}
        for name in ("ann", "ben", "cleo"):
            assert [found[name][n].choice for n in range(COUNT)] == votes[name]
        assert found["dan"].pop(skipped).error == "skipped: missing"
        assert {number: answer.choice for number, answer in found["dan"].items()} == said

    # agreement, beside other people's programs
    folders = {run.manifest.model.partition(":")[2]: run.path for run in runs_in(runs)}
    three = [
        [LABELS.index(votes[name][n]) for n in range(COUNT)] for name in ("ann", "ben", "cleo")
    ]
    counts, _ = inter_rater.aggregate_raters(np.array(three).T)
    figures = agreed([folders[name] for name in ("ann", "ben", "cleo")], capsys)
    alpha, fleiss = figures_named(figures, "alpha"), figures_named(figures, "Fleiss")
    assert fleiss == pytest.approx(inter_rater.fleiss_kappa(counts, method="fleiss"), abs=1e-9)
    expected = krippendorff.alpha(reliability_data=three, level_of_measurement="nominal")
    assert alpha == pytest.approx(expected, abs=1e-9)
    few_votes = [LABELS.index(said[n]) if n in said else np.nan for n in range(COUNT)]
    expected = krippendorff.alpha([*three, few_votes], level_of_measurement="nominal")
    assert figures_named(agreed([runs], capsys), "alpha") == pytest.approx(expected, abs=1e-9)

    # a change of mind
    other = LABELS[1 - LABELS.index(votes["ann"][7])]
    about = people["ann"].web.get(f"/api/annotations/{made['ann', 7]}/").json()
    about["result"][0]["value"]["choices"] = [f"={other}"]
    people["ann"].send("PATCH", f"/api/annotations/{made['ann', 7]}/", {"result": about["result"]})
    assert main([*command, "--pull", "--people", names, "--runs", str(runs)]) == 0
    assert (
        f"ann (user {people['ann'].id}): 60 answers; 0 new, 1 changed." in capsys.readouterr().out
    )
    assert answers_in(runs)["ann"][7].choice == other
    private = [
        file for file in runs.rglob("*") if file.is_file() and b"uni.example" in file.read_bytes()
    ]
    assert private == []


def figures_named(figures: dict[str, float], part: str) -> float:
    [found] = [value for name, value in figures.items() if part.lower() in name.lower()]
    return found


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_goes_there_once_and_its_answers_come_back(
    kind: str, address: str, asked_of: Any, tmp_path: Path
) -> None:
    asked: AskedItems = asked_of(kind, tmp_path)
    task = task_named(kind)
    answers = ANSWERS[kind]
    with LabelStudio(address, TOKEN) as server:
        done = push(server, asked, task, f"all {kind}", 1)
        again = push(server, asked, task, f"all {kind}", 1)
        assert (done.new, again.new, again.pictures) == (len(asked.items), 0, 0)
        about = (
            "context"
            if kind in ("choose", "scale")
            else "text"
            if kind == "validate"
            else "picture1"
        )
        listed = server.get("/api/tasks/", project=done.project.id)["tasks"]
        result = []
        for name, value in answers.items():
            result.append(choice(name, value, about))
        for entry in listed:
            server.post(f"/api/tasks/{entry['id']}/annotations/", {"result": result})
        for new in (len(asked.items), 0):
            pulled = pull(server, asked, PersonSettings(task), tmp_path / "runs", f"all {kind}")
            assert [(one.answers, one.new) for one in pulled.people] == [(len(asked.items), new)]
            assert (pulled.incomplete, pulled.foreign) == (0, 0)


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_can_be_answered_in_a_browser(
    kind: str,
    address: str,
    browser: Any,
    asked_of: Any,
    tmp_path: Path,
) -> None:
    asked: AskedItems = asked_of(kind, tmp_path)
    task = task_named(kind)
    with LabelStudio(address, TOKEN) as server:
        project = push(server, asked, task, f"by hand {kind}", 1).project
        context = browser.new_context()
        page = context.new_page()
        open_project(page, address, project.id, OWNER)
        for label, place in TAPS[kind]:
            page.locator(".lsf-choice").filter(has_text=label).nth(place).click()
        press(page, "submit")
        context.close()
        [person] = pull(
            server, asked, PersonSettings(task), tmp_path / "runs", project.title
        ).people
    [extra] = read_extras(person.folder)
    assert extra.response == ANSWERS[kind]


def test_a_personal_access_token_works(address: str, join: Callable[[str], Annotator]) -> None:
    person = join("eve")
    token = person.send("POST", "/api/token/", {})["token"]
    assert token.count(".") == 2
    with LabelStudio(address, token) as server:
        assert server.get("/api/current-user/whoami")["id"] == person.id


def test_a_wrong_token_is_refused(address: str) -> None:
    for wrong in ("0" * 40, "a.b.c"):
        with (
            LabelStudio(address, wrong) as server,
            pytest.raises(ServerError, match="refuses the token"),
        ):
            server.get("/api/projects/")
