"""Start-up is light: help, list and import load nothing heavy."""

import os
import subprocess
import sys

import pytest

import gnomon

HEAVY = {
    "torch",
    "transformers",
    "polars",
    "duckdb",
    "numpy",
    "pandas",
    "altair",
    "plotly",
    "sklearn",
    "scipy",
    "fastapi",
    "jinja2",
    "httpx",
    "yaml",
    "xllamacpp",
}


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint('\\n' + ' '.join(m for m in sys.modules if '.' not in m))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments", [["list"], ["list", "models"], ["run", "--help"], ["--help"], ["score", "--help"]]
)
def test_commands_that_only_tell_load_nothing_heavy(arguments):
    code = (
        f"from gnomon.cli import main\ntry:\n    main({arguments!r})\nexcept SystemExit:\n    pass"
    )
    assert not modules_after(code) & HEAVY


def test_import_loads_nothing_at_all():
    loaded = modules_after("import gnomon")
    assert not loaded & (HEAVY | {"msgspec", "sqlite3", "argparse"})


def test_public_names_are_all_there():
    for name in gnomon.__all__:
        assert getattr(gnomon, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        gnomon.nonsense  # noqa: B018
