"""VSR: both releases read alike, the validation rule, and splits that keep what they promise."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnomon
from gnomon import files
from gnomon.benchmarks.vsr import files as vsr_files
from gnomon.benchmarks.vsr import files as vsr_splits
from gnomon.benchmarks.vsr import task as vsr
from gnomon.benchmarks.vsr.files import VsrCaption, concepts, validated
from gnomon.errors import DataError, MissingFileWarning, UsageError
from gnomon.lexicon.relations import lexicon
from gnomon.records import Fingerprint, Image, problem

# As far as a header goes: 8 pixels wide, 6 high.
JPEG = b"\xff\xd8\xff\xc0\x00\x0b\x08\x00\x06\x00\x08\x01\x01\x11\x00"
THINGS = [
    "horse",
    "hot dog",
    "elephant",
    "cat",
    "person",
    "dining table",
    "bench",
    "cup",
    "bed",
    "truck",
]
RELATIONS = ["on top of", "contains", "left of", "touching", "among", "congruent"]


def row(
    number: int,
    first="cat",
    second="bed",
    relation="touching",
    label=1,
    true=(1, 2),
    false=(),
    **more,
):
    copula = "" if relation in lexicon().verbs else "is "
    name = f"{number:012d}.jpg"
    return {
        "image": name,
        "image_link": f"http://images.cocodataset.org/train2017/{name}",
        "caption": f"The {first} {copula}{relation} the {second}.",
        "label": label,
        "relation": relation,
        "annotator_id": 7,
        "vote_true_validator_id": list(true),
        "vote_false_validator_id": list(false),
        **more,
    }


def write(file, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "\n".join(json.dumps(found) for found in rows)
    )  # the first release has no final newline


@pytest.fixture
def rows():
    """Contrastive pairs: each caption once true and once false, on two images."""
    pairs = list(combinations(THINGS, 2))
    return [
        row(
            2 * i + label,
            a,
            b,
            RELATIONS[i % 4],
            label,
            (1, 2) if label else (),
            () if label else (1, 2),
        )
        for i, (a, b) in enumerate(pairs)
        for label in (0, 1)
    ]


@pytest.fixture
def folder(tmp_path, rows):
    extra = [
        row(900, true=(1,), false=(2,)),
        row(901, true=(), false=()),
    ]  # one in two agrees; nobody voted
    write(tmp_path / "vsr/raw.jsonl", rows + extra)
    return tmp_path / "vsr"


def caption(**more) -> VsrCaption:
    import msgspec

    return msgspec.convert(row(1, **more), VsrCaption)


@pytest.mark.parametrize(
    ("agree", "against", "kept"),
    [
        (2, 1, True),
        (4, 2, True),
        (3, 2, False),
        (1, 0, True),
        (0, 0, False),
        (1, 1, False),
        (0, 3, False),
    ],
)
def test_two_thirds_must_agree_with_the_label_and_somebody_must(agree, against, kept):
    assert validated(caption(label=1, true=range(agree), false=range(against))) is kept
    assert validated(caption(label=0, true=range(against), false=range(agree))) is kept


def test_votes_as_lists_and_as_text_are_the_same():
    assert caption(true=(2, 10, 1)).votes == (3, 0)
    assert caption(vote_true_validator_id="[2, 10, 1]", vote_false_validator_id="[]").votes == (
        3,
        0,
    )


@pytest.mark.parametrize(
    ("text", "relation", "found"),
    [
        ("The hot dog is on top of the horse.", "on top of", ("hot dog", "horse")),
        ("The person contains the hair drier.", "contains", ("person", "hair drier")),
        ("The dining table has as a part the cup.", "has as a part", ("dining table", "cup")),
        ("The cat is in front of the in bed.", "in front of", ("cat", "in bed")),
        ("No caption.", "on", ("", "")),
    ],
)
def test_concepts_are_read_from_the_caption(text, relation, found):
    assert concepts(text, relation) == found


def test_validated_captions_come_from_raw_by_the_rule(folder, rows):
    items = list(vsr.published(data=str(folder)))
    assert len(items) == len(rows)
    assert not [message for item in items if (message := problem(item))]
    assert len({item.id for item in items}) == len(items)
    assert len(list(vsr.published(data=str(folder), split="raw"))) == len(rows) + 2


def test_an_item_says_where_it_comes_from(folder):
    item = next(iter(vsr.published(data=str(folder))))
    assert (item.form, item.text, item.choices, item.gold) == (
        "caption",
        "The horse is on top of the hot dog.",
        ("false", "true"),
        ("false",),
    )
    address = "http://images.cocodataset.org/train2017/000000000000.jpg"
    assert item.images == (Image(path=address),)
    assert item.group == item.text
    assert item.tags == {
        "relation": "on top of",
        "category": "Projective",
        "subj": "horse",
        "obj": "hot dog",
        "annotator": "7",
        "votes": "2",
        "agreement": "1.00",
        "dissent": "no",
        "image": "000000000000.jpg",
        "pair": "7/The_horse_is_on_top_of_the_hot_dog/1",
    }


def test_the_second_release_is_read_too(tmp_path):
    found = row(1, true=(), false=())
    found |= {
        "vote_true_validator_id": "[2, 10, 1]",
        "vote_false_validator_id": "[5]",
        "reference_frame": 1.0,
    }
    write(
        tmp_path / "data/data_files/all_vsr_validated_data.jsonl",
        [found, row(2, reference_frame=None)],
    )
    first, second = vsr.published(data=str(tmp_path))
    assert (first.tags["agreement"], first.tags["dissent"], first.tags["frame"]) == (
        "0.75",
        "yes",
        "1",
    )
    assert "frame" not in second.tags


def test_released_splits_are_read_as_they_are(folder, rows):
    parts = {"train": rows[:50], "dev": rows[50:60], "test": rows[60:]}
    for part, found in parts.items():
        write(folder / f"random/{part}.jsonl", found)
        write(
            folder / f"zeroshot/{part}.jsonl",
            [{**r, "subj": "orse", "obj": "cat"} for r in found[:3]],
        )
    for part, found in parts.items():
        assert [
            i.tags["image"] for i in vsr.published(data=str(folder), split=f"random/{part}")
        ] == [r["image"] for r in found]
    assert len(list(vsr.published(data=str(folder), split="test"))) == len(rows) - 60
    assert len(list(vsr.published(data=str(folder), split="zeroshot-published"))) == 9
    tagged = Counter(item.tags["split"] for item in vsr.published(data=str(folder)))
    assert tagged == {"train": 50, "dev": 10, "test": len(rows) - 60}


def test_a_folder_with_only_a_split_is_enough(tmp_path, rows):
    for part, found in {"train": rows[:3], "dev": rows[3:5], "test": rows[5:9]}.items():
        write(tmp_path / f"splits/random/{part}.jsonl", found)
    assert len(list(vsr.published(data=str(tmp_path)))) == 9


def parts_of(folder, kind, seed):
    return {
        part: list(vsr.published(data=str(folder), split=f"{kind}/{part}", seed=seed))
        for part in vsr_files.PARTS
    }


def captions_of(items):
    return {item.text for item in items}


@pytest.mark.parametrize("seed", [0, 1])
def test_the_contrast_split_shares_no_caption_and_loses_nothing(folder, rows, seed):
    parts = parts_of(folder, "contrast", seed)
    assert sum(map(len, parts.values())) == len(rows)
    for one, other in combinations(parts.values(), 2):
        assert captions_of(one).isdisjoint(captions_of(other))
    assert len(parts["test"]) == len(rows) // 5
    assert all(
        count == 2
        for part in parts.values()
        for count in Counter(item.text for item in part).values()
    )


def test_a_random_split_that_was_not_released_says_so(folder):
    with pytest.warns(MissingFileWarning, match="drawn again"):
        found = list(vsr.published(data=str(folder), split="random/test"))
    assert found == [
        msgspec.structs.replace(item, tags=item.tags | {"part": "random/test"})
        for item in vsr.published(data=str(folder), split="random-rebuilt/test")
    ]


def test_the_random_split_does_share_captions(folder):
    train, test = (
        list(vsr.published(data=str(folder), split=f"random-rebuilt/{p}"))
        for p in ("train", "test")
    )
    assert captions_of(train) & captions_of(test)


@pytest.mark.parametrize("seed", range(5))
def test_the_zero_shot_split_shares_no_concept(folder, seed):
    parts = parts_of(folder, "zeroshot", seed)
    seen = [{item.tags[tag] for item in part for tag in ("subj", "obj")} for part in parts.values()]
    assert all(one.isdisjoint(other) for one, other in combinations(seen, 2))
    assert all(seen)


@settings(deadline=None)
@given(st.integers(100, 2000), st.integers(0, 3))
def test_smaller_training_parts_lie_in_larger_ones(n, seed):
    prefixes = [
        vsr_splits.training_prefix(range(n), seed, size) for size in ("10", "25", "50", "75")
    ]
    assert [len(p) for p in prefixes] == [int(t * n) for t in (0.1, 0.25, 0.5, 0.75)]
    assert all(larger[: len(smaller)] == smaller for smaller, larger in combinations(prefixes, 2))
    hundred = vsr_splits.training_prefix(range(n), seed, "100")
    assert len(hundred) == 100
    assert hundred[: len(prefixes[-1])] == prefixes[-1][:100]


def test_seeds_repeat_and_differ(folder):
    def ids(seed):
        return [
            item.id for item in vsr.published(data=str(folder), split="contrast/test", seed=seed)
        ]

    assert ids(1) == ids(1) != ids(2)


@pytest.mark.parametrize(
    "split", ["tset", "contrast/tset", "random/train-33", "zeroshots/test", "raw/test"]
)
def test_unknown_splits_are_refused(folder, split):
    with pytest.raises(UsageError, match="no split named") as error:
        list(vsr.published(data=str(folder), split=split))
    assert "zeroshot-published" in error.value.hint


def test_the_release_says_which_source_of_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    for release, name in ((1, "vsr"), (2, "vsr-2")):
        with pytest.raises(DataError, match="not here") as error:
            list(vsr.published(release=release))
        assert f"gnomon data get {name}`" in error.value.hint
    with pytest.raises(UsageError, match="no release 3"):
        list(vsr.published(release=3))


def test_a_missing_split_is_named(folder):
    with pytest.raises(DataError, match="the zeroshot train split is missing"):
        list(vsr.published(data=str(folder), split="zeroshot-published/test"))


def test_images_are_found_in_cocos_layout_or_flat_and_asked_for_if_missing(folder, rows, tmp_path):
    pictures = tmp_path / "coco"
    (pictures / "train2017").mkdir(parents=True)
    for found in rows:
        (pictures / "train2017" / found["image"]).write_bytes(JPEG)
    (pictures / "train2017" / rows[3]["image"]).rename(pictures / rows[3]["image"])
    items = list(vsr.published(data=str(folder), images=str(pictures)))
    digest = hashlib.sha256(JPEG).hexdigest()
    for number, place in ((0, f"train2017/{rows[0]['image']}"), (3, rows[3]["image"])):
        path = str(pictures / place)
        assert items[number].images == (Image(path=path, sha256=digest, width=8, height=6),)
    (pictures / "train2017" / rows[5]["image"]).unlink()
    with pytest.raises(DataError, match=rows[5]["image"]) as error:
        list(vsr.published(data=str(folder), images=str(pictures)))
    assert "gnomon data get vsr-images" in error.value.hint
    with pytest.raises(DataError, match="no such folder"):
        list(vsr.published(data=str(folder), images="nowhere"))


def digest_of(items) -> str:
    found = Fingerprint()
    for item in items:
        found.add(item)
    return found.hexdigest()


def test_a_changed_photograph_changes_the_items_digest_and_a_moved_folder_does_not(
    folder, rows, tmp_path
):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        for found in rows:
            (tmp_path / name / found["image"]).write_bytes(JPEG)

    def digest(name):
        return digest_of(vsr.published(data=str(folder), images=str(tmp_path / name)))

    before = digest("here")
    assert digest("there") == before
    (tmp_path / "there" / rows[0]["image"]).write_bytes(JPEG + b"retouched")
    assert digest("there") != before


@pytest.mark.parametrize(
    "change",
    [
        {"image": "../../etc/passwd"},
        {"image": "/etc/passwd"},
        {"image": "0000000000.jpg"},
        {"image": "000000000001.jpg/../x"},
        {"image_link": "file:///etc/passwd"},
        {"image_link": "http://images.cocodataset.org/train2017/000000000002.jpg"},
        {"image_link": "http://images.cocodataset.org/train2017/../train2017/000000000001.jpg?a=b"},
        {"image_link": "http://elsewhere.example/train2017/000000000001.jpg"},
        {"image_link": "http://images.cocodataset.org.example/train2017/000000000001.jpg"},
        {"image_link": "http://images.cocodataset.org:81/train2017/000000000001.jpg"},
        {"image_link": "http://me@images.cocodataset.org/train2017/000000000001.jpg"},
        {"label": 2},
        {"label": True},
        {"caption": " "},
        {"vote_true_validator_id": "__import__('os')"},
        {"vote_true_validator_id": ["a"]},
        {"relation": ""},
    ],
)
def test_hostile_lines_are_refused_with_file_and_line(tmp_path, change):
    write(tmp_path / "raw.jsonl", [row(1), {**row(1), **change}])
    with pytest.raises(DataError, match=r"raw\.jsonl:2: "):
        list(vsr.published(data=str(tmp_path)))


def test_missing_fields_and_broken_lines_are_one_clear_sentence(tmp_path, monkeypatch):
    (tmp_path / "raw.jsonl").write_text(json.dumps(row(1)) + '\n{"image": "000000000002.jpg"}\n')
    with pytest.raises(DataError, match=r"raw\.jsonl:2: wrong types: .*missing"):
        list(vsr.published(data=str(tmp_path)))
    (tmp_path / "raw.jsonl").write_text('{"label": NaN}')
    with pytest.raises(DataError, match="not JSON"):
        list(vsr.published(data=str(tmp_path)))
    monkeypatch.setattr(files, "LINE_LIMIT", 100)
    (tmp_path / "raw.jsonl").write_text(json.dumps(row(1)))
    with pytest.raises(DataError, match="the line is longer"):
        list(vsr.published(data=str(tmp_path)))


def test_gzip_bombs_and_far_too_many_captions_are_refused(tmp_path, monkeypatch):
    import gzip

    line = json.dumps(row(1)).encode() + b"\n"
    (tmp_path / "raw.jsonl.gz").write_bytes(gzip.compress(line * 5000))
    monkeypatch.setattr(vsr_files, "MOST_ROWS", 100)
    with pytest.raises(DataError, match=r"raw\.jsonl\.gz:101: the file has more than 100 captions"):
        list(vsr.published(data=str(tmp_path)))
    monkeypatch.setattr(files, "FILE_LIMIT", 10 * len(line))
    with pytest.raises(DataError, match="unpacks to more than"):
        list(vsr.published(data=str(tmp_path)))


def test_image_files_are_named_once_and_stay_in_their_folder(folder, rows):
    found = list(vsr_files.image_files(folder))
    assert len(found) == len({r["image"] for r in rows}) + 2
    assert found[0].path == "train2017/000000000000.jpg"
    assert found[0].url == "http://images.cocodataset.org/train2017/000000000000.jpg"


def test_tables_count_splits_relations_and_disagreement(folder):
    def tables_of(split):
        return {
            table.title: table
            for table in vsr.VSR.statistics(list(vsr.published(data=str(folder), split=split)))
        }

    tables = tables_of("raw")
    votes = dict(tables["Captions and votes"].rows)
    assert (votes["captions"], votes["validated (two thirds agree)"]) == (92, "90 (97.8 %)")
    assert dict(row[::2] for row in tables["Table 6: relations"].rows)["touching"] == 24
    assert tables_of("contrast")["Table 2: splits"].rows == (("contrast", 64, 8, 18, 90),)


def test_a_caption_whose_things_cannot_be_told_is_counted_without_them(folder):
    items = list(vsr.published(data=str(folder)))
    nameless = msgspec.structs.replace(items[0], tags={**items[0].tags})
    for tag in ("subj", "obj"):
        nameless.tags.pop(tag, None)
    titles = [table.title for table in vsr.VSR.statistics([nameless, *items[1:]])]
    assert "Table 6: relations" in titles


# Contrastive pairs and ways.


def pair_names(items):
    return [item.tags.get("pair", "") for item in items]


def test_neighbours_with_opposite_labels_are_a_pair(folder, rows):
    names = pair_names(vsr.published(data=str(folder)))
    assert len(names) == len(rows)
    for first, second in zip(names[::2], names[1::2], strict=True):
        assert first == second != ""
    assert len(set(names)) == len(rows) / 2


def test_a_pair_is_found_where_its_halves_stand_apart(tmp_path):
    found = [row(1, label=1), row(2, "dog", label=1), row(3, label=0), row(4, "dog", "cup")]
    write(tmp_path / "raw.jsonl", found)
    names = pair_names(vsr.published(data=str(tmp_path), split="raw"))
    assert names[0] == names[2] == "7/The_cat_is_touching_the_bed/1"
    assert names[1] == names[3] == ""


def test_what_could_be_matched_in_several_ways_is_no_pair(tmp_path):
    other = row(9, "dog", annotator_id=8)
    found = [row(1, label=1), other, row(2, label=1), row(3, "dog"), row(4, label=0)]
    write(tmp_path / "raw.jsonl", found)
    assert set(pair_names(vsr.published(data=str(tmp_path), split="raw"))) == {""}


def test_two_annotators_make_two_pairs_of_one_caption(tmp_path):
    found = [row(number, label=number % 2, annotator_id=number // 2) for number in range(4)]
    write(tmp_path / "raw.jsonl", found)
    names = pair_names(vsr.published(data=str(tmp_path), split="raw"))
    assert names[0] == names[1] != names[2] == names[3]


def test_a_limit_keeps_the_halves_of_pairs_together(folder):
    source = gnomon.load("vsr@published", data=str(folder)).limited(10)
    names = Counter(pair_names(source.items()))
    assert set(names.values()) == {2}
    assert len(list(gnomon.load("vsr@published", data=str(folder)).limited(3).items())) == 2


def test_photographs_are_mirrored_in_the_cache_and_stay_as_they_are(
    folder, rows, tmp_path, monkeypatch
):
    pillow = pytest.importorskip("PIL.Image")
    cache = tmp_path / "cache"
    monkeypatch.setenv("GNOMON_CACHE", str(cache))
    photos = tmp_path / "photos"
    photos.mkdir()
    for number, found in enumerate(rows):
        picture = pillow.new("RGB", (4, 2), "white")
        picture.putpixel((0, 0), (number, 0, 0))
        picture.save(photos / found["image"], "PNG")
    before = sorted(photos.iterdir())
    options = {"data": str(folder), "images": str(photos), "ways": "mirror"}
    items = list(gnomon.load("vsr@published", **options).limited(8).items())
    assert [item.tags["way"] for item in items] == ["plain", "mirror"] * 4
    for plain, other in zip(items[::2], items[1::2], strict=True):
        assert cache in Path(other.images[0].path).parents
        red = pillow.open(plain.images[0].path).getpixel((0, 0))
        assert pillow.open(other.images[0].path).convert("RGB").getpixel((3, 0)) == red
        assert plain.tags["image"] == other.tags["image"]
    assert sorted(photos.iterdir()) == before
    assert len(list(cache.rglob("*.png"))) == 4


def test_a_photograph_that_is_not_here_cannot_be_mirrored(folder):
    source = gnomon.load("vsr@published", data=str(folder), ways="mirror")
    with pytest.raises(DataError, match="mirrored") as error:
        list(source.items())
    assert "vsr-images" in str(error.value)


def test_made_items_name_photographs_where_they_are(folder, tmp_path):
    from gnomon.cli.dispatch import main

    out = tmp_path / "out"
    arguments = ["make", "vsr@published", "--data", str(folder), "-o", str(out), "--quiet"]
    assert main(arguments) == 0
    item = json.loads((out / "items.jsonl").read_text().splitlines()[0])
    assert item["images"][0]["path"].startswith("http://images.cocodataset.org/")


def test_the_zeroshot_split_is_counted_as_released_and_of_what_was_validated(folder, rows):
    """The paper's split was drawn from raw captions, a fifth of which validation dropped."""
    dropped = [{**row(900 + i), "caption": "The cat is on the bed."} for i in range(2)]
    parts = {"train": rows[:4], "dev": rows[4:6], "test": rows[6:9]}
    for part, found in parts.items():
        more = dropped if part == "train" else []
        released = [{**each, "subj": "cat", "obj": "bed"} for each in [*found, *more]]
        write(folder / f"zeroshot/{part}.jsonl", released)
    items = list(vsr.published(data=str(folder)))
    tables = {table.title: table for table in vsr.VSR.statistics(items, data=str(folder))}
    counted = {name: sizes for name, *sizes in tables["Table 2: splits"].rows}
    assert counted["zero-shot (as released)"] == [6, 2, 3, 11]
    assert counted["zero-shot (of validated)"] == [4, 2, 3, 9]
