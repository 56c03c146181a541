"""Pictures at a server: sent as they are stored, counted, told apart, and kept in no text of ours."""

from __future__ import annotations

import base64
import gc
import json
import re
import threading
from io import BytesIO
from urllib.parse import quote
from zlib import crc32

import pytest

from gnomon.contracts import Benchmark
from gnomon.errors import ModelError, UsageError
from gnomon.items.source import ItemSource
from gnomon.models.servers.completions import parse_reply
from gnomon.models.servers.pictures import PictureOptions, hide_pictures, picture_tokens
from gnomon.models.servers.protocol import RequestFacts, Tokens
from gnomon.records import Image, Item
from gnomon.registry import model
from gnomon.runs import running
from gnomon.vision.images import describe

pytest.importorskip("httpx")
pil = pytest.importorskip("PIL.Image")
FAULTS = ("busy", "broken", "cut", "garbled", "empty")


@pytest.fixture
def photo(tmp_path):
    """A function that writes a picture of its own and describes it."""

    def write(number=0, size=(40, 30), kind="png"):
        file = tmp_path / f"{number}.{kind}"
        picture = pil.effect_noise(size, 60).convert("RGB")
        picture.putpixel((0, 0), (number % 256, number // 256, 7))
        picture.save(file)
        return describe(file)

    return write


def caption(number, *images, text="The cat is left of the dog."):
    return Item(
        id=str(number),
        form="caption",
        text=text,
        choices=("False", "True"),
        gold=("True",),
        images=images,
    )


def stored(image):
    with open(image.path, "rb") as stream:
        return stream.read()


def urls(body):
    found = []
    for turn in body["messages"]:
        if isinstance(turn["content"], list):
            parts = [part for part in turn["content"] if part["type"] == "image_url"]
            found += [part["image_url"]["url"] for part in parts]
    return found


def test_pictures_stand_before_the_text_in_their_order_and_as_they_are_stored(serve, ask, photo):
    server = serve(reply="True")
    first, second = photo(1, kind="jpeg"), photo(2)
    (answer,) = ask(server).answer([caption(1, first, second)])
    assert answer.choice == "True"
    (body,) = server.bodies
    *shown, text = body["messages"][-1]["content"]
    assert text["type"] == "text"
    assert "The cat is left of the dog." in text["text"]
    kinds = [part["image_url"]["url"].partition(";base64,")[0] for part in shown]
    assert kinds == ["data:image/jpeg", "data:image/png"]
    sent = [base64.b64decode(part["image_url"]["url"].partition(",")[2]) for part in shown]
    assert sent == [stored(first), stored(second)]
    assert all(isinstance(turn["content"], str) for turn in body["messages"][:-1])


def test_an_item_without_pictures_is_asked_as_before(serve, ask):
    server = serve(reply="True")
    ask(server).answer([caption(1)])
    assert isinstance(server.bodies[0]["messages"][-1]["content"], str)


def test_a_picture_that_is_too_large_is_scaled_and_the_manifest_says_so(serve, ask, photo):
    server = serve(reply="True")
    asked = ask(server, max_side=64)
    large, small = photo(1, (200, 100), "jpeg"), photo(2, (50, 20))
    asked.answer([caption(1, large, small)])
    sent = [base64.b64decode(url.partition(",")[2]) for url in urls(server.bodies[0])]
    scaled = pil.open(BytesIO(sent[0]))
    assert (scaled.size, scaled.format) == ((64, 32), "JPEG")
    assert sent[1] == stored(small)
    assert asked.describe()["max_side"] == 64
    assert "max_side" not in ask(server).describe()


def test_the_same_caption_under_two_pictures_is_two_requests_and_two_replies(serve, ask, photo):
    def reply(body):
        return "True" if urls(body)[0] == seen[0] else "False"

    first, second = photo(1), photo(2)
    seen = [f"data:image/png;base64,{base64.b64encode(stored(first)).decode()}"]
    server = serve(reply=reply)
    items = [caption(1, first), caption(2, second), caption(3)]
    for _ in range(2):  # the second time from the cache of replies
        answers = ask(server).answer(items[:2])
        assert [answer.choice for answer in answers] == ["True", "False"]
    assert len(server.bodies) == 2
    server.reply = "False"
    ask(server).answer(items[2:])
    assert len(server.bodies) == 3, "a question without the picture is another one"
    ask(server, max_side=16).answer(items[:1])
    assert len(server.bodies) == 4, "and so is one with the picture scaled"


def test_pictures_in_another_order_are_another_question(serve, ask, photo):
    server = serve(reply="True")
    first, second = photo(1), photo(2)
    for images in ((first, second), (second, first), (first, second)):
        ask(server).answer([caption(1, *images)])
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((1024, 1024), 765),  # OpenAI's own two examples, with high detail
        ((2048, 4096), 1105),
        ((512, 512), 255),
        ((640, 480), 425),
        ((1, 1), 255),
        ((4096, 100), 765),
    ],
)
def test_a_picture_counts_as_it_does_at_openai(size, tokens):
    assert picture_tokens(*size) == tokens


