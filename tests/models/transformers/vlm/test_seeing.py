"""How models that see are asked: where pictures stand, what fails, what is kept and said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import MissingExtraError, ModelError, UsageError
from gnomon.models.transformers import vlm as module
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import kind_of, quiet
from gnomon.models.transformers.processors import load_processor
from gnomon.records import Image
from gnomon.vision.images import pixels

# PaliGemma's processor converts tensors in a way that numpy will not take for ever
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

MAKES = ["llava", "idefics3", "smolvlm", "qwen2-vl", "internvl", "paligemma"]
ALONE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


@pytest.mark.parametrize("make", MAKES)
def test_replies_are_those_of_the_models_own_generate(asked, seeing, items, make):
    import transformers

    model = asked(make, ask="generate", new_tokens=6)
    answers = model.answer(items)
    with quiet():
        own = transformers.AutoModelForImageTextToText.from_pretrained(seeing(make)).eval()
        processor = load_processor(str(seeing(make)))
    replies = set()
    for item, answer in zip(items, answers, strict=True):
        if not item.images:
            continue
        text = model._context(item)
        inputs = processor(
            text=[text],
            images=[[pixels(image) for image in item.images]],
            return_tensors="pt",
            add_special_tokens=not text.startswith("<s>"),
        )
        inputs.pop("labels", None)
        made = own.generate(**inputs, max_new_tokens=6, do_sample=False, pad_token_id=2)
        new = made[0, inputs["input_ids"].shape[1] :]
        assert answer.reply == processor.tokenizer.decode(new, skip_special_tokens=True).strip()
        replies.add(answer.reply)
    assert len(replies) > 1 or make == "paligemma"
    assert model.describe()["ask"] == "generate"


def test_a_picture_that_cannot_be_shown_fails_its_items_only(asked, items, photos, tmp_path):
    from gnomon.vision.images import describe

    broken = tmp_path / "broken.png"
    whole = Path(photos[0].path).read_bytes()
    broken.write_bytes(whole[:200])
    other = tmp_path / "other.png"
    shutil.copy(photos[1].path, other)
    changed = describe(other)
    shutil.copy(photos[2].path, other)
    header = bytearray(whole)
    header[16:24] = (60_000).to_bytes(4) * 2
    huge = tmp_path / "huge.png"
    huge.write_bytes(bytes(header))
    bad = {
        "broken": Image(path=str(broken)),
        "missing": Image(path=str(tmp_path / "nowhere.png")),
        "changed": changed,
        "huge": Image(path=str(huge)),
    }
    mixed = [replace(items[0], id=name, images=(image,)) for name, image in bad.items()]
    mixed.append(replace(items[0], id="beside", images=(photos[0], bad["broken"])))
    model = asked("llava")
    answers = model.answer([*items, *mixed])
    wanted = model.answer(items)
    for found, right in zip(answers, wanted, strict=False):
        assert found.error is None
        assert found.scores == pytest.approx(right.scores, abs=1e-5)
    failed = {answer.item: answer.error for answer in answers[len(items) :]}
    assert set(failed) == {*bad, "beside"}
    assert all(failed.values())
    assert "is not the one" in failed["changed"]


def test_a_text_that_holds_the_mark_of_a_picture_fails_alone(asked, items):
    bad = replace(items[0], id="bad", text="the <image> is left of the house.")
    good, found = asked("llava").answer([items[0], bad])
    assert good.error is None
    assert found.error == "the text holds <image>, which stands for a picture"


def test_a_question_that_is_too_long_fails_alone(asked, items):
    long = replace(items[0], id="long", text="the ant is here. " * 2000)
    good, found = asked("llava").answer([items[0], long])
    assert good.error is None
    assert "the model takes 2048" in found.error


def copied(folder, target, **changes):
    """A copy of a model's folder with other settings in its files."""
    copy = shutil.copytree(folder, target / "copy")
    for name, values in changes.items():
        file = copy / f"{name}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))
    return copy


