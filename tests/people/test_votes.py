"""Votes from runs and files, what they confirm, and what people reach together."""

import numpy as np
import pytest
from msgspec.structs import replace

import gnomon
from gnomon.errors import DataError, UsageError
from gnomon.items.itemfiles import read_items
from gnomon.items.writing import write_items
from gnomon.people.agreement import beside_others, ceilings, majority_right, mean_person
from gnomon.people.reliability import Care, ShareOf, care_in_votes
from gnomon.people.summary import AgreementOptions, plain, summarise
from gnomon.people.validation import validated, validated_items, votes_of_file
from gnomon.people.votes import PersonVote, Votes, votes_of_runs
from tests.people.voting import Person, items_of, people_runs, votes_of

LABELS = ("false", "true")
SAID = {
    "ann": {"0": "true", "1": "true", "2": "false"},
    "ben": {"0": "true", "1": "false"},  # skips the last
    "cas": {"0": "true", "1": "false", "2": "true"},
}


@pytest.fixture
def runs(tmp_path):
    return people_runs(tmp_path, items_of(3, LABELS, [1, 1, 0]), SAID)


def test_runs_of_people_are_votes_with_gaps(runs):
    votes = votes_of_runs(runs)
    assert votes.people == ("ann", "ben", "cas")
    assert votes.benchmark == "items@items.jsonl"
    assert votes.said.tolist() == [[1, 1, 1], [1, 0, 0], [0, -1, 1]]
    assert votes.right.tolist() == [[True] * 3, [True, False, False], [True, False, False]]


def test_two_runs_of_a_person_are_one_voter(tmp_path):
    first, second = items_of(2, LABELS)
    write_items(tmp_path / "one.jsonl", [first])
    write_items(tmp_path / "two.jsonl", [second])
    runs = []
    for name in ("one", "two"):
        source = gnomon.load(str(tmp_path / f"{name}.jsonl"))
        runs.append(gnomon.run(source, Person("ann", {"0": "true", "1": "false"}), runs=tmp_path))
    with pytest.raises(UsageError, match="2 benchmarks"):
        votes_of_runs(runs)
    runs[1].manifest.benchmark = runs[0].benchmark
    votes = votes_of_runs(runs)
    assert votes.people == ("ann",)
    assert votes.said.tolist() == [[1], [0]]


def test_items_that_share_an_id_but_ask_different_things_are_refused():
    one, two = items_of(1, LABELS)[0], items_of(1, ("no", "yes"))[0]
    with pytest.raises(DataError, match="ask different things"):
        Votes.of("b@file", [(one, [PersonVote("ann", "true")]), (two, [PersonVote("ben", "yes")])])


def test_two_thirds_of_the_votes_confirm_a_label_and_no_vote_does_not():
    matrix = [[1, 1, 0], [1, 0, -1], [1, 1, 1], [-1, -1, -1], [0, 0, 1]]
    votes = votes_of(matrix, LABELS, gold=[1, 1, 1, 1, 1])
    found = validated(votes)
    assert found.kept.tolist() == [True, False, True, False, False]
    assert found.disputed.tolist() == [True, True, False, False, True]
    assert validated(votes, least=3).kept.tolist() == [True, False, True, False, False]


def test_a_majority_makes_the_label_and_a_tie_makes_none():
    matrix = [[0, 0, 1], [0, 1, -1], [1, 1, 1]]
    found = validated(votes_of(matrix, LABELS, gold=[1, 1, 1]), "majority")
    assert found.kept.tolist() == [True, False, True]
    assert found.label[[0, 2]].tolist() == [0, 1]
    assert validated(votes_of(matrix, LABELS), "majority", 3).kept.tolist() == [True, False, True]


def test_validated_items_can_be_asked_and_read_back_with_their_votes(runs, tmp_path):
    votes = votes_of_runs(runs)
    found = validated(votes, "majority")
    file = tmp_path / "kept.jsonl"
    assert write_items(file, validated_items(votes, found)) == 2
    first, second = read_items(file)
    assert second.gold == ("false",)
    assert first.tags["vote:ann"] == "true"
    assert (second.tags["votes"], second.tags["agreement"], second.tags["dissent"]) == (
        "3",
        "0.67",
        "yes",
    )
    assert votes_of_file(file).said.tolist() == votes.said[:2].tolist()
    run = gnomon.run(gnomon.load(str(file)), "constant:true", runs=tmp_path / "again")
    assert gnomon.score(run)[0].value == 0.5


