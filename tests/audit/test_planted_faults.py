"""Each check finds the fault that it is for, where it was planted in a set that has none."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from gnomon.audit.auditing import CHECKS, audit
from gnomon.audit.sets import Compared, VoteCount
from tests.audit.soundsets import (
    LABELS,
    alarms,
    asked,
    changed,
    random_question,
    random_set,
    set_of,
)

TARGETS = {"larger": "greater", "smaller": "lesser"}


def found(audited, check):
    """The findings of one check, by part."""
    return {finding.part: finding for finding in audit(audited, [check]).findings}


def test_a_sound_set_has_no_alarm_and_every_check_says_something(sound):
    report = audit(sound)
    assert report.alarms == []
    assert {finding.check for finding in report.findings} == set(CHECKS)
    assert all(finding.says for finding in report.findings)


@pytest.mark.parametrize("gold", [(), ("perhaps",)])
def test_a_set_in_which_nothing_can_be_answered_is_told_so(sound, gold):
    questions = [changed(question, gold=gold) for question in sound.questions]
    report = audit(replace(sound, questions=questions))
    assert {finding.part for finding in report.alarms} == {"gold"}
    assert {finding.check for finding in report.findings} == set(CHECKS)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("ids", {"id": "q8"}),
        ("gold", {"gold": ("perhaps",)}),
        ("gold", {"gold": ()}),
        ("choices", {"choices": ("entailment",), "gold": ("entailment",)}),
        ("texts", {"texts": (" ", "")}),
    ],
)
def test_integrity_finds_an_item_that_cannot_be_asked(sound, part, change):
    questions = list(sound.questions)
    questions[7] = changed(questions[7], **change)
    finding = found(replace(sound, questions=questions), "integrity")[part]
    assert finding.alarm
    assert questions[7].id in finding.items


def test_integrity_finds_the_few_items_without_a_picture(sound):
    questions = [changed(question, picture="a.png") for question in sound.questions]
    assert "pictures" not in found(replace(sound, questions=questions), "integrity")
    questions[7] = sound.questions[7]
    finding = found(replace(sound, questions=questions), "integrity")["pictures"]
    assert finding.alarm
    assert finding.items == (questions[7].id,)
    assert "pictures" not in found(sound, "integrity"), "a set without pictures needs none"


def test_integrity_holds_counts_against_what_is_claimed(sound):
    right = sum(question.split == "test" for question in sound.questions)
    claims = replace(sound, claimed={"": 360, "test": right + 1})
    findings = found(claims, "integrity")
    assert not findings["count"].alarm
    assert findings["count of test"].alarm


def test_duplicates_finds_a_repeat_a_conflict_and_a_torn_twin(sound):
    questions = list(sound.questions)
    other = next(label for label in LABELS if label != questions[3].gold[0])
    questions.append(changed(questions[3], id="twin", gold=(other,), split="dev"))
    findings = found(replace(sound, questions=questions), "duplicates")
    for part in ("repeats", "conflicts", "across splits"):
        assert findings[part].alarm
        assert findings[part].items == ("q3", "twin")


def test_a_conflict_is_shown_by_two_items_with_different_labels(sound):
    questions = list(sound.questions)
    other = next(label for label in LABELS if label != questions[3].gold[0])
    questions.append(changed(questions[3], id="same"))
    questions.append(changed(questions[3], id="twin", gold=(other,)))
    [example] = found(replace(sound, questions=questions), "duplicates")["conflicts"].examples
    assert example.ids == ("q3", "twin")
    first, second = example.text.splitlines()
    assert first.startswith("q3: ")
    assert first.endswith(f"→ {questions[3].gold[0]}")
    assert second.startswith("twin: ")
    assert second.endswith(f"→ {other}")


def test_constants_finds_a_frequent_label():
    audited = random_set(2, gold=lambda i, one: ("neutral",) if i % 3 == 0 else one.gold)
    [finding] = audit(audited, ["constants"]).findings
    assert finding.alarm
    assert finding.part == "'neutral'"
    assert finding.value == pytest.approx(1 / 3 + 2 / 9, abs=0.06)


def test_constants_finds_a_frequent_place():
    draw = Random(3)
    questions = []
    for number in range(300):
        choices = draw.sample(range(10_000), 4)
        place = 2 if number % 2 else draw.randrange(4)
        texts = tuple(map(str, choices))
        questions.append(asked(f"q{number}", ("", f"Which? {number}"), texts, (texts[place],)))
    assert alarms(set_of(questions), "constants") == {"constants": ["choice 3"]}


def test_lookup_finds_labels_that_training_tells():
    draw = Random(4)
    questions = []
    for number in range(400):
        one = random_question(draw, number)
        questions.append(changed(one, split="train"))
        if number < 120:
            questions.append(changed(one, id=f"again {number}", split="test", picture=f"p{number}"))
        else:
            fresh = random_question(draw, 1000 + number)
            questions.append(changed(fresh, split="test"))
    finding = found(set_of(questions), "lookup")["text in train"]
    assert finding.alarm
    assert finding.value > finding.chance
    assert finding.behind == 120


def test_flipped_lookup_finds_a_pair_that_the_split_tears_apart():
    """Each caption is true of one picture and false of another; one of them is in training."""
    draw = Random(5)
    questions = []
    for number in range(300):
        text = random_question(draw, number).texts[1]
        for label, picture in zip(draw.sample(["true", "false"], 2), "ab", strict=True):
            split = "train" if picture == "a" or number % 3 else "test"
            one = asked(f"q{number}{picture}", ("", text), ("false", "true"), (label,))
            questions.append(changed(one, split=split, picture=f"{picture}{number}", group=text))
    audited = set_of(questions)
    flipped = found(audited, "flipped_lookup")["text in train"]
    assert flipped.alarm
    assert flipped.value == 1.0
    straight = found(audited, "lookup")["text in train"]
    assert not straight.alarm  # which would only echo the other rule
    assert straight.value == 0.0


def test_shared_context_finds_pictures_of_the_test_in_training(sound):
    pictures = [f"p{number % 90}" for number in range(len(sound.questions))]
    questions = [
        changed(question, picture=picture, split="train" if number < 300 else "test", group="")
        for number, (question, picture) in enumerate(zip(sound.questions, pictures, strict=True))
    ]
    finding = found(replace(sound, questions=questions), "shared_context")["picture in train"]
    assert finding.alarm
    assert finding.value == 1.0
    assert finding.behind == 60


@pytest.mark.parametrize("field", [0, 1])
def test_partial_input_finds_a_word_that_gives_the_label_away(field):
    words = dict(zip(LABELS, ("clearly", "perhaps", "hardly"), strict=True))

    def telling(number, question):
        texts = list(question.texts)
        if number % 2:
            texts[field] += f" {words[question.gold[0]]}"
        return tuple(texts)

    audited = random_set(6, texts=telling)
    name = audited.fields[field]
    parts = alarms(audited, "partial_input")["partial_input"]
    assert f"{name}, by group" in parts
    assert f"{name}, at random" in parts
    assert not any(part.startswith(audited.fields[1 - field]) for part in parts)


def test_partial_input_finds_labels_that_lengths_give_away():
    def longer(number, question):
        more = " and so on" * LABELS.index(question.gold[0])
        return question.texts[0], question.texts[1] + more

    parts = alarms(random_set(7, texts=longer), "partial_input")["partial_input"]
    assert "lengths and shared words, by group" in parts


def test_partial_input_finds_choices_that_give_themselves_away():
    draw = Random(8)
    questions = []
    for number in range(300):
        wrong = [f"word{draw.randrange(4000)} word{draw.randrange(4000)}" for _ in range(3)]
        right = f"word{draw.randrange(4000)} of course word{draw.randrange(4000)}"
        choices = tuple(draw.sample([right, *wrong], 4))
        questions.append(asked(f"q{number}", ("", f"Which? {number}"), choices, (right,)))
    parts = alarms(set_of(questions), "partial_input")["partial_input"]
    assert parts == ["length, place and writing of the choices", "words of the choices"]


def test_words_finds_a_biased_vocabulary():
    def biased(number, question):
        nouns = [f"{question.gold[0][:2]}{number % 3}", f"noun{number % 5}"]
        return question.texts[0], " ".join(nouns)

    finding = found(random_set(9, texts=biased), "words")["text, by items"]
    assert finding.alarm
    assert finding.value > 0.5
    assert "' in 100.0 %" in finding.says
    assert finding.behind == 360


def test_shapes_finds_templates_with_one_label():
    def templated(number, question):
        verb = f"does {LABELS.index(question.gold[0])} times"
        return question.texts[0], f"name{number} {verb} name{1000 + number}"

    finding = found(random_set(10, texts=templated), "shapes")["text"]
    assert finding.alarm
    assert finding.value == 1.0
    assert finding.chance < 0.1


def comparison(number, first, second, label):
    said = Compared(first, second, TARGETS)
    texts = ("", f"a {first} is ___ than a {second}")
    return asked(f"q{number}", texts, tuple(TARGETS), (label,), compared=said)


def test_order_finds_a_cycle_and_a_contradiction():
    chain = [comparison(i, f"t{i}", f"t{i + 1}", "larger") for i in range(40)]
    findings = found(set_of(chain), "order")
    assert not any(finding.alarm for finding in findings.values())
    assert findings["implied"].value == 0.0

    implied = [*chain, comparison(90, "t0", "t2", "larger")]
    assert found(set_of(implied), "order")["implied"].value == pytest.approx(1 / 41)

    cycle = [*chain, comparison(99, "t5", "t2", "larger")]
    findings = found(set_of(cycle), "order")
    assert findings["tangle"].alarm
    assert "t2 > t3 > t4 > t5 > t2" in findings["tangle"].says
    assert findings["against an order"].behind == 1
    assert not findings["contradictions"].alarm

    both = [*chain, comparison(98, "t3", "t2", "larger")]
    assert found(set_of(both), "order")["contradictions"].items == ("q2", "q98")


def test_disputes_finds_votes_against_labels(sound):
    def voted(share):
        questions = [
            changed(question, votes=VoteCount(2, 3) if number % 10 < share else VoteCount(3, 3))
            for number, question in enumerate(sound.questions)
        ]
        return found(replace(sound, questions=questions), "disputes")

    assert not voted(1)["dissent"].alarm
    assert voted(3)["dissent"].alarm
    assert voted(3)["dissent"].value == pytest.approx(0.3)
    lost = [changed(question, votes=VoteCount(1, 3)) for question in sound.questions]
    assert found(replace(sound, questions=lost), "disputes")["majority"].alarm


def captioned(*texts, label="true"):
    return [
        asked(f"q{i}", ("", text), ("false", "true"), (label,), picture="p1")
        for i, text in enumerate(texts)
    ]


def test_clash_finds_captions_of_one_picture_that_cannot_both_be_true():
    pytest.importorskip("z3")
    fine = captioned("The cat is left of the dog.", "The dog is right of the cat.")
    assert alarms(set_of(fine), "clash") == {}
    false = captioned("The cat is left of the dog.", "The dog is left of the cat.", label="false")
    assert alarms(set_of(false), "clash") == {}

    wrong = captioned("The cat is left of the dog.", "The dog is at the left side of the cat.")
    finding = found(set_of(wrong), "clash")["pictures"]
    assert finding.alarm
    assert finding.items == ("q0", "q1")
    assert not found(set_of(wrong), "clash")["pictures, whoever's sides"].alarm

    three = captioned(
        "The cat is above the dog.", "The dog is above the cow.", "The cow is above the cat."
    )
    assert found(set_of(three), "clash")["pictures"].items == ("q0", "q1", "q2")


def test_clash_finds_a_story_that_contradicts_itself():
    pytest.importorskip("z3")
    story = "The cup is above the jug. The jug is above the pan. The pan is above the cup."
    one = asked("q0", (story, "The cup is above the pan."), LABELS, ("entailment",))
    assert found(set_of([one]), "clash")["stories"].alarm


def asked_yes_no(number, first, word, second, gold):
    text = f"Is the {first} {word} than the {second}?"
    return asked(f"q{number}", ("", text), ("yes", "no"), (gold,))


def test_order_finds_a_cycle_that_is_asked_with_yes_and_no():
    facts = [("cup", "larger", "pan", "yes"), ("jug", "smaller", "pan", "yes")]
    sound = [asked_yes_no(number, *fact) for number, fact in enumerate(facts)]
    assert not any(finding.alarm for finding in found(set_of(sound), "order").values())
    closed = [*sound, asked_yes_no(2, "cup", "bigger", "jug", "no")]
    tangle = found(set_of(closed), "order")["tangle"]
    assert tangle.alarm
    assert tangle.behind == 3
    taller = [*sound, asked_yes_no(2, "cup", "taller", "jug", "no")]  # another scale
    assert not any(finding.alarm for finding in found(set_of(taller), "order").values())


@pytest.mark.parametrize(
    ("premises", "claim", "label", "part"),
    [
        ("The cup is left of the jug.", "The jug is right of the cup.", 0, "every reading"),
        ("The cup is left of the jug.", "The jug is right of the cup.", 1, "no reading"),
        ("The cup is left of the jug.", "The jug is above the cup.", 2, "some readings"),
        (
            "The cup is near the jug and the jug is near the pan.",
            "The cup is near the pan.",
            0,
            "no reading",
        ),
        ("The cup is far from the jug.", "The jug is not near the cup.", 0, "every reading"),
    ],
)
def test_proof_says_in_which_readings_a_label_holds(premises, claim, label, part):
    pytest.importorskip("z3")
    one = asked("q0", (premises, claim), LABELS, (LABELS[label],))
    findings = found(set_of([one]), "proof")
    assert [name for name, finding in findings.items() if finding.behind] == [part]
    assert findings["no reading"].alarm == (part == "no reading")


def test_proof_judges_only_what_it_can_read():
    for claim in ("The cup is lovely.", "The cup is left of the jug from the bar.", "Cup left."):
        one = asked("q0", ("The cup is left of the jug.", claim), LABELS, ("neutral",))
        [finding] = audit(set_of([one]), ["proof"]).findings
        assert finding.value is None
        assert not finding.alarm
