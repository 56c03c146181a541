"""VSR's votes in, the paper's set and its figures of agreement out, as far as the data allow."""

import json

import pytest

from gnomon.cli import main
from gnomon.items.itemfiles import read_items
from gnomon.people.agreement import figure, mean_person
from gnomon.people.summary import AgreementOptions, summarise
from gnomon.people.validation import validated, votes_of_file

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def votes(shared):
    return votes_of_file(shared / "data" / "vsr" / "raw.jsonl")


@pytest.fixture(scope="module")
def summary(votes):
    return summarise(votes, AgreementOptions(by=["relation"])).summary


def test_every_vote_of_every_validator_is_there(votes, summary):
    assert (len(votes.items), len(votes.people), summary.votes) == (12_809, 26, 30_068)


def test_the_validated_captions_are_exactly_those_of_the_paper(shared, tmp_path, capsys):
    folder = shared / "data" / "vsr"
    file = tmp_path / "validated.jsonl"
    assert main(["people", "agree", str(folder / "raw.jsonl"), "-o", str(file)]) == 0
    capsys.readouterr()
    mine = {(item.tags["image"], item.text, item.gold[0]) for item in read_items(file)}
    theirs = set()
    for part in ("train", "dev", "test"):
        for line in (folder / "random" / f"{part}.jsonl").read_text().splitlines():
            row = json.loads(line)
            theirs.add((row["image"], row["caption"], ("false", "true")[row["label"]]))
    assert len(mine) == 10_119
    assert mine == theirs


def test_what_is_unanimous_and_kept_is_what_the_release_has(summary):
    # The paper prints 73.2 and 77.7 %, which its own release does not give; see docs/people.md.
    found = summary.validation
    assert (found.kept, found.judged, found.unanimous) == (10_119, 12_808, 9_551)
    assert found.kept / found.items == pytest.approx(0.790, abs=5e-4)
    assert summary.votes / found.items == pytest.approx(2.347, abs=5e-4)


def test_relations_that_divide_people_are_those_of_figure_8(summary):
    shown = [row for row in summary.by["relation"] if row.items > 20]
    top = [(row.key, round(row.excluded, 3)) for row in shown[:6]]
    assert top == [
        ("at the side of", 0.351),
        ("beyond", 0.333),
        ("near", 0.331),
        ("at the left side of", 0.330),
        ("close to", 0.328),
        ("right of", 0.326),
    ]
    bottom = [(row.key, round(row.excluded, 3)) for row in shown[:-6:-1]]
    assert bottom[:3] == [("within", 0.057), ("part of", 0.092), ("into", 0.094)]


def test_agreement_and_ceiling_are_what_the_votes_give(summary):
    # The paper's 95.4 % and kappa of 0.895 are of two people on 500 captions, which were not
    # released. On the validated captions, validators are right more often: see the next test.
    figures = {figure.name: figure for figure in summary.agreement}
    assert figures["agreement"].value == pytest.approx(0.848, abs=5e-4)
    assert figures["alpha"].value == pytest.approx(0.698, abs=5e-4)
    assert figures["fleiss"].value == pytest.approx(0.696, abs=5e-4)
    ceiling = {figure.name: figure for figure in summary.ceiling}
    assert ceiling["person"].value == pytest.approx(0.8205, abs=5e-4)
    assert summary.consensus["converged"]


def test_on_validated_captions_people_are_near_the_papers_ceiling_of_95_4_percent(votes):
    # A little above it: these captions were kept because the same people confirmed them.
    kept = votes.where(validated(votes).kept.nonzero()[0])
    found = figure("person", mean_person(kept))
    assert found.value == pytest.approx(0.9666, abs=5e-4)
    assert 0.954 < found.low < 0.957


def test_pairs_of_photographs_from_coco_itself(shared, tmp_path, capsys):
    folder = shared / "data" / "coco128"
    file = tmp_path / "pairs.jsonl"
    sources = [
        "--set",
        f"instances={folder / 'instances.json'}",
        "--images",
        str(folder / "photos"),
    ]
    arguments = ["make", "vsr-pairs", *sources, "--set", "count=5", "--seed", "3"]
    assert main([*arguments, "--set", "area=5000", "-o", str(file)]) == 0
    assert "939" in capsys.readouterr().err
    found = list(read_items(file))
    assert len(found) == 5
    assert all(image.sha256 for item in found for image in item.images)
