"""Replies that were kept serve the run that they were given to, and no other."""

from __future__ import annotations

import pytest

from gnomon.errors import ModelError, ModelWarning
from gnomon.items.source import load
from gnomon.registry import model
from gnomon.runs import running

pytest.importorskip("httpx")

SPENT = {"max_cost": 0.2, "price_input": 100.0, "price_output": 100.0}


@pytest.fixture
def source():
    return load("scales", form="cloze").limited(60)


def how(server, **options):
    return model("openai:fake", base_url=server.url, new_tokens=4, concurrency=1, **options)


def replies(run):
    return {answer.reply for _, answer in run.answers()}


def a_run_that_was_cut(server, source, runs):
    with pytest.raises(ModelError, match="budget is spent"):
        running.run(source, how(server, **SPENT), runs=runs)


def test_restart_asks_a_server_whose_weights_were_replaced_anew(serve, source, tmp_path):
    server = serve(reply="smaller")
    first = running.run(source, how(server), runs=tmp_path)
    server.reply = "larger"
    again = running.run(source, how(server), runs=tmp_path, restart=True)
    assert replies(first) == replies(again) == {"larger"}, "the folder is the same"
    assert server.seen.total() == 120


def test_a_run_in_another_folder_asks_anew(serve, source, tmp_path):
    server = serve(reply="smaller")
    running.run(source, how(server), runs=tmp_path / "monday")
    server.reply = "larger"
    tuesday = running.run(source, how(server), runs=tmp_path / "tuesday")
    assert replies(tuesday) == {"larger"}
    assert tuesday.manifest.kept_replies == {}


def test_restart_after_a_cut_asks_anew(serve, source, tmp_path):
    server = serve(reply="smaller")
    a_run_that_was_cut(server, source, tmp_path)
    server.reply = "larger"
    assert replies(running.run(source, how(server), runs=tmp_path, restart=True)) == {"larger"}


def test_a_run_that_was_cut_uses_what_was_paid_for_and_says_so(serve, source, tmp_path):
    server = serve()
    a_run_that_was_cut(server, source, tmp_path)
    paid = server.served.total()
    with pytest.warns(ModelWarning, match=r"\d+ replies kept from 20\d\d-\d\d-\d\d were used"):
        run = running.run(source, how(server), runs=tmp_path)
    assert server.served.total() == 60, "nothing is paid for twice"
    kept = sum(run.manifest.kept_replies.values())
    logged_before = 60 - (server.served.total() - paid) - kept
    assert kept > 0
    assert logged_before >= 0


def test_without_a_cache_nothing_is_kept(serve, source, tmp_path):
    server = serve()
    running.run(source, how(server, cache=False), runs=tmp_path)
    assert not list((tmp_path / "cache").rglob("replies.sqlite"))


def test_the_command_line_has_a_word_for_it():
    from gnomon.cli.dispatch import command_parser
    from gnomon.registry import command

    parser = command_parser("run", command("run"))
    args = parser.parse_args(["scales", "-m", "openai:x", "--set", "cache=no"])
    assert args.set == ["cache=no"]