def test_a_template_of_plain_texts_is_given_marks(seeing, items, tmp_path):
    folder = copied(seeing("llava"), tmp_path)
    (folder / "chat_template.jinja").write_text(ALONE)
    model = hf(str(folder))
    text = model._context(items[0])
    assert "user: Answer the question." in text or "system: Answer the question." in text
    assert text.count("<image>\nStatement: the ant") == 1
    assert text.endswith("assistant: ")
    assert model.answer(items[:1])[0].error is None


def test_pictures_stand_before_the_last_question(asked, items):
    two = next(item for item in items if item.id == "two")
    for make in ("qwen2-vl", "internvl"):
        model = asked(make)
        text = model._context(two)
        place = text.index(model.places.stretch(2))
        assert text.index("Answer the question.") < place < text.index("Where is the lamp?")
        assert text.count(model.places.mark) == 2


def test_a_template_that_forgets_pictures_is_refused(seeing, tmp_path):
    folder = copied(seeing("llava"), tmp_path)
    (folder / "chat_template.jinja").write_text("nothing at all")
    with pytest.raises(ModelError, match="does not say where pictures stand") as caught:
        hf(str(folder))
    assert "chat=no" in caught.value.hint


def test_pictures_are_asked_about_as_servers_are_asked(items, asked):
    from gnomon.models.servers.openai import openai

    server = openai("any", base_url="http://127.0.0.1:9/v1", key_env="")
    model = asked("llava")
    assert model.prompt.name == "chat"
    assert "true of the picture?" in model._context(items[0])
    assert server._prompt.question(items[0]) == model.prompt.question(items[0])
    server.close()
    blind = replace(items[0], images=())
    assert "picture" not in model.prompt.question(blind)


def test_without_a_template_the_plain_prompt_is_used(seeing, items, asked):
    model = asked("llava", chat=False)
    assert model.prompt.name == "picture-plain"
    text = model._context(items[0])
    assert text.startswith("<image>\nStatement: the ant is left")
    assert model.words(items[0]) == ((" true",), (" false",))
    pali = asked("paligemma")
    assert pali.prompt.name == "picture-plain"
    assert pali._context(items[0]).startswith("<image>Statement: the ant is left")
    assert pali.words(items[0]) == (("true",), ("false",))  # its processor ends the line


def test_the_manifest_says_what_is_done_with_pictures(asked):
    eyes = asked("qwen2-vl").describe()["image_processor"]
    assert eyes["class"].startswith("Qwen2VLImageProcessor")
    assert eyes["size"] == {"shortest_edge": 256, "longest_edge": 4096}
    assert eyes["resample"] == "bicubic"
    assert asked("idefics3").describe()["image_processor"]["do_image_splitting"] is True
    assert json.loads(json.dumps(eyes)) == eyes
    assert asked("llava").takes == {"text", "image"}


def test_a_second_run_decodes_no_picture(seeing, items, monkeypatch):
    decoded = []

    def decode(content, file, real=module.decode_bytes):
        decoded.append(file)
        return real(content, file)

    monkeypatch.setattr(module, "decode_bytes", decode)
    shown = [item for item in items if item.images]
    for make in ("llava", "idefics3", "qwen2-vl", "internvl"):
        first = hf(str(seeing(make)), features="100MB")
        wanted = first.answer(shown)
        decoded.clear()
        found = hf(str(seeing(make)), features="100MB").answer(shown)
        assert not decoded
        assert [answer.scores for answer in found] == [
            pytest.approx(answer.scores, abs=1e-5) for answer in wanted
        ]


