"""The five experiments of the papers by their shipped names, on small models made on disk: CPU seconds, and what came of it.

    python bench/papers.py ../shared/data --keep pages          # all five with their papers' models (about 15 CPU minutes)
    python bench/papers.py ../shared/data --only paper-002      # one
    python bench/papers.py ../shared/data --usual               # with the small models that the files name (SmolLM2, MiniLM)

A model of transformers is a hub name or a folder: folders with the names of the papers' models, of the same classes and
with random weights, stand in for them, so that every line of the shipped files is run as it is. Sizes are cut: few items,
few captions, few objects. The photographs of VSR are noise, its zero-shot split is drawn here. The guided painter of paper 000
takes minutes for a picture whatever its weights: it is left out, and the renderer paints in its place; with --paint it paints
small pictures in few steps. Needs the extra `all`, pytest (for the makers of small models in tests/), and the authors' files.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
PAPERS = {
    "paper-000": ("spatial-commonsense", 60),
    "paper-001": ("vsr", 40),
    "paper-002": ("spacenli", 640),
    "paper-003": ("viphy", 200),
    "paper-004": ("spatialqa", 2000),
}
MOST = 600  # CPU seconds of one experiment
BETWEEN = 2  # from which group on every sixth is taken
PAINTER = "small-vqgan"
RENDER = ("-m", "Renderer=synth:render", "--set", "detector=true", "--set", "depth=true")
PAINT = (
    "-m",
    "ISM (Box)=synth:guided",
    "--set",
    f"vqgan={PAINTER}",
    "--set",
    "clip=openai/clip-vit-base-patch32",
)
PAINT += ("--set", "size=64", "--set", "steps=8", "--set", "least=0.01")
LONGEST = 256  # tokens
WORDS = 3000  # of a tokenizer: with fewer, sentences are longer than ViLT reads (40 tokens)
ENCODER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": LONGEST + 8,
    "initializer_range": 0.3,
}
WRITER = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
BOTH = {"d_model": 32, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "encoder_layers": 2}
BOTH |= {"decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
SIZES = {
    "bert": ENCODER,
    "roberta": ENCODER,
    "albert": {**ENCODER, "embedding_size": 16},
    "deberta": ENCODER,
    "deberta-v2": ENCODER,
    "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48},
    "bart": {**BOTH, "max_position_embeddings": LONGEST + 8},
    "t5": {**WRITER, "decoder_start_token_id": 0},
}
MASKED = {
    "bert-large-uncased": "bert",
    "bert-base-uncased": "bert",
    "roberta-large": "roberta",
    "microsoft/deberta-v2-xxlarge": "deberta-v2",
}
WRITERS = (
    "allenai/unifiedqa-t5-large",
    "allenai/unifiedqa-v2-t5-3b-1363200",
    "allenai/unifiedqa-v2-t5-large-1363200",
    "allenai/unifiedqa-v2-t5-base-1363200",
    "allenai/unifiedqa-v2-t5-small-1363200",
    "t5-3b",
    "t5-large",
    "t5-base",
    "t5-small",
)
PAIRS = {
    "Joelzhang/deberta-v3-large-snli_mnli_fever_anli_R1_R2_R3-nli": "deberta-v2",
    "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli": "deberta-v2",
    "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli": "albert",
    "ynie/bart-large-snli_mnli_fever_anli_R1_R2_R3-nli": "bart",
    "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli": "roberta",
    "ynie/xlnet-large-cased-snli_mnli_fever_anli_R1_R2_R3-nli": "xlnet",
    "microsoft/deberta-v2-xxlarge-mnli": "deberta-v2",
    "microsoft/deberta-xlarge-mnli": "deberta",
    "microsoft/deberta-large-mnli": "deberta",
    "microsoft/deberta-base-mnli": "deberta",
    "roberta-large-mnli": "roberta",
    "textattack/roberta-base-MNLI": "roberta",
    "anirudh21/albert-large-v2-finetuned-mnli": "albert",
    "textattack/xlnet-base-cased-MNLI": "xlnet",
}
LOOKING = {
    "dandelin/vilt-b32-mlm": "vilt",
    "unc-nlp/lxmert-base-uncased": "lxmert",
    "uclanlp/visualbert-nlvr2-coco-pre": "visualbert",
    "uclanlp/visualbert-vqa-coco-pre": "visualbert",
}
CLASSES = {0: "entailment", 1: "neutral", 2: "contradiction"}


def texts() -> list[str]:
    """Sentences of the benchmarks, from which the tokenizers learn their words."""
    from gnomon.items.source import load

    found = []
    for name in ("scales", "posrel", "spacenli", "spatialqa", "viphy-color", "viphy-spatial"):
        for item in load(name).limited(400):
            found += [item.context or "", item.text, *item.choices]
    words = "true false neither yes no bigger larger smaller above below inside beside [ ] ?"
    return [*found, *[words] * 50]


def write_models(folder: Path) -> None:
    """Every model that the files name, below the folder."""
    import torch

    from gnomon.models.transformers.loading import quiet
    from gnomon.train.captions.corpus import trained_tokenizer
    from tests.train.looking.conftest import write_model

    sentences = texts()
    tokenizer = trained_tokenizer(sentences, WORDS, LONGEST)
    tokenizer.eos_token = tokenizer.sep_token
    with quiet():
        for name, kind in MASKED.items():
            write_text_model(folder / name, kind, "MaskedLM", tokenizer)
        for name in WRITERS:
            write_text_model(folder / name, "t5", "Seq2SeqLM", tokenizer)
        for name, kind in PAIRS.items():
            write_text_model(folder / name, kind, "SequenceClassification", tokenizer)
        for name, kind in LOOKING.items():
            torch.manual_seed(3)
            write_model(kind, folder / name, sentences, WORDS)
        write_clip(folder / "openai/clip-vit-base-patch32", tokenizer)
        write_flava(folder / "facebook/flava-full", tokenizer)
        write_painter(folder / PAINTER)
        write_seer(folder / "Salesforce/blip2-opt-2.7b")


def write_text_model(folder: Path, kind: str, head: str, tokenizer) -> None:
    import torch
    import transformers

    settings = {**SIZES[kind], "vocab_size": len(tokenizer), "pad_token_id": 0}
    if head == "SequenceClassification":
        numbers = {label: number for number, label in CLASSES.items()}
        settings |= {"id2label": CLASSES, "label2id": numbers, "num_labels": len(CLASSES)}
    settings |= {"bos_token_id": 2, "eos_token_id": 3}
    config = transformers.AutoConfig.for_model(kind, **settings)
    torch.manual_seed(len(str(folder)))
    model = getattr(transformers, f"AutoModelFor{head}").from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def write_clip(folder: Path, tokenizer) -> None:
    import transformers

    text = {**ENCODER, "vocab_size": len(tokenizer), "bos_token_id": 2, "eos_token_id": 3}
    sight = {**ENCODER, "image_size": 32, "patch_size": 8}
    config = transformers.CLIPConfig(text_config=text, vision_config=sight, projection_dim=8)
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def write_flava(folder: Path, tokenizer) -> None:
    import transformers

    text = {**ENCODER, "vocab_size": len(tokenizer)}
    sight = {**ENCODER, "image_size": 32, "patch_size": 8}
    parts = {"text_config": text, "image_config": sight, "multimodal_config": ENCODER}
    config = transformers.FlavaConfig(**parts, hidden_size=32, init_codebook=False)
    transformers.FlavaForPreTraining(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    seen = {"processor_class": "FlavaProcessor", "image_processor_type": "FlavaImageProcessor"}
    seen |= {"size": {"height": 32, "width": 32}, "return_image_mask": False}
    (folder / "preprocessor_config.json").write_text(json.dumps(seen))
    (folder / "processor_config.json").write_text('{"processor_class": "FlavaProcessor"}')


def write_painter(folder: Path) -> None:
    """A VQGAN that makes each latent a square of 16 pixels, as the paper's does."""
    import diffusers

    made = diffusers.VQModel(
        block_out_channels=(8,) * 5,
        down_block_types=("DownEncoderBlock2D",) * 5,
        up_block_types=("UpDecoderBlock2D",) * 5,
        latent_channels=4,
        num_vq_embeddings=8,
        norm_num_groups=4,
        vq_embed_dim=4,
    )
    made.save_pretrained(folder)


