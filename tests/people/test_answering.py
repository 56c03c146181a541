from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gnomon.errors import GnomonError, RunError, UsageError
from gnomon.people import order as extras
from gnomon.people.answering import (
    LONGEST_COMMENT,
    AskedItems,
    PersonRun,
    PersonSettings,
    open_person_run,
)
from gnomon.people.order import EXTRAS, instructed, read_extras, slots_for
from gnomon.people.tasks import ResponseError, question_of, read_response, task_named
from gnomon.records import Item
from gnomon.runs import Run, RunLog, remove

SETTINGS = PersonSettings(task_named("choose"))


def items(count: int = 6) -> tuple[Item, ...]:
    return tuple(
        Item(
            id=f"i{n}",
            form="choice",
            text=f"Is lamp {n} above the floor?",
            choices=("yes", "no"),
            gold=("yes",),
        )
        for n in range(count)
    )


def asked(count: int = 6) -> AskedItems:
    return AskedItems("lamps@file", {}, None, items(count))


def begin(runs: Path, settings: PersonSettings = SETTINGS, person: str = "ann") -> PersonRun:
    return open_person_run(asked(), person, settings, runs)


def answers_of(folder: Path) -> dict[str, object]:
    return {answer.item: answer for _, answer in Run.open(folder).answers()}


def test_a_persons_answers_are_an_ordinary_run(tmp_path: Path) -> None:
    person = begin(tmp_path)
    for slot in person.slots:
        person.keep(slot, {"choice": "yes"}, seconds=2.5)
    person.close()
    run = Run.open(person.folder)
    assert run.model == "people:ann"
    assert run.manifest.finished is not None
    assert run.manifest.counts.answered == 6
    answer = answers_of(person.folder)["i3"]
    assert (answer.choice, answer.reply, answer.rule) == ("yes", "yes", "people/choose")
    assert answer.seconds == 2.5


def test_the_last_of_several_answers_counts_and_none_is_doubled(tmp_path: Path) -> None:
    person = begin(tmp_path)
    slot = person.slots[0]
    for choice in ("yes", "no", "yes", "no"):
        person.keep(slot, {"choice": choice})
    person.close()
    found = list(Run.open(person.folder).answers())
    assert [answer.choice for _, answer in found] == ["no"]
    assert len(read_extras(person.folder)) == 1


def test_a_skipped_item_says_why_and_can_be_answered_later(tmp_path: Path) -> None:
    person = begin(tmp_path)
    slot = person.slots[0]
    person.keep(slot, {}, skipped="hard", comment="no idea")
    answer = answers_of(person.folder)[slot.item.id]
    assert (answer.choice, answer.error) == (None, "skipped: hard")
    person.keep(slot, {"choice": "no"})
    answer = answers_of(person.folder)[slot.item.id]
    assert (answer.choice, answer.error) == ("no", None)
    person.keep(slot, {}, skipped="other")
    answer = answers_of(person.folder)[slot.item.id]
    assert (answer.choice, answer.error, answer.reply) == (None, "skipped: other", None)
    person.close()


def test_what_cannot_be_an_answer_changes_nothing(tmp_path: Path) -> None:
    person = begin(tmp_path)
    slot = person.slots[0]
    person.keep(slot, {"choice": "yes"})
    before = (person.folder / EXTRAS).read_bytes()
    for wrong in (
        {"response": {"choice": "perhaps"}},
        {"response": {}},
        {"response": {}, "skipped": "because"},
        {"response": {"choice": "no"}, "comment": "x" * (LONGEST_COMMENT + 1)},
    ):
        response = wrong.pop("response")
        with pytest.raises(ResponseError):
            person.keep(slot, response, **wrong)
    assert (person.folder / EXTRAS).read_bytes() == before
    assert answers_of(person.folder)[slot.item.id].choice == "yes"
    person.close()


def test_what_was_written_down_but_not_logged_is_logged_when_the_run_is_opened(
    tmp_path: Path,
) -> None:
    person = begin(tmp_path)
    person.keep(person.slots[0], {"choice": "yes"})
    person.close()
    kept = read_extras(person.folder)[0]
    lost = msgspec.structs.replace(kept, slot=person.slots[1].key, item=person.slots[1].item.id)
    with (person.folder / EXTRAS).open("ab") as file:
        file.write(msgspec.json.encode(lost) + b"\n" + b'{"slot": "item/5", "kin')
    begin(tmp_path).close()
    assert len(answers_of(person.folder)) == 2
    assert len(read_extras(person.folder)) == 2
    assert (person.folder / EXTRAS).read_bytes().endswith(b"\n")