def test_further_votes_of_a_person_count_where_the_file_says_so_and_survive_it(tmp_path):
    item = items_of(1, LABELS, [1])[0]
    said = [
        PersonVote("v1", "true"),
        PersonVote("v2", "false"),
        PersonVote("v1", "true"),
        PersonVote("v1", "false"),
    ]
    once = Votes.of("b@file", [(item, said)])
    votes = Votes.of("b@file", [(item, said)], all_count=True)
    assert once.counts().tolist() == [[1, 1]]
    assert votes.counts().tolist() == [[2, 2]]
    assert care_in_votes(votes) == {"v1": Care(ShareOf(2, 1)), "v2": Care()}

    write_items(tmp_path / "v.jsonl", validated_items(votes, validated(votes)._replace(kept=[1])))
    again = votes_of_file(tmp_path / "v.jsonl")
    assert again.counts().tolist() == [[2, 2]]
    assert again.people == ("v1", "v2")


def test_a_file_of_items_without_votes_is_refused(tmp_path):
    write_items(tmp_path / "plain.jsonl", items_of(2, LABELS))
    with pytest.raises(DataError, match="no votes"):
        votes_of_file(tmp_path / "plain.jsonl")


def test_the_ceiling_is_the_mean_person_the_majority_and_each_beside_the_others():
    matrix = [[1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 1]]
    votes = votes_of(matrix, LABELS, gold=[1, 1, 1, 0])
    assert mean_person(votes).value == pytest.approx((3 / 4 + 1 + 1 / 3) / 3)
    assert majority_right(votes).value in (0.75, 1.0)  # a draw decides the third
    # p0 and p1 agree but on the third; beside them p2 is right about the second alone.
    with_majority = beside_others(votes)
    assert with_majority.value == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)
    assert [each.name for each in ceilings(votes)] == ["person", "majority", "others"]


def test_the_summary_is_plain_data_and_slices_hold_their_own_items(runs):
    found = summarise(
        votes_of_runs(runs), AgreementOptions(by=["relation"]), {"ann": Care(ShareOf(4, 3))}
    )
    record = plain(found.summary)
    assert record["votes"] == 8
    assert [row["key"] for row in record["by"]["relation"]] == ["r1", "r2", "r0"]
    assert record["by"]["relation"][0]["excluded"] == 1.0
    assert record["people"][0]["care"]["again"] == {"n": 4, "good": 3}
    assert record["people"][1]["answers"] == 2
    assert record["validation"]["kept"] == 1
    divided = [row["votes"] for row in record["dividing"]]
    assert divided == [
        {"false": ["ann"], "true": ["cas"]},
        {"false": ["ben", "cas"], "true": ["ann"]},
    ]


def test_reliability_and_ceiling_need_no_right_labels():
    matrix = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]])
    open_items = [replace(item, gold=()) for item in votes_of(matrix, LABELS).items]
    judged = []
    for item, row in zip(open_items, matrix.tolist(), strict=True):
        judged.append(
            (item, [PersonVote(f"p{person}", LABELS[code]) for person, code in enumerate(row)])
        )
    found = summarise(Votes.of("b@file", judged), AgreementOptions())
    assert [each.name for each in found.summary.ceiling] == ["others"]
    assert found.summary.people[0].accuracy is None
    assert found.summary.consensus["converged"]
    assert found.summary.people[2].reliability < found.summary.people[0].reliability


def test_votes_of_an_earlier_validation_are_not_counted_again():
    (item,) = items_of(1, LABELS, [1], **{"vote:old": "false", "vote:old#2": "false"})
    votes = Votes.of("items@file", [(item, [PersonVote("ann", "true"), PersonVote("ben", "true")])])
    (kept,) = validated_items(votes, validated(votes))
    found = {name: value for name, value in kept.tags.items() if name.startswith("vote:")}
    assert found == {"vote:ann": "true", "vote:ben": "true"}
    assert kept.tags["relation"] == "r0"
