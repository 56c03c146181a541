"""Damaged model files of llama.cpp, whose native code crashes at some of them.

    python -m hostile.native [--files N] [--part 1/2] [--json]

What must hold: each file is refused in a sentence or answers a question; the process that asked
lives on.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from hostile.arguments import Part, add_part, parser_of
from hostile.readers import CLOZE, Reader
from hostile.samples import Sample
from hostile.tally import Tally
from hostile.trying import tell_and_keep, tried

SIZE, WIDE = 32, 64
WORDS = ("▁An", "▁ant", "▁is", "▁large", "▁small", ".", "▁a")
NEEDED = ("xllamacpp", "gguf")


def missing() -> str:
    """Why there is nothing to try here; empty if there is."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    return f"{' and '.join(absent)} is not installed" if absent else ""


def tiny_model() -> bytes:
    """A random Llama of one layer, with a tokenizer of a few words and all bytes."""
    import gguf
    import numpy as np

    words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *WORDS]
    shapes = {
        "token_embd": (len(words), SIZE),
        "output_norm": (SIZE,),
        "output": (len(words), SIZE),
        "blk.0.attn_norm": (SIZE,),
        "blk.0.ffn_norm": (SIZE,),
        "blk.0.ffn_gate": (WIDE, SIZE),
        "blk.0.ffn_up": (WIDE, SIZE),
        "blk.0.ffn_down": (SIZE, WIDE),
    }
    for part in ("q", "k", "v", "output"):
        shapes[f"blk.0.attn_{part}"] = (SIZE, SIZE)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "tiny.gguf"
        writer = gguf.GGUFWriter(file, "llama")
        writer.add_file_type(0)
        writer.add_block_count(1)
        writer.add_context_length(64)
        writer.add_embedding_length(SIZE)
        writer.add_feed_forward_length(WIDE)
        writer.add_head_count(2)
        writer.add_head_count_kv(2)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_tokenizer_model("llama")
        writer.add_token_list(words)
        writer.add_token_scores([-float(n) for n in range(len(words))])
        writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * len(WORDS))
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(0)
        bits = np.random.default_rng(0)
        for name, shape in shapes.items():
            writer.add_tensor(f"{name}.weight", bits.normal(size=shape).astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return file.read_bytes()


def ask(folder: Path) -> object:
    """One question to the model in the file."""
    from gnomon.models.llamacpp.gguf import Gguf, gguf

    model = gguf(str(folder / "tiny.gguf"), threads=1)
    assert isinstance(model, Gguf)
    try:
        return model.answer([CLOZE])
    finally:
        model.close()


def tallies(files: int, part: Part, kept: Path) -> Iterator[tuple[str, Tally]]:
    """Try so many damaged files, or a part of them."""
    sample = Sample({"tiny.gguf": tiny_model()})
    reader = Reader("model files of llama.cpp", sample, ask, limited=False)
    yield reader.name, tried(reader, part.numbers(files), 0, kept)


def main() -> int:
    parser = parser_of(__doc__)
    add_part(parser)
    parser.add_argument("--files", type=int, default=600)
    args = parser.parse_args()
    if reason := missing():
        print("{}" if args.json else f"skipped: {reason}")
        return 0
    well = tell_and_keep(lambda kept: tallies(args.files, args.part, kept), as_json=args.json)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
