"""From pairs of pictures to a validated set and a human ceiling, by the steps of the guide."""

import json

import gnomon
from gnomon.cli import main
from gnomon.items.itemfiles import read_items
from gnomon.people.answering import PersonSettings, asked_from_source, open_person_run
from gnomon.people.tasks import task_named


def photos(folder):
    """Three photographs of a cat and a table, as COCO marks them."""
    from PIL import Image

    images, annotations = [], []
    for number in (1, 2, 3):
        Image.new("RGB", (16, 16), (80 * number, 0, 0)).save(folder / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png"})
        for category in (1, 2):
            thing = {"image_id": number, "category_id": category, "area": 50_000}
            annotations.append({"id": 10 * number + category, **thing})
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dining table"}]
    whole = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(whole))


def answer(file, task, person, respond):
    """A person answers every item of a file as `respond` says."""
    asked = asked_from_source(gnomon.load(file))
    run = open_person_run(asked, person, PersonSettings(task_named(task)), "runs")
    for slot in run.slots:
        run.keep(slot, respond(slot.item))
    run.close()
    return str(run.folder)


def test_pairs_become_captions_and_captions_a_validated_set(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    photos(tmp_path)
    source = ["vsr-pairs", "--set", "instances=instances.json", "--images", "."]
    assert main(["make", *source, "--set", "count=3", "-o", "pairs.jsonl"]) == 0

    def contrasted(item):
        return {"order": "ab", "relation": "on", "true_of": "1"}

    author = answer("pairs.jsonl", "contrast", "ann", contrasted)
    assert main(["people", "agree", author, "-o", "captions.jsonl"]) == 0
    captions = list(read_items(tmp_path / "captions.jsonl"))
    assert len(captions) == 6
    assert {item.text for item in captions} <= {
        "The cat is on the dining table.",
        "The dining table is on the cat.",
    }
    assert sum(item.gold == ("true",) for item in captions) == 3

    gold = {item.id: item.gold[0] for item in captions}
    disputed = captions[0].id
    validators = []
    for person in ("ben", "cleo", "dee"):

        def validated(item, person=person):
            wrong = item.id == disputed and person != "ben"
            label = gold[item.id]
            return {"choice": {"true": "false", "false": "true"}[label] if wrong else label}

        validators.append(answer("captions.jsonl", "validate", person, validated))
    capsys.readouterr()
    assert main(["people", "agree", *validators, "-o", "validated.jsonl", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["benchmark"] == "vsr@captions.jsonl"
    assert found["validation"]["kept"] == 5
    kept = list(read_items(tmp_path / "validated.jsonl"))
    assert disputed not in {item.id for item in kept}

    run = gnomon.run(gnomon.load("validated.jsonl"), "constant:true", runs="runs")
    assert run.benchmark == "vsr@validated.jsonl"
    assert run.counts().answered == 5
    assert main(["report", *validators, "-o", "report.html"]) == 0
    assert "majority of 3 people" in (tmp_path / "report.html").read_text()

    capsys.readouterr()
    assert main(["people", "forget", "ben", "--yes"]) == 0
    told = capsys.readouterr().out
    for name in ("validated.jsonl", "report.html", "vsr@validated.jsonl-constant"):
        assert name in told
    assert not (tmp_path / validators[0]).exists()
    assert (tmp_path / validators[1]).exists()
    assert main(["people", "forget", "ann", "--yes"]) == 0
    assert "captions.jsonl  captions that they wrote" in capsys.readouterr().out