def test_the_budget_counts_pictures_before_they_are_sent(serve, ask, photo):
    server = serve(reply="True")
    with pytest.raises(ModelError, match="The budget is spent"):
        ask(server, budget_tokens=300).answer([caption(1, photo(1, (600, 600)))])
    assert not server.bodies
    ask(server, budget_tokens=300, image_tokens=16).answer([caption(1, photo(1, (600, 600)))])
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("options", "tokens"),
    [({}, 765), ({"max_side": 400}, 255), ({"image_tokens": 16}, 16)],
)
def test_a_plan_counts_pictures_before_anything_is_asked(options, tokens, serve, ask, photo):
    server = serve(reply="True")
    model = ask(server, **options)
    seen = caption(1, photo(1, (600, 600)))
    shown, words = model.expected(seen), ask(server, image_tokens=0).expected(seen)
    assert shown.read - words.read == tokens
    assert shown.written == words.written
    assert not server.bodies


@pytest.mark.parametrize("said", [58, 14_169])
def test_what_a_server_counts_for_a_picture_is_believed(said):
    raw = {"choices": [{"message": {"content": "True"}}], "usage": {"prompt_tokens": said}}
    found = parse_reply(json.dumps(raw).encode(), RequestFacts(Tokens(470, 64), picture_tokens=425))
    assert found.used.read == said


def test_a_server_that_fails_three_times_in_ten_with_pictures(
    serve, ask, photo, clock, tmp_path, capfd
):
    def often(number, prompt):
        drawn = crc32(f"{number} {prompt}".encode()) % 1000
        return FAULTS[drawn % len(FAULTS)] if drawn < 300 else ""

    server = serve(fault=often, reply="True")
    images = [photo(number) for number in range(100)]
    items = [caption(number, images[number % 100]) for number in range(300)]
    items = [
        caption(item.id, *item.images, text=f"Thing {number // 100} is left of it.")
        for number, item in enumerate(items)
    ]
    model = clock.watch(ask(server, concurrency=16, timeout=60.0, attempts=6))
    answers = model.answer(items)
    assert [answer.item for answer in answers] == [item.id for item in items]
    assert all(answer.choice == "True" or answer.error for answer in answers)
    assert sum(answer.choice == "True" for answer in answers) >= 295
    assert set(server.served.values()) == {1}, "none is asked again after success"
    assert 0.24 < 1 - server.faults[""] / server.faults.total() < 0.36
    assert max(server.seen.values()) <= 6
    assert_no_picture_in(repr(answers) + str(capfd.readouterr()), images)