def write_seer(folder: Path) -> None:
    """A model that sees, which answers questions about what was painted."""
    from tests.models.conftest import TOKENIZERS
    from tests.models.transformers.vlm.conftest import write

    folder.mkdir(parents=True)
    write(folder, "llava", TOKENIZERS["byte-level"]())


def cut_data(source: Path, folder: Path) -> None:
    """The authors' files in the folder, cut: what trainings read would take a GPU."""
    for name in ("spatial-commonsense", "spatialqa"):
        shutil.copytree(source / name, folder / name)
    cut_spacenli(source / "spacenli", folder / "spacenli")
    cut_viphy(source / "viphy", folder / "viphy")
    cut_vsr(source / "vsr", folder)


def cut_spacenli(source: Path, folder: Path, each: int = 6) -> None:
    """Every sixth group of patterns, some of them with "between", of which 200 samples are made."""
    folder.mkdir(parents=True)
    name = "selection_restriction.yaml"
    shutil.copy(source / name, folder / name)
    patterns = ElementTree.parse(source / "problem_patterns.xml")
    root = patterns.getroot()
    groups = [child for child in root if child.tag != "comment"]
    for number, group in enumerate(groups):
        if number % each != BETWEEN:
            root.remove(group)
    patterns.write(folder / "problem_patterns.xml", encoding="utf-8")


