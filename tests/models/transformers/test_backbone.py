"""A frozen model gives one vector for a text: the one that a plain pass gives, in any company."""

import numpy as np
import pytest

from gnomon.errors import DataError, ModelError, UsageError

torch = pytest.importorskip("torch")

from gnomon.models.transformers.backbone import open_backbone

TEXTS = [
    "The cat is on the mat.",
    "a dog",
    "The old church is larger than the small red car behind the house in the park.",
    "above",
    "The cat is under the mat.",
]
ENCODERS = ("bert", "roberta", "albert", "electra", "deberta")
DECODERS = ("gpt2", "llama", "mistral, window", "bloom", "mamba")
ENCODER_DECODERS = ("t5", "bart")


def plain_states(folder, text):
    """All states of a text, by transformers alone."""
    import transformers

    from gnomon.models.transformers.loading import quiet

    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    inputs = tokenizer(text, return_tensors="pt")
    names = ("input_ids", "attention_mask")
    with torch.no_grad():
        return model(**{name: inputs[name] for name in names}).last_hidden_state[0]


@pytest.mark.parametrize("make", ENCODERS)
def test_an_encoder_is_read_at_its_first_token(make, folders):
    backbone = open_backbone(f"hf:{folders(make)}", device="cpu")
    expected = plain_states(folders(make), TEXTS[0])[0]
    assert (backbone.kind, backbone.reading) == ("encoder", "first")
    assert np.allclose(backbone.vectors(TEXTS)[0], expected, atol=1e-5)


@pytest.mark.parametrize("make", DECODERS)
def test_a_decoder_is_read_at_its_last_token(make, folders):
    backbone = open_backbone(f"hf:{folders(make)}", device="cpu")
    expected = plain_states(folders(make), TEXTS[0])[-1]
    assert (backbone.kind, backbone.reading) == ("decoder", "last")
    assert np.allclose(backbone.vectors(TEXTS)[0], expected, atol=1e-5)


@pytest.mark.parametrize("make", ENCODER_DECODERS)
def test_of_an_encoder_decoder_the_encoder_is_read_and_averaged(make, folders):
    backbone = open_backbone(f"hf:{folders(make)}", device="cpu")
    expected = plain_states(folders(make), TEXTS[0]).mean(0)
    assert (backbone.kind, backbone.reading) == ("encoder-decoder", "mean")
    assert np.allclose(backbone.vectors(TEXTS)[0], expected, atol=1e-5)


@pytest.mark.parametrize("make", [*ENCODERS, *DECODERS, *ENCODER_DECODERS])
def test_who_else_is_in_a_batch_does_not_change_a_vector(make, folders):
    backbone = open_backbone(f"hf:{folders(make)}", device="cpu")
    together = backbone.vectors(TEXTS * 3)
    alone = np.concatenate([backbone.vectors([text]) for text in TEXTS])
    assert np.abs(together - np.tile(alone, (3, 1))).max() <= 1e-5


def test_the_pooled_output_is_what_the_models_own_pooler_gives(folders):
    import transformers

    folder = folders("nli")  # was trained with a pooler
    backbone = open_backbone(f"hf:{folder}", reading="pooled", device="cpu")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        expected = model(input_ids=tokens["input_ids"]).pooler_output[0]
    assert np.allclose(backbone.vectors(TEXTS)[0], expected, atol=1e-5)


def test_a_pooler_without_weights_is_not_made_up(folders):
    with pytest.raises(ModelError, match=r"no weights for pooler.*\n.*reading=first"):
        open_backbone(f"hf:{folders('bert')}", reading="pooled", device="cpu")


def test_a_decoder_is_not_read_at_its_first_token_which_has_read_nothing(folders):
    with pytest.raises(UsageError, match=r"no reading 'first'[^\n]*\n.*last, mean"):
        open_backbone(f"hf:{folders('gpt2')}", reading="first", device="cpu")


def test_what_is_beyond_the_most_tokens_is_not_read(folders):
    backbone = open_backbone(f"hf:{folders('bert')}", most_tokens=6, device="cpu")
    assert backbone.lengths([TEXTS[2], "above"]) == [6, backbone.lengths(["above"])[0]]
    one, other = backbone.vectors([TEXTS[2], TEXTS[2].replace("park", "mat")])
    assert np.array_equal(one, other)


def test_a_text_without_tokens_is_refused(folders):
    backbone = open_backbone(f"hf:{folders('gpt2')}", device="cpu")
    with pytest.raises(DataError, match="has no tokens"):
        backbone.vectors(["a dog", ""])


def test_only_models_of_transformers_can_be_looked_into():
    with pytest.raises(UsageError, match="openai:gpt-4o"):
        open_backbone("openai:gpt-4o")
