"""A multiple-choice task for lm-eval, in Gnomon's own words: a YAML file and its data.

The data hold the finished text of each question, so that lm-eval scores the same continuations of
the same text as Gnomon does, and its `acc` is Gnomon's accuracy.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from gnomon.errors import UsageError
from gnomon.items.export.job import Exported, Job
from gnomon.items.writing import FIELD, atomic_file, write_records
from gnomon.models.prompts.library import Prompt, load_prompt
from gnomon.records import Item

DATA = "items.jsonl"
DEFAULT_PROMPT = "plain"
MASKED = "masked"  # the prompt of models that lm-eval does not have


def write_lmeval(job: Job) -> Exported:
    """Write TASK.yaml and items.jsonl."""
    if job.prompt == MASKED:
        raise UsageError(
            "The prompt masked is for masked models, and lm-eval asks none.",
            f"Leave it out for {DEFAULT_PROMPT}, or ask such a model with `gnomon run`.",
        )
    prompt = load_prompt(job.prompt or DEFAULT_PROMPT, job.wording).with_shots(job.shots)
    data, task = job.folder / DATA, job.folder / f"{job.name}.yaml"
    several = any(len(item.gold) > 1 for item in job.source.items())
    items = write_records(data, _records(job, prompt, several=several))
    with atomic_file(task) as part:
        part.write_text(_yaml(job, prompt, data), encoding="utf-8")
    command = (
        f"lm_eval --model hf --model_args pretrained=MODEL --tasks {job.name} "
        f"--include_path {job.folder}"
    )
    return Exported([task, data], items, command)


def _records(job: Job, prompt: Prompt, *, several: bool) -> Iterator[dict[str, Any]]:
    for item in job.items_with_choices():
        if item.images:
            raise UsageError(
                f"Items of {job.source.name} have pictures, and lm-eval's multiple-choice tasks "
                "show none.",
                "Make them with --as inspect or --as dataset.",
            )
        gold = [item.choices.index(label) for label in item.gold]
        record = {
            "id": item.id,
            "query": prompt.context(item),
            "choices": _continuations(prompt, item),
            "gold": gold if several else gold[0],
            "labels": item.choices,
            "form": item.form,
            "group": item.group,
            "tags": msgspec.json.encode(item.tags).decode(),  # as text: tags differ from row to row
        }
        if job.canary:
            record[FIELD] = job.canary
        yield record


def _continuations(prompt: Prompt, item: Item) -> list[str]:
    found = []
    for words in prompt.words(item):
        if len(words) > 1:
            raise UsageError(
                f"The prompt '{prompt.name}' has several words for one choice "
                f"({', '.join(words)}), and lm-eval scores one.",
                "Choose another prompt with --prompt.",
            )
        found.append(words[0])
    return found


def _yaml(job: Job, prompt: Prompt, data: Path) -> str:
    metric = {"aggregation": "mean", "higher_is_better": True}
    content = {
        "task": job.name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data.resolve())}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "query",
        "doc_to_choice": "choices",
        "doc_to_target": "gold",
        "target_delimiter": "",
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", **metric}, {"metric": "acc_norm", **metric}],
        "metadata": {
            "version": 1.0,
            "source": job.source.name,
            "options": job.source.options,
            "prompt": prompt.describe(),
        },
    }
    head = [
        f"# {job.title}, exported by Gnomon: {job.command}",
        "# `acc` is Gnomon's accuracy with the same prompt.",
        "# If you move the folder, correct data_files.",
    ]
    if job.canary:
        head.append(f"# {job.canary}")
    lines = [" ".join(line.split()) for line in head]  # a line break would end the comment
    plain = msgspec.to_builtins(content)
    return "\n".join(lines) + "\n" + yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
