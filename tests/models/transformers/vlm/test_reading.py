"""Of models that see and write, a probe looks at the decoder that writes, given text alone."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from gnomon.models.transformers.backbone import open_backbone
from gnomon.models.transformers.loading import quiet

TEXTS = ["The cat is on the mat.", "a dog", "The old church is larger than the car."]


@pytest.mark.parametrize("make", ["llava", "idefics3", "internvl"])
@torch.no_grad()
def test_its_decoder_is_read_at_the_last_token(make, seeing):
    backbone = open_backbone(f"hf:{seeing(make)}", device="cpu")
    with quiet():
        model = transformers.AutoModel.from_pretrained(seeing(make)).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(seeing(make))
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    assert (backbone.kind, backbone.reading) == ("decoder", "last")
    expected = model(input_ids=ids).last_hidden_state[0, -1]
    assert np.allclose(backbone.vectors(TEXTS)[0], expected, atol=1e-5)