def test_nothing_is_kept_where_the_user_says_so(seeing, items, monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    hf(str(seeing("llava")), features="off").answer(items)
    assert not list(tmp_path.rglob("*.safetensors"))
    hf(str(seeing("llava"))).answer(items)
    assert list(tmp_path.rglob("*.safetensors"))


def test_other_settings_of_the_processor_are_another_entry(seeing, items, tmp_path):
    folder = copied(seeing("llava"), tmp_path, preprocessor_config={"do_normalize": False})
    one = hf(str(seeing("llava"))).answer(items[:1])[0].scores
    other = hf(str(folder)).answer(items[:1])[0].scores
    assert one != pytest.approx(other, abs=1e-3)


def test_what_is_kept_of_two_pictures_depends_on_how_they_are_written(asked, items):
    """With InternVL's template a line ends between them, without it none does."""
    two = [item for item in items if item.id.startswith("two")]
    asked("internvl").answer(two)
    wanted = asked("internvl", chat=False, features="off").answer(two)
    found = asked("internvl", chat=False).answer(two)
    for one, other in zip(found, wanted, strict=True):
        assert one.error is None
        assert one.scores == pytest.approx(other.scores, abs=1e-5)


def test_a_picture_is_decoded_once_for_all_its_questions(asked, items, monkeypatch, seeing):
    decoded = []

    def decode(content, file, real=module.decode_bytes):
        decoded.append(file)
        return real(content, file)

    monkeypatch.setattr(module, "decode_bytes", decode)
    captions = [item for item in items if item.form == "caption"]
    hf(str(seeing("smolvlm")), features="off").answer(captions)
    assert len(decoded) == len(set(decoded)) == len({item.images for item in captions})


def test_options_of_other_kinds_are_refused(seeing):
    with pytest.raises(UsageError, match="which takes no trees"):
        hf(str(seeing("llava")), trees=False)
    with pytest.raises(UsageError, match="not a size"):
        hf(str(seeing("llava")), features="much")


def test_kinds_are_found_by_what_a_model_is():
    import transformers

    def kind(name, architecture, **settings):
        config = getattr(transformers, name)(**settings)
        config.architectures = [architecture]
        return kind_of(config, "m")

    assert kind("Florence2Config", "Florence2ForConditionalGeneration") == "vlm"
    assert kind("Blip2Config", "Blip2ForConditionalGeneration") == "vlm"
    assert kind("Gemma3Config", "Gemma3ForConditionalGeneration") == "vlm"
    assert kind("Gemma3TextConfig", "Gemma3ForCausalLM") == "causal"
    assert kind("T5Config", "T5ForConditionalGeneration") == "seq2seq"
    assert kind("BlipConfig", "BlipForConditionalGeneration") == "vlm"
    assert kind("BlipConfig", "BlipForImageTextRetrieval") == "match"
    assert kind("CLIPConfig", "CLIPModel") == "dual"
    assert kind("LxmertConfig", "LxmertForPreTraining") == "regions"
    with pytest.raises(UsageError, match="not known"):
        kind("BlipConfig", "BlipModel")


def test_which_models_read_with_an_encoder():
    import transformers

    from gnomon.models.transformers.wholepasses import has_encoder_and_decoder

    with_t5 = transformers.Blip2Config(text_config={"model_type": "t5"})
    assert has_encoder_and_decoder(with_t5)
    assert has_encoder_and_decoder(transformers.Florence2Config())
    assert not has_encoder_and_decoder(transformers.LlavaConfig())


def test_a_processor_without_its_video_part_is_the_same_processor(seeing):
    """Where torchvision is absent; else transformers' own is used."""
    for make in ("smolvlm", "qwen2-vl", "internvl"):
        with quiet():
            processor = load_processor(str(seeing(make)))
        name = {"smolvlm": "SmolVLM", "qwen2-vl": "Qwen2VL", "internvl": "InternVL"}[make]
        assert type(processor).__name__ == f"{name}Processor"
    assert processor.image_seq_length == 4  # as its processor_config.json says, not by default


def test_without_pillow_the_extra_is_named(seeing, monkeypatch):
    from gnomon.models.transformers import processors

    monkeypatch.setattr(processors, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="vision"):
        hf(str(seeing("llava")))


def test_a_model_without_an_image_processor_is_refused(seeing, tmp_path):
    folder = copied(seeing("llava"), tmp_path)
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError):
        hf(str(folder))
