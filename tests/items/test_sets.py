"""The catalogue of public benchmarks of others."""

import json

import pytest

import gnomon
from gnomon.cli.dispatch import main
from gnomon.errors import GnomonError, UsageError
from gnomon.items.mapping import map_of
from gnomon.items.sets import named_sets


def test_there_are_many_and_each_says_what_it_asks_and_where_it_is():
    known = named_sets()
    assert len(known) >= 25
    for one in known.values():
        assert one.asks
        assert one.files
        assert one.where
        assert one.licence
        assert one.opened in ("file", "form", "no")
        map_of(one.map)


def test_a_set_is_asked_by_its_authors_files(tmp_path):
    rows = [
        {"story": ["A is above B."], "question": f"Where is A {n}?", "label": "above"}
        for n in range(3)
    ]
    rows.append({"story": ["A is below B."], "question": "Where is A?", "label": "below"})
    (tmp_path / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = gnomon.load("set:stepgame", data=str(tmp_path))
    assert source.name == "stepgame@set"
    assert [item.gold for item in source.items()] == [("above",)] * 3 + [("below",)]
    run = gnomon.run(source, "majority", runs=str(tmp_path / "runs"))
    assert run.benchmark == "stepgame@set"


def test_a_set_says_what_it_lacks(tmp_path):
    with pytest.raises(UsageError, match="needs its authors' files"):
        gnomon.load("set:stepgame")
    with pytest.raises(GnomonError, match="the file of set:stepgame is missing"):
        gnomon.load("set:stepgame", data=str(tmp_path))
    with pytest.raises(UsageError, match="no set named 'stepgane'"):
        gnomon.load("set:stepgane", data=str(tmp_path))


def test_sets_are_listed(capsys):
    assert main(["list", "sets"]) == 0
    assert "never opened here" in capsys.readouterr().out
    assert main(["list", "sets", "geneval", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one["licence"] == "MIT"
    assert main(["list", "sets", "stepgame"]) == 0
    assert "audit: from the story alone a classifier gets 19 %" in capsys.readouterr().out
    assert main(["list", "sets", "mindcube"]) == 0
    assert "audit: not audited here" in capsys.readouterr().out
