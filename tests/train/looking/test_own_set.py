"""A set like VSR of one's own: 12 pairs, people, three ways to divide it, training and asking."""

import json
from collections import Counter

import gnomon
from gnomon.cli import main
from gnomon.items.itemfiles import read_items
from gnomon.people.answering import PersonSettings, asked_from_source, open_person_run
from gnomon.people.tasks import task_named

from .conftest import write_model

WAYS = ("random", "concept", "contrast")
RELATIONS = (("left of", "viewer"), ("touching", ""), ("behind", "own"), ("near", ""))


def answer(file, task, person, respond, runs):
    """A person answers every item of a file as `respond` says of its place and the item."""
    asked = asked_from_source(gnomon.load(file))
    run = open_person_run(asked, person, PersonSettings(task), runs)
    for place, slot in enumerate(sorted(run.slots, key=lambda slot: slot.item.id)):
        run.keep(slot, respond(place, slot.item))
    run.close()


def made_by_people(folder):
    """Two writers contrast 12 pairs of scenes, three others validate their captions."""
    scenes = ["make", "vsr@fresh", "-o", "scenes", "--set", "quads=14", "--set", "size=48"]
    assert main([*scenes, "--set", "processes=1", "--set", "distractors=0", "--quiet"]) == 0
    pairs = ["make", "vsr-pairs@scenes", "--set", "scenes=scenes", "--set", "count=12"]
    assert main([*pairs, "-o", "pairs.jsonl", "--quiet"]) == 0
    for number, writer in enumerate(("ann", "ben")):

        def contrasted(place, item, number=number):
            relation = RELATIONS[(place + 2 * number) % len(RELATIONS)][0]
            return {"order": "ab", "relation": relation, "true_of": str(place % 2)}

        answer("pairs.jsonl", task_named("contrast"), writer, contrasted, "writers")
    assert main(["people", "agree", "writers", "-o", "captions.jsonl"]) == 0
    validating = task_named("validate", ask_frame=True)
    frames = dict(RELATIONS)
    for person in ("cleo", "dan", "eve"):

        def validated(_, item, person=person):
            found = {"choice": item.gold[0]}
            if frames[item.tags["relation"]]:
                found["frame"] = frames[item.tags["relation"]] if person != "eve" else "both"
            return found

        answer("captions.jsonl", validating, person, validated, "validators")
    assert main(["people", "agree", "validators", "-o", "validated.jsonl"]) == 0
    return list(read_items(folder / "validated.jsonl"))


def test_a_set_made_by_people_is_divided_three_ways_trained_on_and_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = made_by_people(tmp_path)
    assert len(items) == 48  # two captions of each pair, of two pictures each
    named = {(item.tags["relation"], item.tags.get("frame", "")) for item in items}
    assert named == set(RELATIONS)  # what most people named

    parts = {}
    for way in WAYS:
        divide = ["make", "validated.jsonl", "--set", f"divide={way}", "-o", f"{way}.jsonl"]
        assert main([*divide, "--quiet"]) == 0
        found = list(read_items(tmp_path / f"{way}.jsonl"))
        parts[way] = {part: [] for part in ("train", "dev", "test")}
        for item in found:
            parts[way][item.tags["split"]].append(item)
    sizes = {way: [len(each) for each in found.values()] for way, found in parts.items()}
    assert sizes["random"] == [33, 5, 10]
    assert sum(sizes["contrast"]) == 48
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        texts = [{item.text for item in parts["contrast"][part]} for part in (one, other)]
        assert not texts[0] & texts[1]
        things = []
        for part in (one, other):
            names = Counter()
            for item in parts["concept"][part]:
                names.update((item.tags["subj"], item.tags["obj"]))
            things.append(set(names))
        assert not things[0] & things[1]

    write_model("vilt", tmp_path / "vilt", [item.text for item in items])
    recipe = {"kind": "look", "model": "vilt", "schedule": {"steps": 4, "batch": 8}}
    for way in WAYS:
        file = f"{way}.jsonl"
        held = {}
        for part in ("dev", "test"):
            held[part] = {"file": file, "where": {"split": part}, "may_share": ["*"]}
        recipe["data"] = {"train": {"file": file, "where": {"split": "train"}}, "parts": held}
        (tmp_path / "recipe.yaml").write_text(json.dumps(recipe))
        assert main(["train", "recipe.yaml", "-o", f"trained-{way}", "--quiet"]) == 0
        ask = ["run", file, "--split", "test", "-m", f"hf:trained-{way}", "--runs", "asked"]
        assert main([*ask, "--quiet"]) == 0
    from gnomon.runs import runs_in

    answered = {run.benchmark: run.manifest.counts.answered for run in runs_in("asked")}
    assert sorted(answered.values()) == sorted(size[2] for size in sizes.values())
