"""The same models and items through Gnomon, through lm-eval and through a bare loop: CPU seconds, memory, differences.

    python bench/lmeval.py --json             # all three on three models (about 10 minutes of one core)
    python bench/lmeval.py --items 200        # fewer items

Each system runs in its own process with one torch thread, from the items' text to a score for each choice; loading the
model is not counted, tokenising is. The bare loop is what one would write by hand for these items alone: it is given
tokens, trees and batches ready made. Ratios are of CPU seconds, so a busy machine does not change them much.

The embedded default, SmolLM2, is also asked as `-m smollm2` asks it (numpy), and through llama.cpp.

tiny and small have random weights and large vocabularies for their size, as small models do; smollm2 is the real one.
The larger a model, the more of its time goes into layers that every program must compute for every new token. So each
row names its ceiling, too: what a program would reach that did nothing but the matrix products which none can avoid,
each token that differs once, at the best speed of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

SHAPES = {
    "tiny": {  # a Llama
        "model_type": "llama",
        "vocab_size": 32000,
        "hidden_size": 256,
        "intermediate_size": 688,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
    },
    "small": {  # a GPT-NeoX with the shape of Pythia-31M
        "model_type": "gpt_neox",
        "vocab_size": 50304,
        "hidden_size": 256,
        "intermediate_size": 1024,
        "num_hidden_layers": 6,
        "num_attention_heads": 8,
    },
}
AIMED = (
    "tiny",
    "small",
)  # the models whose ratios are aimed at; the real one's layers leave less to win
TOKENS = 32000  # of the tokenizer
NAMES = [
    "Ann",
    "Ben",
    "Carla",
    "David",
    "Ellen",
    "Frank",
    "Grace",
    "Henry",
    "Jack",
    "Karen",
    "Leo",
    "Mary",
    "Paul",
]
THINGS = [
    "book",
    "chair",
    "table",
    "box",
    "bridge",
    "road",
    "house",
    "window",
    "door",
    "bottle",
    "key",
    "letter",
]
PLACES = [
    "left of",
    "right of",
    "behind",
    "above",
    "below",
    "near",
    "inside",
    "outside",
    "far from",
    "next to",
]
EMBEDDED = "smollm2"  # the model that numpy and llama.cpp compute, too
SYSTEMS = ("gnomon", "lmeval", "bare", "products", "numpy", "llamacpp")
OF_EMBEDDED = ("numpy", "llamacpp")


def make_items(count: int, kind: str) -> list:
    """Items of about 36 tokens with their prompt, with labels of one token or choices of five to
    eight."""
    from gnomon.records import Item

    rng = random.Random(7)
    items = []
    for number in range(count):
        a, b, c = rng.sample(THINGS, 3)
        one, two = rng.sample(NAMES, 2)
        near, far = rng.sample(PLACES, 2)
        context = f"{one} put the {a} {near} the {b}. The {c} of {two} is {far} the {b}."
        text = f"The {a} is {far} the {c}."
        if kind == "label":
            choices: tuple[str, ...] = ("entailment", "contradiction", "neutral")
        else:
            choices = tuple(
                f"{place} the {thing} of {one}"
                for place, thing in zip(rng.sample(PLACES, 3), rng.sample(THINGS, 3), strict=True)
            )
        form = "entailment" if kind == "label" else "choice"
        items.append(
            Item(
                id=str(number),
                form=form,
                context=context,
                text=text,
                choices=choices,
                gold=choices[:1],
            )
        )
    return items


def make_models(folder: Path, shapes: list[str]) -> None:
    """Random weights with a byte-level BPE tokenizer trained on Python's own library; smollm2 from
    the cache."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.disable_progress_bar()
    if "smollm2" in shapes:
        from gnomon.models.llamacpp.conversion import converted
        from gnomon.models.llamacpp.smollm2 import weights

        (folder / "smollm2").symlink_to(converted(weights()), target_is_directory=True)
    files = sorted(str(file) for file in Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    files += sorted(str(file) for file in Path(sysconfig.get_paths()["stdlib"]).glob("[a-e]*/*.py"))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train(
        files,
        trainers.BpeTrainer(
            vocab_size=TOKENS,
            special_tokens=["<s>", "</s>", "<pad>"],
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    for shape in [shape for shape in shapes if shape in SHAPES]:
        torch.manual_seed(0)
        config = AutoConfig.for_model(
            **SHAPES[shape],
            max_position_embeddings=2048,
            bos_token_id=0,
            eos_token_id=1,
            pad_token_id=2,
        )
        AutoModelForCausalLM.from_config(config).save_pretrained(folder / shape)
        fast.save_pretrained(folder / shape)


def make_prompt(folder: Path, kind: str, shots: int) -> str:
    """A prompt file with so many worked examples of about 50 tokens each."""
    shown = [
        {
            "context": f"{item.context} {item.text}",
            "text": f"The {THINGS[i]} is {PLACES[i]} the {THINGS[-1 - i]}.",
            "answer": item.choices[i % 3],
            "choices": list(item.choices),
        }
        for i, item in enumerate(make_items(shots, kind))
    ]
    words = (
        {"entailment": "True", "contradiction": "False", "neutral": "None"}
        if kind == "label"
        else {}
    )
    form = {
        "template": ["{context}\n", "{text} True or False?\nAnswer: {answer}"],
        "words": words,
        "examples": shown,
    }
    file = folder / f"{kind}-{shots}.yaml"
    file.write_text(
        json.dumps(
            {"summary": "bench", "forms": {"entailment" if kind == "label" else "choice": form}}
        )
    )
    return str(file)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run_gnomon(folder: str, prompt: str, items: list) -> tuple[list, float]:
    """As `gnomon run` asks: batches of the engine, answers of the model."""
    from gnomon.models.transformers.hf import hf
    from gnomon.runs.batches import in_batches

    model = hf(folder, prompt=prompt, chat=False, threads=1)
    start = cpu()
    scores: list = [None] * len(items)
    for batch in in_batches(list(enumerate(items)), model.size, model.budget, model.batch):
        for (number, _), answer in zip(
            batch, model.answer([item for _, item in batch]), strict=True
        ):
            scores[number] = answer.scores
    return scores, cpu() - start


def run_numpy(_: str, prompt: str, items: list) -> tuple[list, float]:
    """The embedded default as it is asked without torch."""
    return _run_embedded(prompt, items, quantised=False)


def run_llamacpp(_: str, prompt: str, items: list) -> tuple[list, float]:
    """The same file computed by llama.cpp, in 4 bits."""
    return _run_embedded(prompt, items, quantised=True)


def _run_embedded(prompt: str, items: list, *, quantised: bool) -> tuple[list, float]:
    from gnomon.models.llamacpp.smollm2 import smollm2

    model = smollm2("", prompt=prompt, threads=1, quantised=quantised)
    start = cpu()
    answers = model.answer(items)
    return [answer.scores for answer in answers], cpu() - start


def requests(prompt: str, items: list) -> list[tuple[str, list[str]]]:
    from gnomon.models.prompts.library import load_prompt

    how = load_prompt(prompt)
    return [(how.context(item), [words[0] for words in how.words(item)]) for item in items]


def run_lmeval(folder: str, prompt: str, items: list) -> tuple[list, float]:
    """lm-eval's own interface for a model, batch 32."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    model = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=32)
    asked = requests(prompt, items)
    start = cpu()
    instances = [
        Instance(request_type="loglikelihood", doc={}, arguments=(context, word), idx=i)
        for context, words in asked
        for i, word in enumerate(words)
    ]
    found = iter(model.loglikelihood(instances, disable_tqdm=True))
    scores = [[next(found)[0] for _ in words] for _, words in asked]
    return scores, cpu() - start


def tokenised(
    folder: str, prompt: str, items: list
) -> list[tuple[int, list[int], list[list[int]]]]:
    """Each item's number, the tokens of its context and those of its choices."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    work = []
    for number, (context, words) in enumerate(requests(prompt, items)):
        before = tokenizer.encode(context)
        work.append(
            (number, before, [tokenizer.encode(context + word)[len(before) :] for word in words])
        )
    return work


def run_products(folder: str, prompt: str, items: list) -> tuple[list, float]:
    """CPU seconds of the matrix products that no program can avoid, at the best speed that this
    machine shows.

    All layers but the last once for each token that differs or follows other tokens, the head once
    for each place whose logits are asked for. Attention, norms, the last layer and everything else
    are left out, so it is a true floor.
    """
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    head = model.get_output_embeddings().weight.numel()
    layers = sum(
        part.weight.numel()
        for name, part in model.base_model.named_modules()
        if isinstance(part, torch.nn.Linear)
        and f"layers.{model.config.num_hidden_layers - 1}." not in name
    )
    computed, asked = set(), set()
    for _, before, tails in tokenised(folder, prompt, items):
        for tail in tails:
            whole = (*before, *tail[:-1])
            computed |= {hash(whole[:end]) for end in range(1, len(whole) + 1)}
            asked |= {hash(whole[:end]) for end in range(len(before), len(whole) + 1)}
    del model
    one, other = torch.randn(1024, 1024), torch.randn(1024, 1024)
    best = min(_seconds(lambda: one @ other) for _ in range(20))
    return [], 2 * (len(computed) * layers + len(asked) * head) / (2 * 1024**3 / best)


def _seconds(work: Callable[[], object]) -> float:
    start = cpu()
    work()
    return cpu() - start


def run_bare(folder: str, prompt: str, items: list) -> tuple[list, float]:
    """A loop over tree batches that were made beforehand: prefix once, packed choices, logits where
    needed."""
    import torch
    from transformers import AutoModelForCausalLM, DynamicCache

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    work = tokenised(folder, prompt, items)
    first, last = min(before for _, before, _ in work), max(before for _, before, _ in work)
    shared = next(i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    shared = shared if shared > 32 else 0
    prefix = work[0][1][:shared]
    rows = [_bare_row(number, before[shared:], tails) for number, before, tails in work]
    rows.sort(key=lambda row: len(row[0]))
    ready = [_bare_batch(rows[i : i + 32], shared) for i in range(0, len(rows), 32)]
    scores: list = [None] * len(items)
    start = cpu()
    with torch.inference_mode():
        past = (
            model.base_model(torch.tensor([prefix]), use_cache=True).past_key_values
            if shared
            else None
        )
        for ids, positions, mask, at, wanted, owner in ready:
            cache = None
            if past is not None:
                size = (len(ids), -1, -1, -1)
                cache = DynamicCache(
                    [(layer.keys.expand(size), layer.values.expand(size)) for layer in past.layers]
                )
            hidden = model.base_model(
                ids,
                position_ids=positions,
                attention_mask=mask,
                past_key_values=cache,
                use_cache=cache is not None,
            ).last_hidden_state
            logits = model.get_output_embeddings()(hidden.flatten(0, 1)[at[0]])
            found = (logits[at[1], wanted] - logits.logsumexp(-1)[at[1]]).tolist()
            for (number, choice), value in zip(owner, found, strict=True):
                scores[number] = scores[number] or [0.0, 0.0, 0.0]
                scores[number][choice] += value
    return scores, cpu() - start


def _bare_row(number: int, before: list[int], tails: list[list[int]]) -> tuple:
    tokens, parents = list(before), list(range(-1, len(before) - 1))
    asked = []
    for choice, tail in enumerate(tails):
        node = len(before) - 1
        for place, token in enumerate(tail):
            asked.append((node, token, number, choice))
            if place < len(tail) - 1:
                tokens.append(token)
                parents.append(node)
                node = len(tokens) - 1
    return tokens, parents, asked


def _bare_batch(rows: list[tuple], shared: int) -> tuple:
    import torch

    longest = max(len(tokens) for tokens, _, _ in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    positions = torch.zeros(len(rows), longest, dtype=torch.long)
    sees = torch.eye(longest, dtype=torch.bool).repeat(len(rows), 1, 1)
    flat, wanted, owner = [], [], []
    for r, (tokens, parents, asked) in enumerate(rows):
        ids[r, : len(tokens)] = torch.tensor(tokens)
        for i, parent in enumerate(parents):
            if parent >= 0:
                sees[r, i] |= sees[r, parent]
            positions[r, i] = 0 if parent < 0 else positions[r, parent] + 1
        for node, token, number, choice in asked:
            flat.append(r * longest + node)
            wanted.append(token)
            owner.append((number, choice))
    full = torch.cat([torch.ones(len(rows), longest, shared, dtype=torch.bool), sees], -1)[:, None]
    mask = torch.zeros(full.shape).masked_fill_(~full, torch.finfo(torch.float32).min)
    places, which = torch.unique(torch.tensor(flat), return_inverse=True)
    return ids, positions + shared, mask, (places, which), torch.tensor(wanted), owner


def peak_mb() -> float:
    """The most memory this process has held; on Linux by its own mark: getrusage counts what the
    parent held, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return (
            next(
                int(line.split()[1])
                for line in status.read_text().splitlines()
                if line.startswith("VmHWM")
            )
            / 1024
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(arguments: list[str]) -> None:
    """Make the models, or run one system on one workload and print what it took."""
    if arguments[0] == "models":
        make_models(Path(arguments[1]), arguments[2:])
        return
    system, folder, prompt, kind, count = arguments
    import warnings

    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    items = make_items(int(count), kind)
    scores, seconds = globals()[f"run_{system}"](folder, prompt, items)
    print("RESULT" + json.dumps({"cpu_seconds": seconds, "peak_mb": peak_mb(), "scores": scores}))


def measure(system: str, folder: Path, prompt: str, kind: str, count: int) -> dict:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    command = [sys.executable, __file__, "--child", system, str(folder), prompt, kind, str(count)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        raise SystemExit(f"{system} failed:\n{done.stderr[-3000:]}")
    return json.loads(lines[-1].removeprefix("RESULT"))


def compare(
    folder: Path, shape: str, kind: str, shots: int, count: int, systems: list[str]
) -> dict:
    """One workload through all systems."""
    prompt = make_prompt(folder, kind, shots)
    found = {system: measure(system, folder / shape, prompt, kind, count) for system in systems}
    ours = found["gnomon"]["scores"]
    row: dict = {"model": shape, "choices": kind, "shots": shots, "items": count}
    seconds = {system: result["cpu_seconds"] for system, result in found.items()}
    for system, result in found.items():
        row[f"{system}_cpu_seconds"] = round(seconds[system], 3)
        if result["scores"]:
            row[f"{system}_peak_mb"] = round(result["peak_mb"])
            row[f"{system}_difference"] = max(
                abs(a - b)
                for x, y in zip(ours, result["scores"], strict=True)
                for a, b in zip(x, y, strict=True)
            )
    for name, above, below in (
        ("ratio", "lmeval", "gnomon"),
        ("ceiling", "lmeval", "products"),
        ("bare_ratio", "gnomon", "bare"),
        ("numpy_ratio", "numpy", "gnomon"),
        ("llamacpp_ratio", "llamacpp", "gnomon"),
    ):
        if above in found and below in found:
            row[name] = round(seconds[above] / seconds[below], 3)
    return row


def summary(rows: list[dict]) -> dict:
    """The worst of each figure: differences and bare ratios of all models, the rest of those that
    are aimed at."""
    differences = [
        row[f"{system}_difference"]
        for row in rows
        for system in SYSTEMS
        if f"{system}_difference" in row and system != "llamacpp"  # which rounds
    ]
    aimed = [row for row in rows if row["model"] in AIMED] or rows
    memory = [
        row["gnomon_peak_mb"] / row["lmeval_peak_mb"] for row in aimed if "lmeval_peak_mb" in row
    ]
    ratios = {
        shots: [row["ratio"] for row in aimed if row["shots"] == shots and "ratio" in row]
        for shots in (0, 3)
    }
    return {
        "three_shot_ratio": min(ratios[3], default=None),
        "zero_shot_ratio": min(ratios[0], default=None),
        "bare_ratio": max((row["bare_ratio"] for row in rows if "bare_ratio" in row), default=None),
        "max_difference": max(differences),
        "peak_memory_ratio": max(memory, default=None),
        "gnomon_peak_mb": max(row["gnomon_peak_mb"] for row in aimed),
        "lmeval_peak_mb": max(
            (row["lmeval_peak_mb"] for row in aimed if "lmeval_peak_mb" in row), default=None
        ),
        "models": sorted({row["model"] for row in aimed}),
    }


def machine() -> dict:
    from importlib.metadata import version

    names = (
        [
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        if Path("/proc/cpuinfo").exists()
        else []
    )
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "lm_eval": version("lm_eval"),
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--items", type=int, default=600, help="items with one-token labels (default 600)"
    )
    parser.add_argument("--models", default="tiny,small,smollm2")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    args = parser.parse_args()
    shapes, systems = args.models.split(","), args.systems.split(",")
    counts = {"label": args.items, "phrase": args.items // 3}  # a tenth of them for the real one
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([sys.executable, __file__, "--child", "models", place, *shapes], check=True)
        for shape in shapes:
            for kind in ("label", "phrase"):
                for shots in (0, 3):
                    count = counts[kind] if shape in SHAPES else max(8, counts[kind] // 10)
                    asked = [
                        each for each in systems if shape == EMBEDDED or each not in OF_EMBEDDED
                    ]
                    rows.append(compare(folder, shape, kind, shots, count, asked))
                    if not args.json:
                        print(
                            "  ".join(f"{key} {value}" for key, value in rows[-1].items()),
                            flush=True,
                        )
    result = {**summary(rows), "workloads": rows, "machine": machine()}
    print(json.dumps(result if args.json else summary(rows), indent=2))


if __name__ == "__main__":
    main()
