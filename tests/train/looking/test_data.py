"""What models that look are shown: pictures and regions of several sizes; what does not fit."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from gnomon.errors import DataError, ModelError, UsageError
from gnomon.items.itemfiles import read_items
from gnomon.items.writing import write_items
from gnomon.models.transformers.hf import hf
from gnomon.records import Image
from gnomon.train.folder import Amounts, carry_out, curve_points
from gnomon.train.recipes import load_recipe, recipe_of
from gnomon.train.visual import open_learner, read
from gnomon.train.visuallearner import Pixels, RegionRows, TrainingPictures

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


class Rows:
    """Regions by the name of a picture: as many as its number says."""

    def regions(self, image):
        from gnomon.vision.regions import RegionFeatures

        count = int(Path(image.path).stem)
        rows = np.full((count, 2), count, dtype=np.float32)
        return RegionFeatures(rows, np.zeros((count, 4), dtype=np.float32))


def test_pictures_with_fewer_regions_are_filled_up_and_the_filling_is_masked():
    show = RegionRows(Rows(), 2, boxed=True)
    images = [Image(path=f"{number}.jpg") for number in (3, 1)]
    found = TrainingPictures(show).batch(images)
    assert found["visual_feats"].tolist() == [[[3.0, 3.0]] * 3, [[1.0, 1.0], [0, 0], [0, 0]]]
    assert found["visual_attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert found["visual_pos"].shape == (2, 3, 4)


def test_pictures_of_other_sizes_are_filled_up_and_the_filling_is_masked():
    pictures = [(torch.ones(3, 2, 4),), (torch.ones(3, 3, 2),)]
    found = Pixels(None).batch(pictures)
    assert found["pixel_values"].shape == (2, 1, 3, 3, 4)
    assert found["pixel_mask"][0, 0].tolist() == [[1] * 4, [1] * 4, [0] * 4]
    assert found["pixel_mask"][1, 0].tolist() == [[1, 1, 0, 0]] * 3
    assert found["pixel_values"][1, 0].sum() == 18


def test_a_picture_is_made_once_while_there_is_room():
    made = []

    class Show(RegionRows):
        def sight(self, image):
            made.append(image.path)
            return super().sight(image)

    gallery = TrainingPictures(Show(Rows(), 2, boxed=False))
    image = Image(path="2.jpg")
    first = gallery.batch([image, image])
    assert torch.equal(first["visual_embeds"], gallery.batch([image, image])["visual_embeds"])
    assert made == ["2.jpg"]
    gallery._room = 0
    gallery.batch([Image(path="3.jpg")])
    gallery.batch([Image(path="3.jpg")])
    assert made == ["2.jpg", "3.jpg", "3.jpg"]


def test_pictures_of_a_file_are_found_beside_it_wherever_one_stands(
    content, studio, tmp_path, monkeypatch
):
    shutil.copytree(studio / "pictures", tmp_path / "scenes" / "pictures")
    items = []
    for item in read_items(studio / "items.jsonl"):
        path = f"pictures/{Path(item.images[0].path).name}"
        items.append(replace(item, images=(replace(item.images[0], path=path),)))
    write_items(tmp_path / "scenes" / "items.jsonl", items)
    monkeypatch.chdir(tmp_path)
    recipe = content("vilt", steps=1)
    recipe["data"]["train"]["file"] = "scenes/items.jsonl"
    outcome = carry_out(recipe_of(recipe), tmp_path / "trained")
    assert outcome.steps == 1


def test_a_picture_that_is_missing_ends_the_training_with_its_name(content, studio):
    learner = open_learner(*_read(content("vilt")))
    with pytest.raises(DataError, match=r"gone\.png"):
        learner.gallery.batch([Image(path="gone.png")])


def _read(plain):
    recipe = recipe_of(plain)
    return recipe, read(recipe)


def test_items_that_are_no_captions_with_one_picture_are_refused(content, studio, tmp_path):
    items = list(read_items(studio / "items.jsonl"))
    wrong = {
        "one is shown": [replace(items[0], images=()), *items[1:]],
        "true or false": [replace(items[0], choices=("left", "right"), gold=("left",)), *items[1:]],
    }
    for words, some in wrong.items():
        file = tmp_path / "items.jsonl"
        write_items(file, some)
        plain = content("vilt")
        plain["data"] = {"train": {"file": str(file)}}
        with pytest.raises((DataError, UsageError), match=words):
            read(recipe_of(plain))


def test_a_model_that_sees_regions_needs_them(content):
    plain = content("lxmert")
    plain["look"] = {}
    with pytest.raises(UsageError, match="regions"):
        open_learner(*_read(plain))


def test_a_model_that_cannot_look_is_refused(content, tmp_path):
    import transformers

    config = transformers.BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    transformers.BertForMaskedLM(config).save_pretrained(tmp_path / "bert")
    plain = {**content("vilt"), "model": str(tmp_path / "bert")}
    with pytest.raises(UsageError, match="cannot be trained to look"):
        open_learner(*_read(plain))


def test_weights_that_are_missing_are_never_made_up(content, studio, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(studio / "lxmert", tmp_path / "lxmert")
    weights = load_file(folder / "model.safetensors")
    some = {name: each for name, each in weights.items() if "seq_relationship" not in name}
    assert len(some) < len(weights)
    save_file(some, folder / "model.safetensors", metadata={"format": "pt"})
    plain = {**content("lxmert"), "model": str(folder)}
    with pytest.raises(ModelError, match="no weights for"):
        open_learner(*_read(plain))


def test_changed_regions_are_noticed(content, studio, tmp_path):
    import shutil

    regions = shutil.copytree(studio / "regions", tmp_path / "regions")
    plain = content("lxmert", {"regions": str(regions)}, steps=1)
    before = read(recipe_of(plain)).digests["regions"]
    next(regions.glob("*")).unlink()
    assert read(recipe_of(plain)).digests["regions"] != before


def test_a_trained_model_finds_the_regions_of_its_recipe(content, studio, tmp_path):
    carry_out(recipe_of(content("visualbert", steps=1)), tmp_path / "trained")
    items = list(read_items(studio / "items.jsonl"))[:4]
    by_recipe = hf(str(tmp_path / "trained")).answer(items)
    named = hf(str(tmp_path / "trained"), regions=str(studio / "regions")).answer(items)
    assert [answer.scores for answer in by_recipe] == [answer.scores for answer in named]
    assert len({answer.scores for answer in named}) > 1


def test_three_seeds_are_the_draws_of_a_curve(content, studio, tmp_path):
    import yaml

    from gnomon.measures.seeds import over_draws

    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(content("visualbert", steps=6)))
    amounts = Amounts("train_share", (100.0,), 3)
    points = curve_points(str(file), [], amounts, tmp_path / "curve")
    losses = [carry_out(point.recipe, point.folder).best["loss"] for point in points]
    assert [point.recipe.seeds.weights for point in points] == [1, 2, 3]
    assert len(set(losses)) == 3
    (at,) = over_draws({100.0: losses}, bounds=None)
    assert at.mean == pytest.approx(sum(losses) / 3)
    assert at.deviation == pytest.approx(np.std(losses, ddof=1))


@pytest.mark.published
def test_the_built_in_recipes_read_the_released_splits(shared):
    parts = ("train", "parts.dev", "parts.test")
    folder = shared / "data" / "vsr"
    recipe = load_recipe("vsr-lxmert", [f"data.{part}.options.data={folder}" for part in parts])
    for name in ("vsr-vilt", "vsr-visualbert"):
        assert load_recipe(name).data == load_recipe("vsr-lxmert").data
    digests = read(recipe).digests
    assert [digests[part]["items"] for part in ("train", "dev", "test")] == [7083, 1012, 2024]
