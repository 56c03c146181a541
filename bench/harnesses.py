"""Items exported to four other programs, asked there of small models on disk, and read back: is accuracy the same?

    python bench/harnesses.py --lm-eval VENV/bin/python --inspect VENV/bin/python --lmms-eval ... --vlmevalkit ...

Each program is run by the interpreter that has it installed; a program that is not named is left out. The models have random weights,
and are made so that they answer with a letter: which one is decided by the question and the picture.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ITEMS = {
    "lm-eval": "scales",
    "inspect": "scales",
    "lmms-eval": "vsr@fresh",
    "vlmevalkit": "vsr@fresh",
}
HERE = Path(__file__).resolve()
LETTERS = {"text": ["ANSWER: A", "ANSWER: B", "ANSWER: C"], "seeing": list("ABCD")}


def ran(folder: Path, *command: str) -> str:
    """What a command prints; its own settings keep it offline and on one core."""
    settings = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    settings |= {"HF_HOME": str(folder / "cache"), "TOKENIZERS_PARALLELISM": "false"}
    settings |= {"LMUData": str(folder / "task-vlmevalkit"), "GNOMON_CACHE": str(folder / "kept")}
    done = subprocess.run(
        command,
        env={**os.environ, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return done.stdout


# The models, made by the interpreter of the program that asks them.


def tokenizer(words: list[str]):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    known = Tokenizer(models.BPE())
    known.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    known.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<image>"]
    how = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    known.train_from_iterator(["Where is the cup? A. left B. right"], how)
    made = PreTrainedTokenizerFast(
        tokenizer_object=known,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )
    made.add_tokens([word for word in words if len(word) > 1])
    made.chat_template = (
        "{% for m in messages %}{% if m['content'] is string %}{{ m['content'] }}{% else %}"
        "{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>\n{% else %}{{ c['text'] }}"
        "{% endif %}{% endfor %}{% endif %}\n{% endfor %}"
    )
    return made


def answers_in_letters(language, head, names: list[int]) -> None:
    """Only the letters can be said first, and after a letter only the end."""
    import torch

    with torch.no_grad():
        language.embed_tokens.weight[:, 0] = 0
        language.embed_tokens.weight[names] = 0
        language.embed_tokens.weight[names, 0] = 1000
        for layer in language.layers:
            layer.self_attn.o_proj.weight[0] = 0
            layer.mlp.down_proj.weight[0] = 0
        head.weight.zero_()
        head.weight[names, 1:] = torch.randn(len(names), head.weight.shape[1] - 1)
        head.weight[1, 0] = 10


def make_model(kind: str, folder: str, seed: int) -> None:
    import torch
    import transformers as t

    torch.manual_seed(seed)
    words = tokenizer(LETTERS[kind])
    names = [words.convert_tokens_to_ids(word) for word in LETTERS[kind]]
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 2, "max_position_embeddings": 4096}
    ends = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
    plain = t.LlamaConfig(vocab_size=len(words), **sizes, **ends)
    if kind == "text":
        model = t.LlamaForCausalLM(plain)
    else:
        sight = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
        sight |= {"num_attention_heads": 2, "image_size": 32, "patch_size": 8}
        picture = words.convert_tokens_to_ids("<image>")
        seen = t.CLIPVisionConfig(**sight, projection_dim=32)
        whole = t.LlavaConfig(
            vision_config=seen,
            text_config=plain,
            image_token_index=picture,
            vision_feature_layer=-1,
            vision_feature_select_strategy="default",
        )
        model = t.LlavaForConditionalGeneration(whole)
    for weights in model.parameters():
        if weights.dim() > 1:
            torch.nn.init.normal_(weights, std=0.3)
    language = model.model if kind == "text" else model.model.language_model
    answers_in_letters(language, model.lm_head, names)
    if kind == "seeing":
        with torch.no_grad():
            model.model.multi_modal_projector.linear_2.weight[0] = 0
            model.model.multi_modal_projector.linear_2.bias[0] = 0
        side = {"height": 32, "width": 32}
        pictures = t.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=side)
        t.LlavaProcessor(
            image_processor=pictures,
            tokenizer=words,
            patch_size=8,
            vision_feature_select_strategy="default",
            chat_template=words.chat_template,
            num_additional_image_tokens=1,
        ).save_pretrained(folder)
    for name, value in ends.items():
        setattr(model.generation_config, name, value)
    model.save_pretrained(folder)
    words.save_pretrained(folder)


# How each program is run, and where it says what it found: (accuracy, log).


def by_lm_eval(folder: Path, python: str, task: Path, name: str) -> tuple[float, Path]:
    out = folder / "out-lm-eval"
    ran(
        folder,
        *(python, "-m", "lm_eval", "run", "--model", "hf", "--tasks", name, "--device", "cpu"),
        *("--model_args", f"pretrained={folder / 'text'},dtype=float32", "--log_samples"),
        *("--include_path", str(task), "--output_path", str(out)),
    )
    (found,) = out.rglob("results_*.json")
    (log,) = out.rglob("samples_*.jsonl")
    return json.loads(found.read_text())["results"][name]["acc,none"], log


def by_inspect(folder: Path, python: str, task: Path, name: str) -> tuple[float, Path]:
    out = folder / "out-inspect"
    model = folder / "text"
    ran(
        folder,
        *(str(Path(python).with_name("inspect")), "eval", f"{task.name}/{name}.py"),
        *("--model", "hf/small", "-M", f"model_path={model}", "-M", f"tokenizer_path={model}"),
        *("-M", "device=cpu", "--log-dir", str(out), "--log-format", "json", "--epochs", "2"),
        *("--max-tokens", "8", "--display", "none"),
    )
    (log,) = out.glob("*.json")
    scores = json.loads(log.read_text())["results"]["scores"]
    return scores[0]["metrics"]["accuracy"]["value"], log


def by_lmms_eval(folder: Path, python: str, task: Path, name: str) -> tuple[float, Path]:
    out = folder / "out-lmms-eval"
    model = f"pretrained={folder / 'seeing'},device=cpu,dtype=float32,device_map=cpu"
    ran(
        folder,
        *(python, "-m", "lmms_eval", "--model", "llava_hf", "--model_args", model),
        *("--tasks", name, "--include_path", str(task), "--log_samples", "--batch_size", "1"),
        *("--output_path", str(out)),
    )
    (found,) = out.rglob("*_results.json")
    (log,) = out.rglob("*_samples_*.jsonl")
    return json.loads(found.read_text())["results"][name]["acc,none"], log


def by_vlmevalkit(folder: Path, python: str, task: Path, name: str) -> tuple[float, Path]:
    told = ran(folder, python, str(HERE), "--child", "vlmevalkit", str(folder / "seeing"), name)
    (log,) = (folder / "out-vlmevalkit").glob(f"*_{name}.xlsx")
    return float(told.splitlines()[-1]), log


def ask_in_vlmevalkit(model: str, name: str) -> None:
    """The program's own inference and scoring, with a model that its list does not have."""
    os.environ["PRED_FORMAT"] = "xlsx"
    from PIL import Image
    from transformers import AutoProcessor, LlavaForConditionalGeneration
    from vlmeval.dataset import build_dataset
    from vlmeval.inference import infer_data_job
    from vlmeval.vlm.base import BaseModel

    class Small(BaseModel):
        INTERLEAVE = True

        def __init__(self) -> None:
            self.model = LlavaForConditionalGeneration.from_pretrained(model)
            self.words = AutoProcessor.from_pretrained(model)
            super().__init__()

        def generate_inner(self, message, dataset=None):
            shown = [part["value"] for part in message if part["type"] == "image"]
            marks = {"image": "<image>\n"}
            text = "".join(marks.get(part["type"], part["value"]) for part in message)
            pictures = [Image.open(path).convert("RGB") for path in shown]
            given = self.words(text=text, images=pictures or None, return_tensors="pt")
            said = self.model.generate(**given, max_new_tokens=8, do_sample=False)
            said = said[:, given["input_ids"].shape[1] :]
            return self.words.batch_decode(said, skip_special_tokens=True)[0]

    work = Path("out-vlmevalkit")
    work.mkdir()
    data = build_dataset(name)
    infer_data_job(Small(), work_dir=str(work), model_name="small", dataset=data)
    file = str(work / f"small_{name}.xlsx")
    found = data.evaluate(file, model="exact_matching", nproc=1)
    print(float(found["Overall"][0]))