@pytest.mark.parametrize(
    "status", [301, 400, 401, 402, 403, 404, 413, 418, 422, 429, 500, 503], ids=str
)
@pytest.mark.parametrize("form", ["message", "text", "escaped", "quoted", "bare", "broken"])
def test_a_server_that_repeats_the_request_leaves_no_picture_in_an_error(
    serve, ask, photo, clock, status, form
):
    image = photo(1)
    data = base64.b64encode(stored(image)).decode()
    url = f"data:image/png;base64,{data}"
    said = {
        "message": {"error": {"message": f"bad part {url}"}},
        "text": f"cannot read {url} at all".encode(),
        "escaped": json.dumps({"request": url}).replace("/", "\\/").encode(),
        "quoted": quote(url, safe="").encode(),
        "bare": f"invalid base64: {data[5:90]} ...".encode(),
        "broken": "\n".join(["bad:", *re.findall(".{1,60}", url)]).encode(),
    }[form]
    server = serve(fault=lambda *_: (status, said))
    try:
        (answer,) = clock.watch(ask(server, attempts=2)).answer([caption(1, image)])
        text = str(answer.error)
    except ModelError as error:
        text = f"{error.message} {error.hint}"
    assert str(status) in text
    assert_no_picture_in(text, [image])


def test_a_reply_that_repeats_the_picture_is_kept_without_it(serve, tmp_path, photo, ask):
    image = photo(1)
    server = serve(reply=lambda body: f"True. I see {urls(body)[0]}")
    (answer,) = ask(server).answer([caption(1, image)])
    assert answer.reply == "True. I see data:***"
    (again,) = ask(server).answer([caption(1, image)])
    assert again.reply == answer.reply
    kept = b"".join(file.read_bytes() for file in (tmp_path / "cache").rglob("*") if file.is_file())
    assert kept
    assert_no_picture_in(kept.decode("latin-1"), [image])


def test_a_run_with_pictures_lists_what_failed_and_keeps_no_picture(
    serve, photo, tmp_path, capfd, caplog
):
    caplog.set_level("DEBUG")
    images = [photo(number) for number in range(6)]
    items = [caption(number, image) for number, image in enumerate(images)]
    echoes = [base64.b64encode(stored(image)).decode() for image in images]

    def fault(_, prompt):
        signs = [crc32(f"data:image/png;base64,{data}".encode()) for data in echoes[:2]]
        refused = any(f"[{sign}]" in prompt for sign in signs)
        return (400, {"error": {"message": f"no: {' '.join(echoes)}"}}) if refused else ""

    server = serve(fault=fault, reply=lambda body: f"True, says {urls(body)[0]}")
    source = ItemSource(
        Benchmark(name="shown", summary="", sources={"fresh": lambda: items}), "fresh"
    )
    asked = model("openai:fake", base_url=server.url)
    run = running.run(source, asked, runs=tmp_path / "runs")
    answers = [answer for _, answer in run.answers()]
    assert sum(answer.error is not None for answer in answers) == 2
    assert sum(answer.choice == "True" for answer in answers) == 4
    kept = [file.read_bytes() for file in (tmp_path / "runs").rglob("*") if file.is_file()]
    written = b"".join(kept).decode("latin-1")
    assert "left of the dog" in written
    assert_no_picture_in(written + str(capfd.readouterr()) + caplog.text, images)


def assert_no_picture_in(text, images):
    """No twelve characters in a row of any picture, as it is sent."""
    pieces = set()
    for image in images:
        data = base64.b64encode(stored(image)).decode()
        pieces |= {data[place : place + 12] for place in range(len(data) - 11)}
    assert pieces
    for plain in (text, text.replace("\\", "")):
        assert not [plain[n : n + 12] for n in range(len(plain)) if plain[n : n + 12] in pieces]


