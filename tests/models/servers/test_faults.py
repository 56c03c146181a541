"""A server that is busy, broken, garbled, slow or gone: what passes is waited for, the rest is said."""

from __future__ import annotations

import asyncio
import gc
import json
from zlib import crc32

import pytest

from gnomon.errors import ModelError, ModelWarning
from gnomon.models.servers.refusals import retry_after

pytest.importorskip("httpx")
FAULTS = ("busy", "broken", "cut", "garbled", "empty") * 2 + ("drip",)


def often(number, prompt):
    """A fault in 30 of 100 requests, the same whatever the order of requests."""
    drawn = crc32(f"{number} {prompt}".encode()) % 1000
    return FAULTS[drawn % len(FAULTS)] if drawn < 300 else ""


def test_four_hundred_items_through_a_server_that_fails_three_times_in_ten(
    serve, ask, items, clock
):
    server = serve(fault=often)
    model = clock.watch(ask(server, concurrency=16, timeout=60.0, attempts=6))
    asked = items(400)
    answers = model.answer(asked)
    assert [answer.item for answer in answers] == [item.id for item in asked]
    assert all(answer.choice == "smaller" or answer.error for answer in answers)
    assert sum(answer.choice == "smaller" for answer in answers) >= 396
    assert set(server.served.values()) == {1}, "none is asked again after success"
    assert all(server.faults[fault] > 10 for fault in FAULTS), "every kind of fault occurred"
    assert 0.25 < 1 - server.faults[""] / server.faults.total() < 0.35
    # Its time is bounded: by how often the server is asked, how long a reply may take, how often
    # and long one waits.
    assert max(server.seen.values()) <= 6
    assert server.faults.total() == len(clock.allowed) <= 400 / (1 - 0.3) * 1.05
    assert set(clock.allowed) == {60.0}
    assert max(map(len, clock.pauses.values())) <= 5
    assert max(map(sum, clock.pauses.values())) <= 1 + 2 + 4 + 8 + 16


def test_a_reply_that_drips_in_for_ever_is_cut_off(serve, ask, items, clock):
    server = serve(fault=lambda *_: "endless drip")
    clock.is_over = lambda attempt: server.seen.total() >= attempt
    (answer,) = clock.watch(ask(server, timeout=60.0, attempts=3)).answer(items(1))
    assert answer.error == "no whole reply within 60 s (3 attempts)"
    assert clock.allowed == [60.0] * 3
    assert server.seen.total() == 3


def test_a_server_that_asks_for_patience_without_end_gets_a_minute_before_each_attempt(
    serve, ask, items, clock
):
    server = serve(fault=lambda *_: (503, {}, {"Retry-After": "100000"}))
    answers = clock.watch(ask(server, attempts=4, timeout=5.0)).answer(items(20))
    assert all(answer.error == "the server answered 503: {} (4 attempts)" for answer in answers)
    assert max(server.seen.values()) == 4
    for pauses in (
        clock.pauses.values()
    ):  # before the first attempt too, if the server has told others to wait
        assert len(pauses) <= 4
        assert max(pauses) <= 60
    assert max(map(sum, clock.pauses.values())) >= 3 * 60 - 1, "what the server asks for is obeyed"


def test_an_item_that_never_succeeds_is_listed_and_the_others_go_on(serve, ask, items):
    server = serve(fault=lambda _, prompt: "broken" if "Thing 2 " in prompt else "")
    answers = ask(server, attempts=3).answer(items(4))
    assert [answer.choice for answer in answers] == ["smaller", "smaller", None, "smaller"]
    assert answers[2].error == "the server answered 500: oops (3 attempts)"


def test_pauses_double_up_to_a_minute(serve, ask, items, clock):
    server = serve(fault=lambda *_: "broken")
    clock.watch(ask(server, attempts=9)).answer(items(1))
    (pauses,) = clock.pauses.values()
    assert len(pauses) == 8
    for pause, most in zip(pauses, (1, 2, 4, 8, 16, 32, 60, 60), strict=True):
        assert most / 2 <= pause <= most


def test_retry_after_is_obeyed(serve, ask, items, clock):
    server = serve(fault=lambda seen, _: "" if seen else (503, {}, {"Retry-After": "7"}))
    assert clock.watch(ask(server)).answer(items(1))[0].choice == "smaller"
    assert list(clock.pauses.values()) == [[7]]


def test_retry_after_is_read_in_both_its_forms_and_bounded():
    assert retry_after("3") == 3
    assert retry_after("100000") == 60
    assert retry_after("-1") == 0
    assert retry_after("nan") is None
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("whenever") is None
    assert retry_after(None) is None


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "refuses the key"),
        (403, "refuses the key"),
        (404, "no such model"),
        (402, "no money left"),
    ],
)
def test_what_will_not_pass_ends_the_run(serve, ask, status, says, items, key):
    server = serve(
        fault=lambda *_: (status, {"error": {"message": f"Incorrect API key provided: {key}."}})
    )
    with pytest.raises(ModelError, match=says) as caught:
        ask(server).answer(items(5))
    assert key not in str(caught.value)


def test_spent_quota_is_not_tried_again(serve, ask, items):
    server = serve(
        fault=lambda *_: (429, {"error": {"message": "quota", "code": "insufficient_quota"}})
    )
    with pytest.raises(ModelError, match="no money left"):
        ask(server, concurrency=1).answer(items(1))
    assert sum(server.seen.values()) == 1