PROGRAMS = {
    "lm-eval": by_lm_eval,
    "inspect": by_inspect,
    "lmms-eval": by_lmms_eval,
    "vlmevalkit": by_vlmevalkit,
}


def compare(folder: Path, program: str, python: str, items: int) -> dict:
    kind = "seeing" if program in ("lmms-eval", "vlmevalkit") else "text"
    if not (folder / kind).exists():
        ran(folder, python, str(HERE), "--child", "model", kind, str(folder / kind))
    task = folder / f"task-{program}"
    gnomon = (sys.executable, "-m", "gnomon")
    made = ("make", ITEMS[program], "--limit", str(items), "--as", program, "-o", str(task))
    ran(folder, *gnomon, *made, "--quiet")
    name = f"gnomon_{ITEMS[program].partition('@')[0]}_fresh"
    theirs, log = PROGRAMS[program](folder, python, task, name)
    (score,) = json.loads(ran(folder, *gnomon, "score", str(log), "--format", "json"))
    ours = score["value"]
    return {"program": program, "theirs": theirs, "ours": ours, "same": abs(ours - theirs) < 1e-9}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=24, help="of each set (default 24)")
    for program in PROGRAMS:
        parser.add_argument(f"--{program}", metavar="PYTHON", help=f"that has {program}")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        job, first, second = args.child
        if job == "model":
            make_model(first, second, seed=2)
        else:
            ask_in_vlmevalkit(first, second)
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for program in PROGRAMS:
            python = getattr(args, program.replace("-", "_"))
            if python:
                rows.append(compare(Path(place), program, python, args.items))
                print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    return 0 if rows and all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
