"""From errors to sentences: what is printed is short, says what to do, and cannot steer a terminal."""

import errno

import pytest

from gnomon.cli import main
from gnomon.errors import ModelError


def failing(monkeypatch, error):
    def fail(args):
        raise error

    monkeypatch.setattr("gnomon.cli.list.main", fail)


def test_what_strangers_wrote_cannot_steer_the_terminal(capsys, monkeypatch):
    failing(monkeypatch, ModelError("The server said: \x1b]0;PWNED\x07\x08\r\u202eabc", "Ask it."))
    assert main(["list"]) == 1
    err = capsys.readouterr().err
    assert "PWNED" in err
    assert not set("\x1b\x07\x08\r\u202e") & set(err)
    assert err.endswith("\nAsk it.\n"), "line breaks stay"


def test_an_endless_name_is_cut_and_what_to_do_is_still_said(capsys, monkeypatch):
    failing(monkeypatch, ModelError(f"The id '{'a' * 60_000}' is there twice.", "Remove one."))
    assert main(["list"]) == 1
    err = capsys.readouterr().err
    assert len(err) < 10_000
    assert err.startswith("gnomon: The id 'aaa")
    assert err.endswith("' is there twice.\nRemove one.\n")


@pytest.mark.parametrize("name", ["runs/log", None])
def test_a_full_disk_is_one_sentence_with_what_to_do(capsys, monkeypatch, name):
    failing(monkeypatch, OSError(errno.ENOSPC, "No space left on device", name))
    assert main(["list"]) == 1
    err = capsys.readouterr().err
    assert "the disk is full.\nFree some space and give the same command again" in err
    assert "--debug" not in err


def test_the_option_of_old_names_the_new_one(capsys):
    assert main(["run", "scales", "-m", "random", "--fresh"]) == 2
    assert "--restart" in capsys.readouterr().err


def test_an_error_that_has_no_sentence_keeps_its_traceback(monkeypatch):
    failing(monkeypatch, OSError("something odd"))
    with pytest.raises(OSError, match="something odd"):
        main(["list"])


def test_a_model_by_a_hostile_name_is_listed_harmlessly(capsys, monkeypatch):
    import gnomon

    run = gnomon.run("scales", "random", limit=5)
    manifest = (run.path / "run.json").read_text()
    (run.path / "run.json").write_text(manifest.replace('"random"', '"ran\\u001b[31mdom"'))
    assert main(["runs", "list"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "dom" in out


def test_after_ctrl_c_the_command_to_go_on_with_does_not_start_over(capsys, monkeypatch):
    import gnomon
    from gnomon.cli.execution import _tell_how_to_go_on

    run = gnomon.run("scales", "random", limit=5)
    monkeypatch.setattr("sys.argv", ["gnomon", "run", "scales", "-m", "random", "--restart"])
    _tell_how_to_go_on(run.path)
    err = capsys.readouterr().err
    assert "stopped after 5 of 5 items. To continue, give the command without --restart:" in err
    assert err.endswith("\n  gnomon run scales -m random\n")
