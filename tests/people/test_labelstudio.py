"""Items go to a Label Studio server and answers come back, once each; nothing else is given away."""

from __future__ import annotations

import gzip
import json
import re
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree

import pytest

httpx = pytest.importorskip("httpx", reason="the extra 'people' is not installed")
pytest.importorskip("starlette", reason="the extra 'people' is not installed")

from gnomon.cli import main
from gnomon.errors import DataError, GnomonError, RunError, UnencryptedWarning, UsageError
from gnomon.people.answering import AskedItems, PersonSettings, open_person_run
from gnomon.people.labelstudio.projects import keyed_items, push
from gnomon.people.labelstudio.pulling import Pulled, pull, read_names
from gnomon.people.labelstudio.server import LabelStudio, ServerError, read_token
from gnomon.people.labelstudio.wording import configuration, form_of
from gnomon.people.order import EXTRAS, read_extras
from gnomon.people.tasks import (
    TASKS,
    Option,
    PersonQuestion,
    QuestionPart,
    QuestionText,
    task_named,
)
from gnomon.records import Item
from gnomon.runs import runs_in
from tests.people.labelstudio_fake import PERSONAL, TOKEN, URL, FakeLabelStudio, unread

SECRET = b"zqgold"
ANSWERS = {
    "choose": {"choice": "neutral"},
    "scale": {"scale": "4"},
    "validate": {"choice": "false"},
    "contrast": {"order": "ba", "relation": "contains", "true_of": "1"},
    "picture": {"a": "yes", "b": "yes", "relation": "smaller"},
}
TITLE = "a set"


@pytest.fixture
def fake() -> FakeLabelStudio:
    return FakeLabelStudio()


def server(fake: FakeLabelStudio, token: str = TOKEN) -> LabelStudio:
    return LabelStudio(URL, token, transport=fake.transport)


def push_to(fake: FakeLabelStudio, asked: AskedItems, kind: str, overlap: int | None = 3) -> Any:
    with server(fake) as there:
        return push(there, asked, task_named(kind), TITLE, overlap)


def pull_from(
    fake: FakeLabelStudio, asked: AskedItems, kind: str, runs: Path, names: Any = None
) -> Pulled:
    with server(fake) as there:
        return pull(there, asked, PersonSettings(task_named(kind)), runs, TITLE, names)


def answers_in(runs: Path) -> dict[str, dict[str, Any]]:
    """What the log of each person holds, by item."""
    found = {}
    for run in runs_in(runs):
        logged = [(item.id, answer) for item, answer in run.answers()]
        assert len(dict(logged)) == len(logged)  # none is doubled
        found[run.manifest.model] = dict(logged)
    return found


