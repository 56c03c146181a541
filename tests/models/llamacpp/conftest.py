"""A tiny random Llama in a GGUF file, with a tokenizer of whole words, and tiny random eyes."""

from __future__ import annotations

import numpy as np
import pytest

WHOLE = ("▁ant", "▁is", "▁larger", "▁smaller", "▁than", "▁a", "▁bird", "▁much", "▁An", "▁cat", ".")
PIECES = dict.fromkeys(word[:n] for n in range(9, 0, -1) for word in WHOLE if n <= len(word))
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
WORDS = ["<unk>", "<s>", "</s>", *BYTES, *PIECES, *"Aabcdefghilmnrstu"]
TYPES = [2, 3, 3] + [6] * 256 + [1] * (len(WORDS) - 259)  # unknown, control, byte, normal


def tensor_shapes(layers, size):
    shapes = {
        "token_embd": (len(WORDS), size),
        "output_norm": (size,),
        "output": (len(WORDS), size),
    }
    for n in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{n}.{part}"] = (size, size)
        for part in ("attn_norm", "ffn_norm"):
            shapes[f"blk.{n}.{part}"] = (size,)
        for part in ("ffn_gate", "ffn_up"):
            shapes[f"blk.{n}.{part}"] = (64, size)
        shapes[f"blk.{n}.ffn_down"] = (size, 64)
    return shapes


def write_tensors(writer, shapes, seed, quantised, scale):
    import gguf

    bits = np.random.default_rng(seed)
    for name, shape in shapes.items():
        values = bits.normal(scale=scale, size=shape).astype(np.float32)
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
        architecture="llama",
        seed=0,
        layers=1,
        size=32,
        scale=1.0,
        quantised=False,
        context=64,
        template="",
        ends=False,
    ):
        writer = gguf.GGUFWriter(file, architecture)
        writer.add_file_type(0)
        writer.add_block_count(layers)
        writer.add_context_length(context)
        writer.add_embedding_length(size)
        writer.add_feed_forward_length(64)
        writer.add_head_count(2)
        writer.add_head_count_kv(2)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_tokenizer_model("llama")
        writer.add_token_list(WORDS)
        writer.add_token_scores([-float(n) for n in range(len(WORDS))])
        writer.add_token_types(TYPES)
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(0)
        if architecture == "qwen2vl":
            writer.add_rope_dimension_sections([2, 3, 3, 0])
        if template:
            writer.add_chat_template(template)
        if ends:
            writer.add_add_eos_token(True)
        write_tensors(writer, tensor_shapes(layers, size), seed, quantised, scale)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return file

    return write


def eye_shapes(kind, size, side, patch, width, layers):
    """The tensors of a projector that ends at `size`: a ViT, and what follows it."""
    shapes = {"v.patch_embd.weight": (width, 3, patch, patch)}

    def add(name, *shape):
        shapes[f"{name}.weight"] = shape
        shapes[f"{name}.bias"] = shape[:1]

    for n in range(layers):
        for part in ("ln1", "ln2"):
            add(f"v.blk.{n}.{part}", width)
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            add(f"v.blk.{n}.{part}", width, width)
        add(f"v.blk.{n}.ffn_up", 2 * width, width)
        add(f"v.blk.{n}.ffn_down", width, 2 * width)

    patches = (side // patch) ** 2
    if kind == "qwen2vl_merger":  # four patches become one
        shapes["v.patch_embd.weight.1"] = shapes["v.patch_embd.weight"]
        add("v.post_ln", width)
        add("mm.0", 4 * width, 4 * width)
        add("mm.2", size, 4 * width)
    elif kind == "gemma3":  # sixteen become one
        shapes["v.patch_embd.bias"] = (width,)
        shapes["v.position_embd.weight"] = (patches, width)
        add("v.post_ln", width)
        shapes["mm.input_projection.weight"] = (width, size)
        shapes["mm.soft_emb_norm.weight"] = (width,)
    else:
        shapes["v.class_embd"] = (width,)
        shapes["v.position_embd.weight"] = (patches + 1, width)
        add("v.pre_ln", width)
        add("mm.0", size, width)
        add("mm.2", size, size)
    return shapes


@pytest.fixture(scope="session")
def write_eyes():
    """A function that writes a random projector for models of some size: 16 tokens a picture."""
    gguf = pytest.importorskip("gguf")

    def write(file, *, size=32, seed=0, side=64, patch=16, width=32, layers=2, kind="mlp"):
        writer = gguf.GGUFWriter(file, "clip")
        writer.add_bool("clip.has_vision_encoder", True)
        writer.add_string("clip.projector_type", kind)
        writer.add_bool("clip.use_gelu", True)
        numbers = {
            "image_size": side,
            "patch_size": patch,
            "embedding_length": width,
            "feed_forward_length": 2 * width,
            "projection_dim": size,
            "block_count": layers,
            "attention.head_count": 2,
        }
        for name, value in numbers.items():
            writer.add_uint32(f"clip.vision.{name}", value)
        writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
        writer.add_array("clip.vision.image_mean", [0.5] * 3)
        writer.add_array("clip.vision.image_std", [0.5] * 3)
        bits = np.random.default_rng(seed)
        for name, shape in eye_shapes(kind, size, side, patch, width, layers).items():
            values = bits.normal(scale=0.3, size=shape)
            writer.add_tensor(name, values.astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return file

    return write


@pytest.fixture
def photo(tmp_path):
    """A function that writes a picture of its own, by number, and describes it."""
    pil = pytest.importorskip("PIL.Image")
    from gnomon.vision.images import describe

    def write(number, size=(100, 80)):
        file = tmp_path / f"{number}.png"
        colours = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
        pil.fromarray(colours).resize(size).save(file)
        return describe(file)

    return write


@pytest.fixture(scope="module")
def tiny(tmp_path_factory, write_model):
    return write_model(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