def cut_viphy(source: Path, folder: Path, each: int = 12) -> None:
    """Every twelfth object or pair."""
    shutil.copytree(source, folder)
    for file in folder.glob("*.csv"):
        file.chmod(0o644)
        with file.open(encoding="utf-8", newline="") as lines:
            head, *rows = csv.reader(lines)
        with file.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines).writerows([head, *rows[::each]])


def cut_vsr(source: Path, folder: Path) -> None:
    """Few captions of each part, noise for photographs and for regions."""
    import numpy as np
    from PIL import Image
    from safetensors.numpy import save_file

    from tests.train.looking.conftest import regions_of

    target = folder / "vsr"
    shutil.copytree(source, target)
    sizes = {"train": 120, "dev": 24, "test": 48}
    lines = {part: (target / f"random/{part}.jsonl").read_text().splitlines() for part in sizes}
    for split in ("random", "zeroshot"):
        (target / split).mkdir(exist_ok=True)
        for part, size in sizes.items():
            file = target / split / f"{part}.jsonl"
            file.unlink(missing_ok=True)
            start = 0 if split == "random" else len(lines[part]) - size
            file.write_text("\n".join(lines[part][start : start + size]) + "\n")
    raw = target / "raw.jsonl"
    kept = [line for name in ("random", "zeroshot") for line in split_lines(target / name)]
    raw.unlink()
    raw.write_text("\n".join(dict.fromkeys(kept)) + "\n")
    rng = np.random.default_rng(0)
    pictures = folder / "vsr-images"
    regions = folder / "regions"
    pictures.mkdir()
    regions.mkdir()
    for name in sorted({json.loads(line)["image"] for line in kept}):
        file = pictures / name
        Image.fromarray(rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)).save(file)
        features, boxes = regions_of(file)
        save_file({"features": features, "boxes": boxes}, regions / f"{file.stem}.safetensors")


def split_lines(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from file.read_text().splitlines()


def run(paper: str, place: Path, data: Path, *, usual: bool, paint: bool) -> dict:
    """One experiment in a folder of its own, with its CPU seconds."""
    name, limit = PAPERS[paper]
    command = ["run", paper, "--data", str(data / name)]
    if paper == "paper-001":
        command += ["--images", str(data / "vsr-images")]
        for make in ("lxmert", "visualbert"):
            (place / f"regions-{make}").symlink_to(data / "regions")
    if not usual:
        command += ["--set", "models=paper", "--limit", str(limit), "--device", "cpu"]
    if paper == "paper-000" and not usual:
        command += PAINT if paint else RENDER
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "gnomon", *command, "--quiet"],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (place / f"{paper}.log").write_text(f"{done.stdout}\n{done.stderr}", encoding="utf-8")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    results = place / paper
    page, tables = results / "report.html", results / "tables.md"
    left_out = [line for line in done.stderr.splitlines() if "left out" in line]
    return {
        "paper": paper,
        "exit": done.returncode,
        "cpu_s": round(spent, 1),
        "page_kb": page.stat().st_size // 1024 if page.exists() else 0,
        "tables": tables.read_text(encoding="utf-8").count("\n**") if tables.exists() else 0,
        "figures": len(list(results.glob("figures/*.svg"))),
        "left_out": left_out,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with the authors' files")
    parser.add_argument("--only", default=",".join(PAPERS), help="experiments, with commas")
    parser.add_argument("--usual", action="store_true", help="the small models of the files")
    parser.add_argument("--paint", action="store_true", help="by the guided painter, small")
    parser.add_argument("--keep", type=Path, help="keep the folder of models, runs and pages here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = (args.keep or Path(place)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "data").exists():
            cut_data(args.data.resolve(), folder / "data")
            write_models(folder / "models")
        rows = []
        for paper in args.only.split(","):
            room = folder / paper
            shutil.rmtree(room, ignore_errors=True)
            room.mkdir()
            for each in (folder / "models").iterdir():
                (room / each.name).symlink_to(each)
            row = run(paper, room, folder / "data", usual=args.usual, paint=args.paint)
            rows.append(row)
            print(json.dumps(row), flush=True)
    fine = [row["exit"] == 0 and row["cpu_s"] <= MOST and row["page_kb"] for row in rows]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    raise SystemExit(main())
