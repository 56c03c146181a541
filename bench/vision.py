"""Pictures through Gnomon, lmms-eval, lm-eval and a bare loop: CPU seconds, memory, differences.

    python bench/vision.py --json                         # Gnomon against the bare loop
    python bench/vision.py --json --lmms PYTHON           # and against lmms-eval and lm-eval

PYTHON is the interpreter of a virtual environment of its own with lmms-eval and lm-eval in it: they
need other packages than Gnomon. Each system runs in its own process with one torch thread, from
picture files to a score or a token for each caption; importing and loading the model are not
counted. The model is a small LLaVA with random weights: 64 tokens a picture, four layers of vision
and four of text, 32,000 tokens in its vocabulary.

    likelihood_ratio  CPU of lmms-eval for the likelihood of True and False / CPU of Gnomon
    generation_ratio  CPU of lmms-eval for one token of a reply / CPU of Gnomon
    four_ways_ratio   the same as the first, with four ways of asking each caption: lmms-eval at its
                      measured rate, since it computes every question anew
    bare_ratio        CPU of Gnomon / CPU of a loop written for this model and these captions alone
    memory_ratio      peak memory of Gnomon / that of lmms-eval (of the bare loop without it)
    memory_floor      the same of a program that loads the model with transformers and reads one
                      caption: what no program can go below that uses these libraries
    max_difference    between Gnomon's scores and those of a plain pass for each choice
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

PICTURES, CAPTIONS = 60, 141
THINGS = ("cat", "dog", "cup", "chair", "book", "bus", "person", "bench", "bowl", "horse")
RELATIONS = ("left of", "right of", "above", "behind", "near", "in front of", "on", "far from")
WAYS = (
    "{0}",
    "It is not so that t{1}",
    "Look closely. {0}",
    "Somebody says: {0}",
)
QUESTION = "{text} True or False?"
WORDS = ("True", "False")
TEMPLATE = (
    "{% for m in messages %}{{ m.role | upper }}: "
    "{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for part in m.content %}{% if part.type == 'image' %}<image>\n"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}"
    "{{ ' ' if m.role == 'user' else '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT: {% endif %}"
)
PHOTOS = Path(__file__).parents[2] / "shared" / "data" / "coco128" / "photos"


def make_model(folder: Path) -> None:
    """A small LLaVA with a byte-level BPE tokenizer trained on Python's own library."""
    import sysconfig

    import torch
    import transformers as t
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    t.utils.logging.disable_progress_bar()
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(str(file) for file in library.glob("*.py"))
    files += sorted(str(file) for file in library.glob("[a-e]*/*.py"))
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<pad>", "<image>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=32000, special_tokens=special, show_progress=False, initial_alphabet=alphabet
    )
    trained.train(files, trainer)
    trained.add_special_tokens([AddedToken(each, special=True) for each in special])
    tokenizer = t.PreTrainedTokenizerFast(
        tokenizer_object=trained, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    tokenizer.chat_template = TEMPLATE
    vision = t.CLIPVisionConfig(
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        image_size=224,
        patch_size=28,
    )
    text = t.LlamaConfig(
        vocab_size=32000,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    config = t.LlavaConfig(vision_config=vision, text_config=text, image_token_id=3)
    config.image_token_index = 3
    torch.manual_seed(0)
    t.LlavaForConditionalGeneration(config).save_pretrained(folder)
    pixels = t.CLIPImageProcessor(
        size={"shortest_edge": 224}, crop_size={"height": 224, "width": 224}
    )
    processor = t.LlavaProcessor(
        image_processor=pixels,
        tokenizer=tokenizer,
        patch_size=28,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    )
    processor.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_pictures(folder: Path, photos: Path) -> list[str]:
    """Photographs where there are any, else rendered scenes."""
    if photos.is_dir():
        return [str(file) for file in sorted(photos.glob("*.jpg"))[:PICTURES]]
    from gnomon.items.source import load

    found = []
    for item in load("vsr", quads=PICTURES // 2, size=640).illustrated(folder):
        found.append(item.images[0].path)
    return sorted(set(found))[:PICTURES]


def make_captions(pictures: list[str], ways: int) -> list[tuple[str, str]]:
    """Captions of pictures, two or three each: picture and text."""
    rng = random.Random(7)
    found = []
    for number in range(CAPTIONS):
        picture = pictures[number % len(pictures)]
        first, second = rng.sample(THINGS, 2)
        text = f"The {first} is {rng.choice(RELATIONS)} the {second}."
        for way in WAYS[:ways]:
            found.append((picture, way.format(text, text[1:])))
    found.sort(key=lambda each: pictures.index(each[0]))
    return found


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """The most memory that this process has held, by its own mark."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def items_of(captions: list[tuple[str, str]]) -> list:
    from gnomon.records import Item
    from gnomon.vision.images import describe

    found = []
    for number, (picture, text) in enumerate(captions):
        item = Item(
            id=str(number),
            form="caption",
            text=text,
            choices=("true", "false"),
            gold=("true",),
            images=(describe(picture),),
        )
        found.append(item)
    return found


def prompt_file(folder: str) -> str:
    """The prompt of all systems, as a file of Gnomon's."""
    words = {"true": WORDS[0], "false": WORDS[1]}
    form = {"template": QUESTION + " {answer}", "words": words}
    file = Path(folder) / "bench-prompt.yaml"
    file.write_text(json.dumps({"summary": "bench", "forms": {"caption": form}}))
    return str(file)


def run_gnomon(folder: str, captions: list, ask: str) -> tuple[list, float]:
    """As `gnomon run` asks: batches of the engine, answers of the model; nothing kept on disk."""
    from gnomon.models.transformers.hf import hf
    from gnomon.runs.batches import in_batches

    model = hf(
        folder,
        prompt=prompt_file(folder),
        ask=ask,
        new_tokens=1 if ask == "generate" else None,
        features="off",
        threads=1,
    )
    items = items_of(captions)
    start = cpu()
    found: list = [None] * len(items)
    for batch in in_batches(list(enumerate(items)), model.size, model.budget, model.batch):
        answers = model.answer([item for _, item in batch])
        for (number, _), answer in zip(batch, answers, strict=True):
            found[number] = answer.reply if ask == "generate" else answer.scores
    return found, cpu() - start


def texts_of(captions: list) -> list[str]:
    """What a system that is given text reads: the template, written out."""
    return [f"USER: <image>\n{QUESTION.format(text=text)} ASSISTANT:" for _, text in captions]


def opened(folder: str) -> tuple:
    import torch
    import transformers as t

    model = t.LlavaForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    return model, t.AutoProcessor.from_pretrained(folder)


def run_plain(folder: str, captions: list, _: str) -> tuple[list, float]:
    """One full pass for each choice, alone: what scores should be."""
    import torch
    from PIL import Image

    model, processor = opened(folder)
    start = cpu()
    found = []
    for (picture, _), text in zip(captions, texts_of(captions), strict=True):
        image = Image.open(picture).convert("RGB")
        given = processor(text=text, images=image, return_tensors="pt")
        scores = []
        with torch.inference_mode():
            logits = model(**given).logits[0, -1].log_softmax(-1)
        for word in WORDS:
            (token,) = processor.tokenizer.encode(f" {word}", add_special_tokens=False)
            scores.append(float(logits[token]))
        found.append(scores)
    return found, cpu() - start


def run_one(folder: str, captions: list, ask: str) -> tuple[list, float]:
    """One caption, plainly: what libraries and weights take."""
    return run_plain(folder, captions[:1], ask)


def run_bare(folder: str, captions: list, _: str) -> tuple[list, float]:
    """A loop for this model and these captions alone: pictures once, questions after them."""
    import torch
    from PIL import Image
    from transformers import DynamicCache

    model, processor = opened(folder)
    tokenizer, pad = processor.tokenizer, processor.tokenizer.pad_token_id
    words = [tokenizer.encode(f" {word}", add_special_tokens=False)[0] for word in WORDS]
    start = cpu()
    by_picture: dict[str, list[int]] = {}
    for number, (picture, _) in enumerate(captions):
        by_picture.setdefault(picture, []).append(number)
    before, after = "USER: <image>\n", texts_of(captions)
    tails = [tokenizer.encode(text[len(before) :], add_special_tokens=False) for text in after]
    head = processor(
        text=before, images=Image.new("RGB", (224, 224)), return_tensors="pt"
    ).input_ids
    found: list = [None] * len(captions)
    pictures = list(by_picture)
    for first in range(0, len(pictures), 16):
        some = pictures[first : first + 16]
        images = [Image.open(file).convert("RGB") for file in some]
        pixels = processor.image_processor(images, return_tensors="pt")["pixel_values"]
        with torch.inference_mode():
            past = model(
                input_ids=head.expand(len(some), -1),
                pixel_values=pixels,
                use_cache=True,
                logits_to_keep=1,
            ).past_key_values
            rows = [(place, n) for place, file in enumerate(some) for n in by_picture[file]]
            longest = max(len(tails[n]) for _, n in rows)
            ids = torch.full((len(rows), longest), pad)
            for row, (_, n) in enumerate(rows):
                ids[row, : len(tails[n])] = torch.tensor(tails[n])
            owner = torch.tensor([place for place, _ in rows])
            cache = DynamicCache([(each.keys[owner], each.values[owner]) for each in past.layers])
            hidden = model.model.language_model(
                input_ids=ids, past_key_values=cache, use_cache=True
            ).last_hidden_state
            last = torch.tensor([len(tails[n]) - 1 for _, n in rows])
            logits = model.lm_head(hidden[torch.arange(len(rows)), last]).log_softmax(-1)
            for (_, n), scores in zip(rows, logits[:, words].tolist(), strict=True):
                found[n] = scores
    return found, cpu() - start


def run_lmms(folder: str, captions: list, ask: str) -> tuple[list, float]:
    """lmms-eval's own class for LLaVA."""
    from lmms_eval.api.instance import Instance
    from lmms_eval.models.simple.llava_hf import LlavaHf
    from PIL import Image

    model = LlavaHf(pretrained=folder, device="cpu", dtype="float32", device_map="cpu")
    model.task_dict = {"bench": {"test": [picture for picture, _ in captions]}}

    def look(picture: str) -> list:
        return [Image.open(picture).convert("RGB")]

    requests = []
    for number, (_, text) in enumerate(captions):
        question = QUESTION.format(text=text)
        about = {"idx": 0, "metadata": {"task": "bench", "doc_id": number, "repeats": 1}}
        place = (look, number, "bench", "test")
        if ask == "generate":
            settings = {"max_new_tokens": 1}
            given = (question, settings, *place)
            requests.append(Instance(request_type="generate_until", arguments=given, **about))
            continue
        for word in WORDS:
            given = (question, word, *place)
            requests.append(Instance(request_type="loglikelihood", arguments=given, **about))
    start = cpu()
    if ask == "generate":
        return model.generate_until(requests), cpu() - start
    answered = [score for score, _ in model.loglikelihood(requests)]
    return [answered[i : i + 2] for i in range(0, len(answered), 2)], cpu() - start


def run_lmeval(folder: str, captions: list, _: str) -> tuple[list, float]:
    """lm-eval's class for models that see; it generates, in batches of 16."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.hf_vlms import HFMultimodalLM
    from PIL import Image

    model = HFMultimodalLM(
        pretrained=folder, device="cpu", dtype="float32", batch_size=16, max_images=1
    )
    settings = {"until": ["</s>"], "max_gen_toks": 1, "do_sample": False}
    start = cpu()
    requests = []
    for (picture, _), text in zip(captions, texts_of(captions), strict=True):
        shown = {"visual": [Image.open(picture).convert("RGB")]}
        arguments = (text, dict(settings), shown)
        requests.append(Instance(request_type="generate_until", doc={}, arguments=arguments, idx=0))
    return model.generate_until(requests, disable_tqdm=True), cpu() - start


SYSTEMS: dict[str, Callable[[str, list, str], tuple[list, float]]] = {
    "gnomon": run_gnomon,
    "plain": run_plain,
    "one": run_one,
    "bare": run_bare,
    "lmms": run_lmms,
    "lmeval": run_lmeval,
}


def child(arguments: list[str]) -> None:
    """Make the model, or run one system on one workload and print what it took."""
    import warnings

    warnings.simplefilter("ignore")
    system, folder, pictures, ask, ways, output = arguments
    if system == "model":
        make_model(Path(folder))
        return
    import torch

    torch.set_num_threads(1)
    captions = make_captions(json.loads(Path(pictures).read_text()), int(ways))
    found, seconds = SYSTEMS[system](folder, captions, ask)
    outcome = {"seconds": seconds, "peak": peak_mb(), "found": found}
    Path(output).write_text(json.dumps(outcome))


class Bench:
    """One measurement: a folder with the model, and the interpreters of the systems."""

    def __init__(self, folder: Path, pictures: Path, lmms: str) -> None:
        self.folder, self.pictures, self.lmms = folder, pictures, lmms

    def run(self, system: str, ask: str = "score", ways: int = 1) -> dict:
        """Seconds, peak memory and scores or replies of one system."""
        output = self.folder / f"{system}-{ask}-{ways}.json"
        python = self.lmms if system in ("lmms", "lmeval") else sys.executable
        call = [str(self.folder / "model"), str(self.pictures), ask, str(ways), str(output)]
        done = subprocess.run(
            [python, __file__, "--child", system, *call],
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{system} failed:\n{done.stderr[-3000:]}")
        if system == "model":
            return {}
        return json.loads(output.read_text())


def largest_difference(first: list, second: list) -> float:
    return max(
        abs(a - b)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def measure(bench: Bench, lmms: str) -> dict:
    """All rows, then the ratios."""
    bench.run("model")
    rows = {
        "one pass": bench.run("one"),
        "gnomon": bench.run("gnomon"),
        "bare": bench.run("bare"),
        "plain": bench.run("plain"),
        "gnomon, generate": bench.run("gnomon", "generate"),
        "gnomon, four ways": bench.run("gnomon", ways=4),
        "bare, four ways": bench.run("bare", ways=4),
    }
    if lmms:
        rows["lmms-eval"] = bench.run("lmms")
        rows["lmms-eval, generate"] = bench.run("lmms", "generate")
        rows["lm-eval, generate"] = bench.run("lmeval", "generate")
    seconds = {name: row["seconds"] for name, row in rows.items()}
    peer = "lmms-eval" if lmms else "bare"
    result = {
        "bare_ratio": seconds["gnomon"] / seconds["bare"],
        "four_ways_bare_ratio": seconds["gnomon, four ways"] / seconds["bare, four ways"],
        "memory_ratio": rows["gnomon"]["peak"] / rows[peer]["peak"],
        "memory_floor": rows["one pass"]["peak"] / rows[peer]["peak"],
        "max_difference": largest_difference(rows["gnomon"]["found"], rows["plain"]["found"]),
    }
    if lmms:
        four = 4 * seconds["lmms-eval"]
        generation = seconds["lmms-eval, generate"] / seconds["gnomon, generate"]
        result["likelihood_ratio"] = seconds["lmms-eval"] / seconds["gnomon"]
        result["generation_ratio"] = generation
        result["four_ways_ratio"] = four / seconds["gnomon, four ways"]
    shown = {
        name: {"cpu_seconds": round(row["seconds"], 2), "peak_mb": round(row["peak"])}
        for name, row in rows.items()
    }
    return {**{name: float(f"{value:.3g}") for name, value in result.items()}, "rows": shown}


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lmms", default="", metavar="PYTHON", help="with lmms-eval and lm-eval")
    parser.add_argument("--photos", type=Path, default=PHOTOS, help="a folder of .jpg files")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").mkdir()
        pictures = folder / "pictures.json"
        pictures.write_text(json.dumps(make_pictures(folder / "drawn", args.photos)))
        result = measure(Bench(folder, pictures, args.lmms), args.lmms)
    if args.json:
        print(json.dumps(result, indent=2))
        return
    for name, row in result.pop("rows").items():
        print(f"{name:24} {row['cpu_seconds']:8.2f} s {row['peak_mb']:8,} MB")
    for name, value in result.items():
        print(f"{name:24} {value:8.3g}")


if __name__ == "__main__":
    main()