def test_a_server_that_is_gone_ends_the_run(serve, ask, items):
    server = serve()
    model = ask(server, attempts=2)
    server.close()
    with pytest.raises(ModelError, match="cannot be reached"):
        model.answer(items(3))


@pytest.mark.parametrize(
    "reply", [{"message": 3}, {"message": {"content": "x"}, "logprobs": {"content": [3]}}]
)
def test_replies_of_another_shape_are_faults_not_crashes(serve, ask, reply, items):
    (answer,) = ask(serve(reply=reply), attempts=2).answer(items(1))
    assert "not as an OpenAI-compatible server writes it" in answer.error


def test_a_run_that_was_refused_midway_goes_on_and_pays_for_nothing_twice(serve, tmp_path, key):
    from gnomon.items.source import load
    from gnomon.registry import model
    from gnomon.runs import running

    server = serve(fault=often, reply="smaller")
    polite = server.fault
    server.fault = lambda seen, prompt: (
        (401, {}) if server.served.total() >= 60 else polite(seen, prompt)
    )
    source = load("scales").limited(150)
    spec = model("openai:fake", base_url=server.url, concurrency=4)
    options = {"runs": tmp_path / "runs"}
    with pytest.raises(ModelError, match="refuses the key"):
        running.run(source, spec, **options)
    server.fault = polite
    with pytest.warns(ModelWarning, match="replies kept from"):
        run = running.run(source, spec, **options)
    counts = run.counts()
    assert counts.items == 150
    assert counts.answered + counts.unread + counts.errors == 150
    assert counts.errors == 0
    assert set(server.served.values()) == {1}
    assert key not in (run.path / "run.json").read_text()


@pytest.mark.parametrize(
    "said",
    [
        "Thu, 01 Jan 1970 00:00:00 +99999999999999",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "1e999",
        "-inf",
        "nan",
        "١٢",
        "9" * 5000,
    ],
)
def test_nonsense_in_retry_after_costs_no_more_than_a_minute(said):
    assert retry_after(said) is None or 0 <= retry_after(said) <= 60


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br", "deflate"])
def test_a_compressed_reply_is_refused_unread(serve, ask, items, encoding):
    bomb = (200, b"\x1f\x8b" + b"\0" * 100, {"Content-Encoding": encoding})
    server = serve(fault=lambda *_: bomb)
    with pytest.raises(ModelError, match="compresses its replies"):
        ask(server).answer(items(1))
    assert server.accepted == {"identity"}


def test_a_reply_larger_than_what_was_asked_for_can_be_is_an_error(serve, ask, items, monkeypatch):
    monkeypatch.setattr("gnomon.models.servers.remote.REPLY_ROOM", 1000)
    server = serve(reply="smaller " * 100_000)
    (answer,) = ask(server).answer(items(1))
    assert answer.error == "the reply is larger than 0 MB"


def test_a_long_reply_is_cut_and_says_so_and_is_read_at_its_end(serve, ask, items):
    server = serve(reply="word " * 300_000 + "\nThe answer is smaller.")
    first, second = (ask(server).answer(items(1))[0] for _ in range(2))
    assert first == second
    assert first.choice == "smaller"
    assert len(first.reply) < 1_000_100
    assert "characters of this reply were cut]" in first.reply
    assert server.seen.total() == 2, "too long for the cache: it is kept once, in the run"


def test_a_redirect_names_where_it_leads(serve, ask, items):
    elsewhere = {"Location": "https://me:hunter22@elsewhere.example/v1?api_key=abcdef"}
    server = serve(fault=lambda *_: (307, {}, elsewhere))
    with pytest.raises(ModelError, match=r"elsewhere\.example") as caught:
        ask(server).answer(items(3))
    assert "307" in caught.value.message
    assert "hunter22" not in str(caught.value)
    assert "abcdef" not in str(caught.value)


def test_a_redirect_to_no_address_is_a_fault_not_a_crash(serve, ask, items):
    server = serve(fault=lambda *_: (307, {}, {"Location": "http://[::1"}))
    (answer,) = ask(server, attempts=2).answer(items(1))
    assert "the connection broke" in answer.error


def test_what_a_server_says_cannot_steer_the_terminal(serve, ask, items):
    said = "\x1b]0;PWNED\x07 \x1b[2J\r\b\u202e no"
    server = serve(fault=lambda *_: (401, {"error": {"message": said}}))
    with pytest.raises(ModelError, match="refuses the key") as caught:
        ask(server).answer(items(1))
    assert caught.value.message.isprintable()


def test_closing_while_requests_are_under_way_is_quiet(serve, ask, items, capfd):
    server = serve(fault=lambda *_: "endless drip")
    model = ask(server, timeout=60.0)

    async def begin():
        tasks = [asyncio.create_task(model._answer_one(item)) for item in items(4)]
        while server.seen.total() < 4:
            await asyncio.sleep(0)
        return tasks

    tasks = model._remote.run(begin())
    model.close()
    assert [task.cancelled() for task in tasks] == [True] * 4
    del tasks
    gc.collect()
    assert capfd.readouterr().err == ""


def test_order_and_company_do_not_change_answers(serve, ask, items):
    server = serve(
        fault=often,
        reply=lambda body: "larger" if crc32(json.dumps(body).encode()) % 2 else "smaller",
    )
    model = ask(server, concurrency=8, timeout=60.0, cache=False)
    asked = items(40)
    together = {answer.item: answer for answer in model.answer(asked)}
    other = ask(server, concurrency=3, timeout=60.0, cache=False)
    backwards = {answer.item: answer for answer in other.answer(asked[::-1])}
    assert together == backwards
