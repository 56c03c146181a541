"""The decoder in numpy: the same log-probabilities as transformers and llama.cpp compute."""

from __future__ import annotations

import random

import numpy as np
import pytest

pytest.importorskip("xllamacpp")

from gnomon.errors import ModelError
from gnomon.models.choices import Query
from gnomon.models.llamacpp import smollm2 as module
from gnomon.models.llamacpp.decoder import Decoder, open_tensors
from gnomon.models.llamacpp.gguf import gguf
from gnomon.models.llamacpp.llama import Llama
from gnomon.models.llamacpp.smollm2 import NumpyScorer

SIZE = 200  # tokens that the tiny vocabulary surely has


@pytest.fixture(scope="module", params=["plain", "packed"])
def file(request, tmp_path_factory, write_model):
    """Three layers of four heads that share two keys; `packed`: in 4 and 8 bits."""
    target = tmp_path_factory.mktemp("decoder") / f"{request.param}.gguf"
    shape = {"layers": 3, "size": 64, "heads": 4, "key_heads": 2}
    return write_model(target, **shape, spread=0.3, quantised=request.param == "packed")


@pytest.fixture(scope="module")
def scorer(file):
    return NumpyScorer(Decoder(file), threads=1)


def tokens(seed, count):
    rng = random.Random(seed)
    return [rng.randrange(3, SIZE) for _ in range(count)]


def questions():
    """Alone, with a beginning that others have, with answers that begin alike, and long ones."""
    shared = tokens(0, 40)
    found = [
        Query([*shared, *tokens(n, 4)], [tokens(n, 3), tokens(n + 50, 1)]) for n in range(1, 40)
    ]
    found += [Query(tokens(n, 5 + n), [[7, 8, 9], [7, 8, 10], [11]]) for n in range(60, 70)]
    return [*found, Query(tokens(99, 30), [tokens(98, 12), tokens(97, 2)])]


def reference(model, query):
    """One full pass of transformers for each continuation."""
    import torch

    found = []
    start = len(query.context) - 1
    for continuation in query.continuations:
        with torch.inference_mode():
            logits = model(torch.tensor([query.context + continuation])).logits[0].log_softmax(-1)
        found.append(sum(logits[start + i, token].item() for i, token in enumerate(continuation)))
    return found


