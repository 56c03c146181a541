"""A dataset folder as Hugging Face's hub takes it: data by split, pictures, and a card.

`gnomon run FOLDER` asks it again; the items come back as they were.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import yaml

from gnomon import __version__
from gnomon.files import package_data
from gnomon.grouped import grouped
from gnomon.items.export.job import Exported, Job
from gnomon.items.writing import write_items
from gnomon.records import Item
from gnomon.registry import known_benchmark

CARD = "README.md"
SIDECAR = "gnomon.yaml"  # which tells Gnomon what the items are
SPLIT = "test"  # of items that name none
SIZES = (1_000, 10_000, 100_000, 1_000_000)
LICENCES = {"apache-2.0", "mit", "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "bsd-3-clause"}


def write_dataset(job: Job) -> Exported:
    """Write data/SPLIT.jsonl (or .parquet) for each split, images/, and README.md."""
    by_split = grouped(job.items(), _split)
    data = job.folder / "data"
    data.mkdir()
    ending = "parquet" if job.parquet else "jsonl"
    files = []
    for split, items in by_split.items():
        file = data / f"{split}.{ending}"
        write_items(file, items, canary=job.canary)
        files.append(file)
    sidecar = job.folder / SIDECAR
    sidecar.write_text(_sidecar(job), encoding="utf-8")
    card = job.folder / CARD
    card.write_text(_card(job, by_split, files), encoding="utf-8")
    total = sum(map(len, by_split.values()))
    return Exported([card, sidecar, *files], total, f"gnomon run {job.folder} -m MODEL")


def _sidecar(job: Job) -> str:
    """What Gnomon knows of the items: the benchmark they are of, or else how they are scored."""
    asked = job.source.benchmark
    content: dict[str, Any] = {"title": asked.title, "summary": asked.summary}
    if known_benchmark(asked.name) is not None:
        content = {"like": asked.name}
    else:
        content |= {"measures": asked.measures, "slices": asked.slices, "groups": asked.noun}
        content |= {"prompt": asked.prompt if "/" not in asked.prompt else ""}
    plain = {name: value for name, value in msgspec.to_builtins(content).items() if value}
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def _split(item: Item) -> str:
    """The split of an item by a name that is also the name of a file."""
    name = re.sub(r"[^a-z0-9]+", "_", item.tags.get("split", "").lower())
    return name if name in ("train", "validation", "dev", "test", "val") else SPLIT


def _card(job: Job, by_split: dict[str, list[Item]], files: list[Path]) -> str:
    items = [item for part in by_split.values() for item in part]
    header = yaml.safe_dump(
        _header(job, by_split, files, items), sort_keys=False, allow_unicode=True
    )
    parts = [
        f"---\n{header}---\n",
        f"# {_line(job.title)}\n",
        f"{_line(job.source.benchmark.summary).rstrip('.')}.\n",
        f"{job.canary}\n" * bool(job.canary),
        _counts(by_split),
        _how_made(job),
        _example(items),
        package_data("exports/fields.md").read_text(encoding="utf-8"),
        f"## Licence\n\n{_line(job.licence)}\n",
    ]
    if job.citation:
        parts.append(f"## Citation\n\n```bibtex\n{job.citation.replace('```', '')}\n```\n")
    return "\n".join(filter(None, parts))


def _header(
    job: Job, by_split: dict[str, list[Item]], files: list[Path], items: list[Item]
) -> dict[str, Any]:
    known = job.licence.lower()
    sources = []
    for split, file in zip(by_split, files, strict=True):
        sources.append({"split": split, "path": f"data/{file.name}"})
    tasks = ["text-classification", "multiple-choice"]
    if any(item.images for item in items):
        tasks = ["visual-question-answering"]
    return {
        "pretty_name": job.title,
        "language": ["en"],
        "license": known if known in LICENCES else "other",
        "task_categories": tasks,
        "size_categories": [_size(len(items))],
        "tags": ["spatial-reasoning", "gnomon"],
        "configs": [{"config_name": "default", "data_files": sources}],
    }


def _size(count: int) -> str:
    """The hub's word for how many items there are.

    >>> _size(400), _size(20480)
    ('n<1K', '10K<n<100K')
    """
    words = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "n>1M")
    place = sum(count >= size for size in SIZES)
    return words[place]


def _line(text: str) -> str:
    """Text of strangers on one line, which cannot be markup."""
    return re.sub(r"[<>`|\[\]]", "", " ".join(text.split()))


def _counts(by_split: dict[str, list[Item]]) -> str:
    lines = ["## Items\n", "| split | items | groups | forms |", "| --- | --- | --- | --- |"]
    for split, items in by_split.items():
        groups = len({item.group for item in items})
        forms = Counter(item.form for item in items)
        listed = ", ".join(f"{form} {count:,}" for form, count in sorted(forms.items()))
        lines.append(f"| {split} | {len(items):,} | {groups:,} | {listed} |")
    return "\n".join(lines) + "\n"


def _how_made(job: Job) -> str:
    options = ", ".join(
        f"{key}={value}" for key, value in job.source.options.items() if key != "file"
    )
    seed = job.source.options.get("seed")
    drawn = f" They were drawn with the seed {seed}." if seed is not None else ""
    told = f"Written by Gnomon {__version__} from {_line(job.source.name)}.{drawn}"
    lines = ["## How it was made\n", told]
    if options:
        lines.append(f"Options: {_line(options)}.")
    lines.append(f"\n```sh\n{job.command.replace('```', '')}\n```\n")
    return "\n".join(lines)


def _example(items: list[Item]) -> str:
    if not items:
        return ""
    raw = msgspec.json.format(msgspec.json.encode(items[0]), indent=2).decode()
    return f"## Example\n\n```json\n{raw.replace('```', '')}\n```\n"
