"""`gnomon list prompts`: what each prompt is for, and what it has; or one of them whole."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from gnomon.cli.listing import print_json


def list_prompts(args: Namespace) -> int:
    """Print every prompt that ships with Gnomon, or the one that is named as its file has it."""
    return _one(args) if args.name else _all(args)


def _one(args: Namespace) -> int:
    from gnomon.files import read_text
    from gnomon.models.prompts.library import load_prompt, prompt_file

    file = prompt_file(args.name)
    if args.format == "json":
        print_json(load_prompt(args.name))
        return 0
    print(read_text(file), end="")
    print("# In a file of your own, changed as you like, it is a prompt too: --prompt FILE.yaml")
    return 0


def _all(args: Namespace) -> int:
    from gnomon.contracts import Listing
    from gnomon.models.prompts.library import load_prompt, prompt_names
    from gnomon.tabular import render

    found: list[dict[str, Any]] = []
    for name in prompt_names():
        prompt = load_prompt(name)
        found.append(
            {
                "name": name,
                "forms": sorted(prompt.forms),
                "shots": prompt.own_examples,
                "wordings": prompt.wordings,
                "summary": prompt.summary,
            }
        )
    if args.format == "json":
        print_json(found)
        return 0
    rows = []
    for fields in found:
        rows.append(tuple(map(_cell, fields.values())))
    columns = ("prompt", "forms", "shots", "wordings", "summary")
    print(render(Listing("", columns, tuple(rows))))
    print("`gnomon show BENCHMARK -m MODEL --prompt NAME` prints what a model reads with it.")
    print("--shots N draws worked examples for a prompt that has none (docs/prompts.md).")
    return 0


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