# push


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_becomes_a_project_with_a_task_for_each_item(
    kind: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of(kind, tmp_path)
    done = push_to(fake, asked, kind)
    assert (done.total, done.new) == (len(asked.items), len(asked.items))
    project = fake.projects[0]
    assert (project["title"], project["maximum_annotations"]) == (TITLE, 3)
    assert task_named(kind).instructions[0].split()[0] in project["expert_instruction"]
    config = ElementTree.fromstring(project["label_config"])
    names = [tag.get("name") for tag in config.iter("Choices")]
    assert names == [*ANSWERS[kind], "skip"]
    for task in fake.tasks[1]:
        for field in re.findall(r'"\$(\w+)"', project["label_config"]):
            assert field in task["data"]


@pytest.mark.parametrize("kind", TASKS)
def test_pushing_again_sends_nothing(
    kind: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of(kind, tmp_path)
    push_to(fake, asked, kind)
    before = (
        len(fake.sent),
        len(fake.tasks[1]),
        {key: list(files) for key, files in fake.files.items()},
    )
    again = push_to(fake, asked, kind)
    assert (again.new, again.pictures) == (0, 0)
    assert {method for method, _, _ in fake.sent[before[0] :]} == {"GET"}
    assert len(fake.tasks[1]) == before[1]
    assert fake.files == before[2]


def test_items_that_came_later_are_added(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    whole = asked_of("validate", tmp_path)
    push_to(fake, whole._replace(items=whole.items[:1]), "validate")
    with pytest.raises(RunError, match="for other items"):  # the first caption needs no note
        push_to(fake, whole, "validate")
    other = FakeLabelStudio()
    push_to(other, whole._replace(items=whole.items[:2]), "validate")
    assert push_to(other, whole, "validate").new == 1
    assert len(other.tasks[1]) == 3


@pytest.mark.parametrize("kind", [kind for kind in TASKS if kind != "contrast"])
def test_what_is_sent_does_not_depend_on_right_answers_or_ids(
    kind: str, asked_of: Any, tmp_path: Path
) -> None:
    """The ids and file names of these items hold the right answers, and so do their tags."""
    sent = []
    for gold in (0, 1):
        fake = FakeLabelStudio()
        push_to(fake, asked_of(kind, tmp_path, gold), kind)
        bodies = [body for _, _, body in fake.sent]
        sent.append([body for body in bodies if not body.startswith(b"--")])  # pictures aside
        assert fake.tasks[1]
    assert sent[0] == sent[1]


@pytest.mark.parametrize("kind", TASKS)
def test_nothing_is_sent_but_questions_and_pixels(
    kind: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of(kind, tmp_path)
    push_to(fake, asked, kind)
    everything = b"\n".join(path.encode() + body for _, path, body in fake.sent)
    assert len(everything) > 1000
    for hidden in (
        SECRET,
        b"prediction_",
        b'"predictions"',
        b'"annotations"',
        b"gold",
        TOKEN.encode(),
    ):
        assert hidden not in everything
    for tasks in fake.tasks.values():
        for task in tasks:
            assert set(task) == {"id", "annotations", "data"}  # the first two are the server's


def test_the_order_of_tasks_is_not_that_of_items(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    keys = [task["data"]["gnomon"] for task in fake.tasks[1]]
    assert keys == sorted(keys) != list(keyed_items(task_named("choose"), asked.items))


def test_overlap_can_be_changed_later(fake: FakeLabelStudio, asked_of: Any, tmp_path: Path) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose", None)
    assert fake.projects[0]["maximum_annotations"] == 1
    push_to(fake, asked, "choose", 4)
    assert push_to(fake, asked, "choose", None).project.overlap == 4
    with pytest.raises(UsageError, match="overlap"):
        push_to(fake, asked, "choose", 0)


def test_items_that_look_the_same_are_tasks_of_their_own(fake: FakeLabelStudio) -> None:
    items = [
        Item(id=str(n), form="choice", text="?", choices=("a", "b"), gold=("a",)) for n in range(3)
    ]
    push_to(fake, AskedItems("same@file", {}, None, tuple(items)), "choose")
    assert len(fake.tasks[1]) == 3


def test_words_of_items_are_never_markup() -> None:
    hostile = '"/><Choice value="x"/> & <script>'
    option = Option(hostile, hostile)
    question = PersonQuestion(
        (QuestionText("text", hostile),),
        (),
        (QuestionPart("choice", hostile, (option, Option("b", "B"))),),
    )
    config = configuration(form_of(task_named("choose"), [question]))
    root = ElementTree.fromstring(config)
    written = root.find("Choices")
    assert written is not None
    assert [choice.get("alias") for choice in written] == [f"={hostile}", "=b"]
    assert root.find(".//script") is None


@pytest.mark.parametrize("label", ["$text", "bell\a", "false", "5"])
def test_options_that_a_configuration_cannot_hold_go_with_the_task(
    label: str, fake: FakeLabelStudio
) -> None:
    item = Item(id="1", form="choice", text="?", choices=(label, "b"), gold=("b",))
    push_to(fake, AskedItems("odd@file", {}, None, (item,)), "choose")
    assert 'value="$options_choice"' in fake.projects[0]["label_config"]
    options = fake.tasks[1][0]["data"]["options_choice"]
    assert [option["alias"] for option in options] == [f"={label}", "=b"]


@pytest.mark.parametrize("kind", TASKS)
def test_no_value_is_written_that_label_studio_takes_for_no_text(
    kind: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    """A Choice whose alias is "true" or "1" leaves its page blank (seen with 1.23.2)."""
    push_to(fake, asked_of(kind, tmp_path), kind)
    choices = list(ElementTree.fromstring(fake.projects[0]["label_config"]).iter("Choice"))
    assert choices
    for choice in choices:
        for name in ("value", "alias"):
            assert re.search(r"^=|[a-z]", choice.attrib[name])
            assert choice.attrib[name] not in ("true", "false")


def test_items_with_different_numbers_of_pictures_are_refused() -> None:
    questions = [PersonQuestion((), ("Picture",) * count, ()) for count in (1, 2)]
    with pytest.raises(DataError, match="more pictures"):
        form_of(task_named("choose"), questions)


# pull


@pytest.mark.parametrize("kind", TASKS)
def test_answers_come_back_as_runs_as_if_given_on_the_page(
    kind: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of(kind, tmp_path)
    push_to(fake, asked, kind)
    for task in fake.tasks[1]:
        fake.annotate(task, 3, ANSWERS[kind], comment="hm")
    done = pull_from(fake, asked, kind, tmp_path / "pulled", {3: "ann"})
    assert [(one.name, one.answers, one.new) for one in done.people] == [
        ("ann", len(asked.items), len(asked.items))
    ]

    run = open_person_run(asked, "ann", PersonSettings(task_named(kind)), tmp_path / "page")
    for slot in run.slots:
        run.keep(slot, ANSWERS[kind], seconds=2.5)
    run.close()
    assert answers_in(tmp_path / "pulled") == answers_in(tmp_path / "page")
    assert {extra.comment for extra in read_extras(done.people[0].folder)} == {"hm"}


def test_pulling_twice_changes_nothing(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    for task in fake.tasks[1]:
        for user in (2, 3):
            fake.annotate(task, user, {"choice": "neutral"})
    pull_from(fake, asked, "choose", tmp_path / "runs")
    before = answers_in(tmp_path / "runs")
    lines = [file.read_bytes() for file in sorted((tmp_path / "runs").glob(f"*/{EXTRAS}"))]
    again = pull_from(fake, asked, "choose", tmp_path / "runs")
    assert [(one.answers, one.new, one.changed) for one in again.people] == [(6, 0, 0), (6, 0, 0)]
    assert answers_in(tmp_path / "runs") == before
    assert [file.read_bytes() for file in sorted((tmp_path / "runs").glob(f"*/{EXTRAS}"))] == lines
    assert set(before) == {"people:user-2", "people:user-3"}


def test_a_changed_annotation_replaces_the_answer(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    first = fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"})
    pull_from(fake, asked, "choose", tmp_path / "runs")
    first["result"][0]["value"]["choices"] = ["It is true"]  # by its label, as a browser may say
    done = pull_from(fake, asked, "choose", tmp_path / "runs")
    assert [(one.new, one.changed) for one in done.people] == [(0, 1)]
    [answers] = answers_in(tmp_path / "runs").values()
    assert [answer.choice for answer in answers.values()] == ["entailment"]


def test_of_several_annotations_by_one_person_the_last_counts(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"}, minute=9)
    fake.annotate(fake.tasks[1][0], 2, {"choice": "entailment"}, minute=5)
    pull_from(fake, asked, "choose", tmp_path / "runs")
    [answers] = answers_in(tmp_path / "runs").values()
    assert [answer.choice for answer in answers.values()] == ["neutral"]


def test_what_is_skipped_there_is_skipped_here(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("validate", tmp_path)
    push_to(fake, asked, "validate")
    fake.annotate(fake.tasks[1][0], 2, {"skip": "missing"}, skipped=True)
    fake.annotate(fake.tasks[1][1], 2, {}, skipped=True)
    done = pull_from(fake, asked, "validate", tmp_path / "runs")
    assert [(one.answers, one.skipped) for one in done.people] == [(0, 2)]
    [answers] = answers_in(tmp_path / "runs").values()
    assert sorted(answer.error for answer in answers.values()) == [
        "skipped: missing",
        "skipped: other",
    ]


def test_annotations_that_leave_a_question_open_are_counted_and_left_out(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("picture", tmp_path)
    push_to(fake, asked, "picture")
    fake.annotate(fake.tasks[1][0], 2, {"a": "yes", "b": "yes"})
    fake.annotate(fake.tasks[1][1], 2, {"a": "yes", "b": "no"})  # nothing more is asked
    fake.tasks[1].append({"id": 1, "data": {"text": "of somebody else"}, "annotations": []})
    done = pull_from(fake, asked, "picture", tmp_path / "runs")
    assert (done.incomplete, done.foreign) == (1, 1)
    assert [one.answers for one in done.people] == [1]


@pytest.mark.parametrize(
    "odd", [{"completed_by": None}, {"completed_by": {"email": "a@b.example"}}]
)
def test_answers_of_nobody_are_left_out(
    odd: dict[str, Any], fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"}).update(odd)
    done = pull_from(fake, asked, "choose", tmp_path / "runs")
    assert (done.people, done.incomplete) == ((), 1)


@pytest.mark.parametrize(
    "odd", [{"result": "x"}, {"updated_at": "yesterday"}, {"was_cancelled": "perhaps"}]
)
def test_annotations_of_another_shape_are_told_in_a_sentence(
    odd: dict[str, Any], fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"}).update(odd)
    with pytest.raises(ServerError, match="as Label Studio does"):
        pull_from(fake, asked, "choose", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "region", ["x", {}, {"from_name": "choice"}, {"from_name": "choice", "value": {"choices": []}}]
)
def test_results_that_say_nothing_are_counted(
    region: Any, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    fake.annotate(fake.tasks[1][0], 2, {})["result"] = [region]
    assert pull_from(fake, asked, "choose", tmp_path / "runs").incomplete == 1


def test_what_the_server_has_no_longer_is_kept_and_said(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    for task in fake.tasks[1]:
        fake.annotate(task, 2, {"choice": "neutral"})
    pull_from(fake, asked, "choose", tmp_path / "runs")
    fake.tasks[1][0]["annotations"].clear()
    done = pull_from(fake, asked, "choose", tmp_path / "runs")
    assert [(one.answers, one.kept) for one in done.people] == [(5, 1)]


def test_no_name_or_address_of_a_user_is_kept(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    made = fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"})
    made["completed_by"] = {"id": 2, "email": "real.name@uni.example", "first_name": "Real"}
    pull_from(fake, asked, "choose", tmp_path / "runs")
    files = [file for file in (tmp_path / "runs").rglob("*") if file.is_file()]
    assert len(files) > 2
    for file in files:
        for private in (b"uni.example", b"Real", TOKEN.encode(), b"127.0.0.1"):
            assert private not in file.read_bytes()


def test_nobody_is_pulled_under_two_names(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"})
    pull_from(fake, asked, "choose", tmp_path / "runs")
    with pytest.raises(RunError, match="under another name"):
        pull_from(fake, asked, "choose", tmp_path / "runs", {2: "ann"})
    assert set(answers_in(tmp_path / "runs")) == {"people:user-2"}


def test_answers_from_elsewhere_are_not_overwritten(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    open_person_run(asked, "ann", PersonSettings(task_named("choose")), tmp_path / "runs").close()
    fake.annotate(fake.tasks[1][0], 2, {"choice": "neutral"})
    with pytest.raises(RunError, match="come from elsewhere"):
        pull_from(fake, asked, "choose", tmp_path / "runs", {2: "ann"})


def test_names_are_given_with_ids() -> None:
    assert read_names("") == {}
    for wrong in ("ann", "ann=ben@uni.example", "ann=1,ann=2", "../ann=1"):
        with pytest.raises(UsageError):
            read_names(wrong)


# a project of ours


def test_a_project_of_somebody_else_is_left_alone(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    fake.projects.append({"id": 1, "title": TITLE, "description": "mine"})
    fake.tasks[1] = []
    asked = asked_of("choose", tmp_path)
    with pytest.raises(RunError, match="not made by Gnomon"):
        push_to(fake, asked, "choose")
    assert {method for method, _, _ in fake.sent} == {"GET"}


def test_answers_to_another_task_are_not_taken(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    asked = asked_of("choose", tmp_path)
    push_to(fake, asked, "choose")
    with pytest.raises(RunError, match="another task"):
        pull_from(fake, asked, "scale", tmp_path / "runs")


def test_a_project_is_found_among_many(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    for number in range(20):
        fake.projects.append({"id": number + 1, "title": f"{TITLE} {number}"})
    asked = asked_of("choose", tmp_path)
    assert push_to(fake, asked, "choose").project.id == 21
    assert push_to(fake, asked, "choose").new == 0
    assert len(fake.projects) == 21


def test_pulling_what_was_never_pushed_says_so(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="no project 'a set'"):
        pull_from(fake, asked_of("choose", tmp_path), "choose", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


# the server


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (httpx.Response(401, json={"detail": "no"}), "refuses the token"),
        (httpx.Response(403, json={}), "does not let this user"),
        (httpx.Response(302, headers={"Location": "http://elsewhere.example"}), "redirects"),
        (httpx.Response(500, text="<html>a long page</html>"), "with status 500"),
        (httpx.Response(400, json={"detail": f"bad {TOKEN}\x1b[2J"}), r"status 400: bad \*\*\*"),
        (httpx.Response(200, text="<html>"), "as Label Studio does"),
        (httpx.Response(200, json=[]), "as Label Studio does"),
        (httpx.Response(200, text="[" * 200_000), "as Label Studio does"),
        (httpx.Response(200, json={"count": 1, "results": None}), "as Label Studio does"),
        (httpx.Response(200, json={"count": 1, "results": 5}), "as Label Studio does"),
        (httpx.Response(200, json={"count": "many", "results": []}), "as Label Studio does"),
    ],
)
def test_what_a_server_refuses_is_told_in_a_sentence(
    reply: Any, message: str, fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    fake.failing["/api/projects/"] = reply
    with pytest.raises(GnomonError, match=message) as raised:
        push_to(fake, asked_of("choose", tmp_path), "choose")
    assert raised.value.hint
    for hidden in (TOKEN, "\x1b", "\n<html"):
        assert hidden not in str(raised.value)


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
def test_a_server_that_is_not_there_is_told_in_a_sentence(error: Exception) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error

    with (
        LabelStudio(URL, TOKEN, transport=httpx.MockTransport(fail)) as there,
        pytest.raises(ServerError),
    ):
        there.get("/api/projects/")


class Sending(BaseHTTPRequestHandler):
    """Sends a reply without end: what a server of a stranger may do."""

    packed = False
    sent = 0  # bytes

    def do_GET(self) -> None:
        self.send_response(200)
        if self.packed:
            self.send_header("Content-Encoding", "gzip, gzip")
        self.end_headers()
        block = b" " * 2**16
        if self.packed:
            block = gzip.compress(gzip.compress(b" " * 2**26))
        try:
            for _ in range(1000):
                self.wfile.write(block)
                type(self).sent += len(block)
        except OSError:  # whoever asked has gone
            return

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told."""


@pytest.mark.parametrize(("packed", "message"), [(False, "larger than 1 MB"), (True, "compresses")])
def test_a_reply_without_end_is_not_read_to_the_end(
    packed: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.people.labelstudio.server.LARGEST", 2**20)
    handler = type("Handler", (Sending,), {"packed": packed})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = Thread(target=listening.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{listening.server_port}"
            with (
                LabelStudio(address, TOKEN) as there,
                pytest.raises(ServerError, match=message) as raised,
            ):
                there.get("/api/projects/")
        finally:
            listening.shutdown()
            thread.join()
    assert raised.value.hint
    assert handler.sent < 2**25  # of 65 MB, or of 67 GB unpacked


def test_lists_without_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.people.labelstudio.server.MOST_PAGES", 3)
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return unread(httpx.Response(200, json={"count": 10**9, "results": [1]}))

    transport = httpx.MockTransport(answer)
    with (
        LabelStudio(URL, TOKEN, transport=transport) as there,
        pytest.raises(ServerError, match="as Label Studio does"),
    ):
        list(there.pages("/api/projects/", "results", "count", int))
    assert len(asked) == 3


def test_a_token_that_no_header_can_hold_is_refused(fake: FakeLabelStudio) -> None:
    fake.failing["/api/token/refresh/"] = httpx.Response(200, json={"access": "é"})
    with server(fake, PERSONAL) as there, pytest.raises(ServerError, match="as Label Studio does"):
        there.get("/api/projects/")


def test_a_personal_token_is_exchanged_and_renewed(
    fake: FakeLabelStudio, asked_of: Any, tmp_path: Path
) -> None:
    with server(fake, PERSONAL) as there:
        push(there, asked_of("choose", tmp_path), task_named("choose"), TITLE, 1)
        fake.access += 1  # what was given out expires
        push(there, asked_of("choose", tmp_path), task_named("choose"), TITLE, 1)
    bodies = [body for _, path, body in fake.sent if path == "/api/token/refresh/"]
    assert [json.loads(body) for body in bodies] == [{"refresh": PERSONAL}] * 2


def test_a_wrong_token_is_refused(fake: FakeLabelStudio) -> None:
    with server(fake, "wrong" * 8) as there, pytest.raises(ServerError, match="refuses") as raised:
        there.get("/api/projects/")
    assert "wrong" not in str(raised.value)


def test_tokens_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "from-environment")
    assert read_token() == "from-environment"
    (tmp_path / "token").write_text("from-file\n")
    assert read_token(str(tmp_path / "token")) == "from-file"
    (tmp_path / "odd").write_bytes(b"\xff\xfe")
    (tmp_path / "empty").write_text("")
    for wrong in ("odd", "empty", "missing"):
        with pytest.raises(UsageError, match="token"):
            read_token(str(tmp_path / wrong))


@pytest.mark.parametrize(
    "url",
    [
        "label.example",
        "ftp://label.example",
        "http://me:secret@localhost",
        "http://localhost?x=secret",
        "http://[::1",
        "http://127.0.0.1:abc",
        "http://local\0host",
    ],
)
def test_addresses_that_hold_more_or_less_than_a_server_are_refused(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        LabelStudio(url, TOKEN)
    assert "secret" not in str(raised.value)


def test_a_token_over_an_open_network_is_warned_about() -> None:
    with pytest.warns(UnencryptedWarning, match="unencrypted"):
        LabelStudio("http://label.example", TOKEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LabelStudio("https://label.example", TOKEN)


# the command


@pytest.fixture
def at_command(fake: FakeLabelStudio, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`gnomon people ask scales --label-studio URL ...`, with the fake for a server."""
    real = httpx.Client
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    monkeypatch.setattr(
        httpx, "Client", lambda **more: real(**{**more, "transport": fake.transport})
    )

    def give(*words: str) -> int:
        return main(["people", "ask", "scales", "--limit", "9", "--label-studio", URL, *words])

    return give


def test_the_command_pushes_and_pulls(
    at_command: Any, fake: FakeLabelStudio, tmp_path: Path, capsys: Any
) -> None:
    assert at_command("--push", "--set", "overlap=2") == 0
    told = capsys.readouterr().out
    assert "9 items, 9 of them new; 2 people for each" in told
    for task in fake.tasks[1]:
        fake.annotate(task, 5, {"choice": task["data"]["options_choice"][0]["value"]})
    for new in (9, 0):
        words = ("--pull", "--people", "ann=5", "--runs", str(tmp_path / "runs"))
        assert at_command(*words) == 0
        assert f"ann (user 5): 9 answers; {new} new, 0 changed." in capsys.readouterr().out
    assert TOKEN not in told
    assert set(answers_in(tmp_path / "runs")) == {"people:ann"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--push"),
        (["--push", "--people", "ann"], "does not choose people"),
        (["--pull", "--set", "overlap=2"], "overlap belongs to --push"),
        (["--push", "--set", "repeat=2"], "repeat belongs to the page"),
        (["--push", "--set", "project=" + "x" * 41], "at most 40"),
        (["--push", "--set", "overlap=0"], "overlap must be"),
        (["--pull", "--people", "ann"], "which user"),
        (["--push", "--set", "token_file=no-such-file"], "no-such-file"),
    ],
)
def test_commands_that_make_no_sense_are_refused(
    words: list[str],
    message: str,
    at_command: Any,
    fake: FakeLabelStudio,
    tmp_path: Path,
    capsys: Any,
) -> None:
    assert at_command(*words, "--runs", str(tmp_path / "runs")) in (1, 2)
    assert message in capsys.readouterr().err
    assert not fake.sent
    assert not (tmp_path / "runs").exists()


def test_pushing_needs_a_server(capsys: Any) -> None:
    assert main(["people", "ask", "scales", "--limit", "4", "--push"]) == 2
    assert "--label-studio URL" in capsys.readouterr().err