def test_catch_items_and_repeats_are_kept_beside_the_run_not_in_it(tmp_path: Path) -> None:
    catch = tuple(instructed(SETTINGS.task, items(), 2))
    person = begin(tmp_path, PersonSettings(SETTINGS.task, repeat=3, catch=catch))
    assert len(person.slots) == 6 + 3 + 2
    for slot in person.slots:
        person.keep(slot, {"choice": "yes"})
    person.close()
    assert Run.open(person.folder).counts().items == 6
    assert len(answers_of(person.folder)) == 6
    extras = read_extras(person.folder)
    kinds = [extra.kind for extra in extras]
    assert (kinds.count("item"), kinds.count("repeat"), kinds.count("catch")) == (6, 3, 2)
    expected = {item.id: item.gold == ("yes",) for item in catch}
    assert {e.item: e.right for e in extras if e.kind == "catch"} == expected


def test_the_order_is_the_persons_own_and_the_same_every_time() -> None:
    many = items(40)
    ann = [slot.key for slot in slots_for("ann", many)]
    assert ann == [slot.key for slot in slots_for("ann", many)]
    assert ann != [slot.key for slot in slots_for("ben", many)]
    assert ann != [slot.key for slot in slots_for("ann", many, seed=1)]
    assert sorted(ann) == sorted(f"item/{n}" for n in range(40))


def test_a_repeat_comes_at_least_half_the_set_later() -> None:
    for name in ("ann", "ben", "cleo"):
        keys = [slot.key for slot in slots_for(name, items(40), repeat=10)]
        repeats = [key for key in keys if key.startswith("repeat/")]
        assert len(repeats) == 10
        for key in repeats:
            first = keys.index(key.replace("repeat", "item"))
            assert keys.index(key) - first >= 20


@pytest.mark.parametrize("kind", ["choose", "scale"])
def test_a_made_up_catch_item_names_its_right_answer(kind: str) -> None:
    task = task_named(kind)
    plain = Item(
        id="1",
        form="entailment",
        text="Ann is in.",
        choices=("entailment", "neutral", "contradiction"),
        gold=("neutral",),
    )
    for item in instructed(task, [plain], 20):
        part = question_of(task, item).parts[0]
        wanted = [o for o in part.options if f"“{o.label}”" in item.text]
        assert len(wanted) == 1
        assert read_response(task, item, {part.name: wanted[0].value}).choice in item.gold


def test_catch_items_of_pictures_must_be_given() -> None:
    with pytest.raises(UsageError, match="catch=FILE"):
        instructed(task_named("picture"), items(), 1) or None


def test_a_run_that_was_begun_with_other_settings_is_not_mixed_up(tmp_path: Path) -> None:
    begin(tmp_path).close()
    with pytest.raises(RunError, match="repeat"):
        begin(tmp_path, PersonSettings(SETTINGS.task, repeat=2))
    other = AskedItems("lamps@file", {}, None, items(5))
    with pytest.raises(RunError, match="items"):
        open_person_run(other, "ann", SETTINGS, tmp_path)
    begin(tmp_path).close()  # and the run itself is as it was


def test_two_processes_cannot_write_for_one_person(tmp_path: Path) -> None:
    person = begin(tmp_path)
    with pytest.raises(RunError, match="Another process"):
        begin(tmp_path)
    person.close()


@pytest.mark.parametrize("name", ["", "../ann", "a b", "x" * 41, "ann\n"])
def test_a_name_must_fit_into_an_address_and_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="pseudonym"):
        begin(tmp_path, person=name)
    assert not list(tmp_path.iterdir())


def test_a_persons_run_can_be_removed_whole(tmp_path: Path) -> None:
    person = begin(tmp_path)
    person.keep(person.slots[0], {"choice": "yes"})
    person.close()
    remove(Run.open(person.folder))
    assert not person.folder.exists()


def test_a_full_disk_keeps_what_was_saved_and_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = begin(tmp_path)
    person.keep(person.slots[0], {"choice": "yes"})

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(extras.os, "fsync", fail)
        with pytest.raises(RunError, match="No space left"):
            person.keep(person.slots[1], {"choice": "no"})
    person.keep(person.slots[2], {"choice": "no"})
    person.close()
    kept = [extra.slot for extra in read_extras(person.folder)]
    assert kept == [person.slots[0].key, person.slots[2].key]
    assert len(answers_of(person.folder)) == 2


def test_an_answer_that_the_log_could_not_take_is_logged_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = begin(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(RunLog, "add_answers", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            person.keep(person.slots[0], {"choice": "yes"})
    person.close()
    assert len(answers_of(person.folder)) == 1


def test_damaged_extras_say_where(tmp_path: Path) -> None:
    person = begin(tmp_path)
    person.keep(person.slots[0], {"choice": "yes"})
    person.close()
    with (person.folder / EXTRAS).open("ab") as file:
        file.write(b"what is this\n")
    with pytest.raises(GnomonError, match=f"{EXTRAS}:2"):
        begin(tmp_path)
