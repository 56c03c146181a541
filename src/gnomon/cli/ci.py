"""Write a nightly job that asks a model and fails if it got worse.

examples:
  gnomon ci init quick -m openai:my-model --base-url http://127.0.0.1:8000/v1
  gnomon ci init scales posrel -m hf:org/name --by 3 -o .github/workflows/space.yml

The file is a workflow of GitHub Actions: install, run, compare with a baseline that the repository
keeps, and a report. Its commands are plain ones that any other scheduler can run. docs/ci.md says
what each exit code means.
"""

import shlex
from argparse import Namespace
from pathlib import Path

from gnomon.errors import UsageError, inert
from gnomon.files import package_data, read_text
from gnomon.items.writing import atomic_file


def main(args: Namespace) -> int:
    """Write the workflow, and say what comes first."""

    output = Path(args.output)
    if output.exists():
        raise UsageError(f"{output} is already there.", "Remove it, or give another name with -o.")
    asked = [*(args.benchmarks or ["quick"]), "-m", args.model]
    if args.base_url:
        asked += ["--base-url", args.base_url]
    for word in asked:
        if not word.isprintable() or "${{" in word:  # it would be more than a word of the file
            raise UsageError(f"'{inert(word)}' cannot stand in a workflow.", "Rename it.")
    parts = {"asked": shlex.join(asked), "by": f"{args.by:g}", "requirement": _requirement(args)}
    text = read_text(package_data("ci/workflow.yml")).format(**parts)
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(output.resolve()) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    print(f"Written: {output}")
    print("Before the first night, keep a baseline in the repository:")
    print(f"  gnomon run {shlex.join(asked)} --runs gnomon-baseline")
    return 0


def _requirement(args: Namespace) -> str:
    """What pip installs for the model: its optional part, and that of the report."""
    kind = args.model.partition("=")[2] or args.model
    extras = {"hf": "hf,", "openai": "openai,", "gguf": "gguf,", "smollm2": "gguf,"}
    return shlex.quote(f"gnomon[{extras.get(kind.partition(':')[0], '')}report]")
