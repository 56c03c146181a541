"""A tiny random Llama in a GGUF file, with a tokenizer of whole words."""

from __future__ import annotations

import numpy as np
import pytest

WHOLE = ("▁ant", "▁is", "▁larger", "▁smaller", "▁than", "▁a", "▁bird", "▁much", "▁An", "▁cat", ".")
PIECES = dict.fromkeys(word[:n] for n in range(9, 0, -1) for word in WHOLE if n <= len(word))
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
WORDS = ["<unk>", "<s>", "</s>", *BYTES, *PIECES, *"Aabcdefghilmnrstu"]
TYPES = [2, 3, 3] + [6] * 256 + [1] * (len(WORDS) - 259)  # unknown, control, byte, normal


def tensor_shapes(layers, size, key_size):
    shapes = {
        "token_embd": (len(WORDS), size),
        "output_norm": (size,),
        "output": (len(WORDS), size),
    }
    for n in range(layers):
        for part in ("attn_q", "attn_output"):
            shapes[f"blk.{n}.{part}"] = (size, size)
        for part in ("attn_k", "attn_v"):
            shapes[f"blk.{n}.{part}"] = (key_size, size)
        for part in ("attn_norm", "ffn_norm"):
            shapes[f"blk.{n}.{part}"] = (size,)
        for part in ("ffn_gate", "ffn_up"):
            shapes[f"blk.{n}.{part}"] = (64, size)
        shapes[f"blk.{n}.ffn_down"] = (size, 64)
    return shapes


def write_tensors(writer, shapes, seed, quantised, spread):
    import gguf

    bits = np.random.default_rng(seed)
    for name, shape in shapes.items():
        values = bits.normal(size=shape, scale=spread).astype(np.float32)
        kind = gguf.GGMLQuantizationType.F32
        if quantised and len(shape) == 2:
            kind = gguf.GGMLQuantizationType.Q4_1
        if quantised and name == "token_embd":
            kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quantize(values, kind), raw_dtype=kind)


@pytest.fixture(scope="session")
def words():
    """The vocabulary, in order of the tokens."""
    return WORDS


@pytest.fixture(scope="session")
def write_model():
    """A function that writes a random Llama of a few thousand numbers."""
    gguf = pytest.importorskip("gguf")

    def write(
        file,
        *,
        seed=0,
        layers=1,
        size=32,
        heads=2,
        key_heads=2,
        spread=1.0,
        quantised=False,
        context=64,
        template="",
        ends=False,
    ):
        writer = gguf.GGUFWriter(file, "llama")
        writer.add_file_type(0)
        writer.add_block_count(layers)
        writer.add_context_length(context)
        writer.add_embedding_length(size)
        writer.add_feed_forward_length(64)
        writer.add_head_count(heads)
        writer.add_head_count_kv(key_heads)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_tokenizer_model("llama")
        writer.add_token_list(WORDS)
        writer.add_token_scores([-float(n) for n in range(len(WORDS))])
        writer.add_token_types(TYPES)
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(0)
        if template:
            writer.add_chat_template(template)
        if ends:
            writer.add_add_eos_token(True)
        shapes = tensor_shapes(layers, size, size // heads * key_heads)
        write_tensors(writer, shapes, seed, quantised, spread)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return file

    return write


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, write_model):
    return write_model(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