def test_words_that_are_no_picture_stay():
    said = "the parameter max_completion_tokens of openai/gpt-4o-2024-08-06 is unsupported"
    assert hide_pictures(said, ["data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"]) == said


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "image input is not supported - hint: you may need to provide the mmproj"),
        (500, "image input is not supported - hint: you may need to provide the mmproj"),
        (400, "Invalid content type. image_url is only supported by certain models."),
        (400, "fake is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one request."),
        (422, "messages[1]: unknown variant `image_url`, expected `text`"),
        (400, "'messages.1' : value must be valid: content must be a string"),
        (500, "this model is missing data required for image input"),
        (400, "Model does not support images"),
    ],
)
def test_a_server_whose_model_does_not_see_ends_the_run_at_once(
    serve, ask, photo, clock, status, message
):
    server = serve(fault=lambda *_: (status, {"error": {"message": message}}))
    model = clock.watch(ask(server, concurrency=2))
    with pytest.raises(ModelError, match="The model takes no pictures") as caught:
        model.answer([caption(n, photo(n)) for n in range(20)])
    assert "--blind" in caught.value.hint
    assert len(server.bodies) <= 2, "nobody is asked twice"


@pytest.mark.parametrize(
    "message", ["unsupported image format", "the image is too large", "this is not a valid image"]
)
def test_a_picture_that_a_server_refuses_is_the_error_of_its_item(serve, ask, photo, message):
    first, second = photo(1), photo(2)
    refused = base64.b64encode(stored(first)).decode()

    def fault(_, prompt):
        shown = f"[{crc32(f'data:image/png;base64,{refused}'.encode())}]"
        return (400, {"error": {"message": message}}) if shown in prompt else ""

    answers = ask(serve(fault=fault, reply="True")).answer([caption(1, first), caption(2, second)])
    assert answers[0].error == f"the server answered 400: {message}"
    assert answers[1].choice == "True"


def test_a_picture_that_cannot_be_shown_is_the_error_of_its_item(serve, ask, photo, tmp_path):
    server = serve(reply="True")
    sound = photo(1)
    cut = photo(2, (200, 200))
    with open(cut.path, "r+b") as stream:
        stream.truncate(4000)
    changed = Image(path=photo(3).path, sha256="0" * 64)
    huge = photo(4)
    raw = bytearray(stored(huge))
    raw[16:24] = (60_000).to_bytes(4) * 2  # what its header claims
    with open(huge.path, "wb") as stream:
        stream.write(raw)
    shown = [
        sound,
        Image(path=cut.path),
        changed,
        Image(path=huge.path),
        Image(path=str(tmp_path / "gone.png")),
        Image(path=str(tmp_path)),
    ]
    answers = ask(server).answer([caption(n, image) for n, image in enumerate(shown)])
    assert [answer.choice for answer in answers] == ["True", None, None, None, None, None]
    expected = ("damaged", "not the one", "is not", "No such file", "")
    for answer, reason in zip(answers[1:], expected, strict=True):
        assert answer.error
        assert reason in answer.error
    assert len(server.bodies) == 1


def test_a_completion_server_is_shown_no_pictures(serve, ask, photo):
    model = ask(serve(), endpoint="completion")
    assert "image" not in model.takes
    with pytest.raises(UsageError, match="A completion server takes no pictures"):
        model.answer([caption(1, photo(1))])


def test_options_below_zero_are_refused():
    for options in ({"max_side": -1}, {"tokens": -1}):
        with pytest.raises(UsageError, match="cannot be below 0"):
            PictureOptions(**options)


def test_no_more_pictures_are_in_memory_than_requests_are_under_way(serve, ask, photo, monkeypatch):
    most, now, lock = [], set(), threading.Lock()

    class Watched(str):
        """A picture's address that says when it is forgotten."""

        def __del__(self):
            now.discard(id(self))

    usual = PictureOptions.open

    def opening(self, images):
        found = []
        for sent in usual(self, images):
            watched = Watched(sent.url)
            with lock:
                now.add(id(watched))
                most.append(len(now))
            found.append(sent._replace(url=watched))
        return found

    monkeypatch.setattr(PictureOptions, "open", opening)
    server = serve(reply="True")
    items = [caption(number, photo(number)) for number in range(60)]
    answers = ask(server, concurrency=4).answer(items)
    assert all(answer.choice == "True" for answer in answers)
    assert len(most) == 60
    assert max(most) <= 8, "those under way, and those that the last requests have just left"
    gc.collect()
    assert not now