def as_transformers(file):
    """The same numbers in transformers' own Llama, which turns pairs that are half a head apart."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    decoder = Decoder(file)
    shape = decoder.shape
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(decoder.embeddings),
            hidden_size=shape.width,
            intermediate_size=64,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.key_heads,
            rms_norm_eps=shape.least,
            max_position_embeddings=128,
        )
    ).eval()
    with open_tensors(file) as tensors:

        def load(parameter, name, turned=False):
            values = tensors.numbers(f"{name}.weight").reshape(parameter.shape)
            if turned:
                pairs = values.reshape(-1, shape.head // 2, 2, shape.width)
                values = pairs.swapaxes(1, 2).reshape(values.shape)
            parameter.data = torch.from_numpy(values.copy())

        load(model.model.embed_tokens.weight, "token_embd")
        load(model.model.norm.weight, "output_norm")
        load(model.lm_head.weight, "output")
        for number, layer in enumerate(model.model.layers):
            at = f"blk.{number}."
            load(layer.input_layernorm.weight, f"{at}attn_norm")
            load(layer.self_attn.q_proj.weight, f"{at}attn_q", turned=True)
            load(layer.self_attn.k_proj.weight, f"{at}attn_k", turned=True)
            load(layer.self_attn.v_proj.weight, f"{at}attn_v")
            load(layer.self_attn.o_proj.weight, f"{at}attn_output")
            load(layer.post_attention_layernorm.weight, f"{at}ffn_norm")
            load(layer.mlp.gate_proj.weight, f"{at}ffn_gate")
            load(layer.mlp.up_proj.weight, f"{at}ffn_up")
            load(layer.mlp.down_proj.weight, f"{at}ffn_down")
    return model


def test_it_unpacks_weights_as_the_gguf_package_does(file):
    reader = pytest.importorskip("gguf")
    with open_tensors(file) as tensors:
        for tensor in reader.GGUFReader(file).tensors:
            expected = reader.dequantize(tensor.data, tensor.tensor_type)
            assert np.array_equal(tensors.numbers(tensor.name), expected.reshape(-1)), tensor.name


def test_scores_are_those_of_transformers(file, scorer):
    model = as_transformers(file)
    asked = questions()
    found = scorer.score(asked)
    assert scorer.prefixes, "a beginning that many share is read once"
    for query, scores in zip(asked, found, strict=True):
        assert scores == pytest.approx(reference(model, query), abs=1e-4)


@pytest.mark.parametrize("file", ["plain"], indirect=True)  # packed, llama.cpp rounds states, too
def test_scores_are_those_of_llama_cpp(file, scorer):
    model = gguf(str(file), threads=1)
    asked = questions()[30:]
    theirs = model._log_probabilities(asked)
    model.close()
    difference = np.concatenate(theirs) - np.concatenate(scorer.score(asked))
    assert abs(difference).max() < 0.02  # llama.cpp keeps keys and values in 16 bits


def test_logits_of_a_few_places_at_a_time_give_the_same_scores(scorer, monkeypatch):
    asked = questions()[::5]
    at_once = scorer.score(asked)
    monkeypatch.setattr(module, "OUTPUTS", 3)
    for one, other in zip(scorer.score(asked), at_once, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_scores_do_not_depend_on_company_or_threads(file, scorer):
    asked = questions()
    together = NumpyScorer(scorer.decoder, threads=2).score(asked)
    for query, scores in list(zip(asked, together, strict=True))[::7]:
        (alone,) = NumpyScorer(scorer.decoder, threads=1).score([query])
        assert alone == pytest.approx(scores, abs=1e-4)


def test_a_text_longer_than_one_pass_is_read_in_parts(file, scorer, monkeypatch):
    query = questions()[0]
    whole = scorer.read_prefix(query.context)
    monkeypatch.setattr(module, "CHUNK", 7)
    parts = scorer.read_prefix(query.context)
    assert parts.length == len(query.context)
    for one, other in zip(whole.keys, parts.keys, strict=True):
        assert np.allclose(one, other, atol=1e-4)
    (together,) = scorer.replies([query.context], [3], is_end=lambda token: False)
    monkeypatch.undo()
    (at_once,) = scorer.replies([query.context], [3], is_end=lambda token: False)
    assert together == at_once


def test_a_reply_is_the_likeliest_token_each_time(file, scorer):
    prompts = [tokens(n, 3 + n) for n in range(5)]
    said = scorer.replies(prompts, [6, 6, 6, 6, 2], is_end=lambda token: False)
    assert [len(each) for each in said] == [6, 6, 6, 6, 2]
    everything = [[token] for token in range(len(scorer.decoder.embeddings))]
    for prompt, reply in zip(prompts, said, strict=True):
        for place, token in enumerate(reply):
            (scores,) = scorer.score([Query([*prompt, *reply[:place]], everything)])
            assert scores[token] == pytest.approx(max(scores), abs=1e-4)


def test_no_more_prompts_are_read_at_once_than_there_is_room_for():
    found = module._in_batches([10, 600, 500, 500, 20, 2000])
    assert found == [[0, 4], [2, 3], [1], [5]]
    assert max(map(len, module._in_batches([1] * 100))) == module.REPLIES


def test_a_long_prefix_is_spread_over_few_rows(scorer):
    short, long = scorer.read_prefix([5] * 4), scorer.read_prefix([5] * 400)
    assert scorer.most_rows(short, 4) > 50 * scorer.most_rows(long, 4) >= 50


def test_a_reply_ends_where_the_model_ends_it(scorer):
    prompts = [tokens(n, 4) for n in range(3)]
    free = scorer.replies(prompts, [5] * 3, is_end=lambda token: False)
    end = free[0][2]
    cut = scorer.replies(prompts, [5] * 3, is_end=lambda token: token == end)
    assert cut[0] == free[0][: free[0].index(end)]


def test_replies_are_those_of_llama_cpp(tiny):
    llama = Llama(tiny, context=64, threads=1)
    scorer = NumpyScorer(Decoder(tiny), threads=1)
    prompts = [tokens(n, 5) for n in range(4)]
    theirs = [llama.reply(prompt, 4) for prompt in prompts]
    ours = scorer.replies(prompts, [4] * 4, llama.is_end)
    llama.close()
    assert ours == theirs


def test_blas_has_its_threads_back_afterwards():
    told = module.openblas()
    if told is None:
        pytest.skip("numpy computes with another BLAS here")
    before = told.get()
    during = module.side_by_side(lambda _: told.get(), [1, 2, 3], threads=2)
    assert during == [1, 1, 1]
    assert told.get() == before


def test_tasks_run_where_blas_cannot_be_told(monkeypatch):
    monkeypatch.setattr(module, "openblas", lambda: None)
    assert module.side_by_side(abs, [-1, -2, -3], threads=2) == [1, 2, 3]


def test_a_file_without_a_setting_or_tensor_is_named(tiny):
    with open_tensors(tiny) as tensors:
        with pytest.raises(ModelError, match=r"has no tensor blk\.9"):
            tensors.numbers("blk.9.attn_q.weight")
        with pytest.raises(ModelError, match=r"does not say llama\.no"):
            tensors.setting("llama.no")
        with pytest.raises(ModelError, match="is no number"):
            tensors.setting("general.architecture")
        assert tensors.setting("llama.no", 7) == 7
