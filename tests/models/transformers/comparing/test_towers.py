"""The text towers of models that see: their vectors are those of a plain pass without a picture."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from gnomon.models.transformers.backbone import open_backbone
from gnomon.models.transformers.loading import quiet

TEXTS = ["The bird is left of the old church.", "red car", "The old man is behind the red car."]
MAKES = ("clip", "siglip", "vilt", "visualbert")


def plain(folder, maker, padding="max_length"):
    """A model and tokens as its authors would make them: padded, in one batch."""
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = getattr(transformers, maker).from_pretrained(folder).eval()
    inputs = tokenizer(TEXTS, padding=padding, max_length=32, return_tensors="pt")
    return model, {name: inputs[name] for name in ("input_ids", "attention_mask")}


def vectors(folder):
    backbone = open_backbone(f"hf:{folder}", device="cpu")
    return backbone, backbone.vectors(TEXTS)


@torch.no_grad()
def test_clip_is_read_at_its_end_of_text_token(seeing):
    backbone, found = vectors(seeing("clip"))
    model, inputs = plain(seeing("clip"), "CLIPTextModel")
    states = model(**inputs).last_hidden_state
    ends = (inputs["input_ids"] == 1).int().argmax(dim=1)
    expected = states[torch.arange(len(TEXTS)), ends]
    assert (backbone.kind, backbone.reading) == ("clip", "pooled")
    assert np.allclose(found, expected, atol=1e-5)


@torch.no_grad()
def test_siglip_reads_its_padding_as_it_was_trained_to(seeing):
    backbone, found = vectors(seeing("siglip"))
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(seeing("siglip"))
        model = transformers.SiglipTextModel.from_pretrained(seeing("siglip")).eval()
    ids = tokenizer(TEXTS, padding="max_length", max_length=64, return_tensors="pt")["input_ids"]
    assert (backbone.kind, backbone.reading) == ("siglip", "pooled")
    assert np.allclose(found, model(input_ids=ids).pooler_output, atol=1e-5)


@torch.no_grad()
def test_vilt_is_shown_one_blank_patch_that_no_token_sees(seeing):
    backbone, found = vectors(seeing("vilt"))
    model, inputs = plain(seeing("vilt"), "ViltModel")
    blank = torch.zeros(len(TEXTS), 1, model.config.hidden_size)
    states = model(**inputs, image_embeds=blank, pixel_mask=torch.zeros(len(TEXTS), 1).long())
    assert (backbone.kind, backbone.reading) == ("vilt", "first")
    assert np.allclose(found, states.last_hidden_state[:, 0], atol=1e-5)


@torch.no_grad()
def test_visualbert_is_given_its_text_alone(seeing):
    backbone, found = vectors(seeing("visualbert"))
    model, inputs = plain(seeing("visualbert"), "VisualBertModel")
    assert (backbone.kind, backbone.reading) == ("visualbert", "first")
    assert np.allclose(found, model(**inputs).last_hidden_state[:, 0], atol=1e-5)


@torch.no_grad()
def test_of_flava_the_text_part_is_read(tokenizers, tmp_path):
    small = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    tokenizer = tokenizers("wordpiece")
    words = {"vocab_size": len(tokenizer.get_vocab()), "max_position_embeddings": 64}
    config = transformers.FlavaConfig(
        text_config={**small, **words},
        image_config={**small, "image_size": 32, "patch_size": 8},
        multimodal_config=small,
        hidden_size=32,
        projection_dim=16,
    )
    with quiet():
        model = transformers.FlavaModel(config).eval()
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
    backbone, found = vectors(tmp_path)
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    assert (backbone.kind, backbone.reading) == ("encoder", "first")
    assert np.allclose(found[0], model.text_model(input_ids=ids).last_hidden_state[0, 0], atol=1e-5)


@pytest.mark.parametrize("make", MAKES)
def test_who_else_is_in_a_batch_does_not_change_a_vector(make, seeing):
    backbone, together = vectors(seeing(make))
    alone = np.concatenate([backbone.vectors([text]) for text in TEXTS])
    assert np.abs(together - alone).max() <= 1e-5
