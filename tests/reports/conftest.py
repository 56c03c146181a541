"""Runs to report on, and pages of the browser to look at them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        f"report_{name}", Path(__file__).parent / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made() -> ModuleType:
    """The maker of runs."""
    return _load("made")


@pytest.fixture(scope="session")
def runs(made: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: three models on entailment, one on pairs and one on colours."""
    folder = tmp_path_factory.mktemp("runs")
    items = list(made.entailment(patterns=24, each=8))
    made.write(
        folder / "good",
        "spacenli@fresh",
        "hf:roberta-large-mnli",
        items,
        skill=0.8,
        seed=2,
        description={"parameters": 355_000_000},
    )
    made.write(
        folder / "middling",
        "spacenli@fresh",
        "smollm2",
        items,
        skill=0.5,
        seed=1,
        description={"parameters": 135_000_000, "prompt": "Premise: {context}"},
    )
    made.write(folder / "guess", "spacenli@fresh", "random", items, skill=0.2, seed=3, scale="none")
    made.write(folder / "pairs", "scales@fresh", "smollm2", made.pairs(), skill=0.6, seed=4)
    made.write(folder / "colours", "viphy@fresh", "smollm2", made.colours(), skill=0.5, seed=5)
    return folder


class Tab:
    """A page of the browser that records what it should not do: errors, requests, scripts."""

    def __init__(self, context: Any, allowed: str) -> None:
        self.page = context.new_page()
        self.errors: list[str] = []
        self.strays: list[str] = []
        self.page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request",
            lambda request: (
                None if request.url.startswith(allowed) else self.strays.append(request.url)
            ),
        )
        self.page.on(
            "dialog", lambda dialog: (self.errors.append("a dialog opened"), dialog.dismiss())
        )


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Open a page at an address: tab(url, width=..., scheme=...)."""
    contexts = []

    def show(
        url: str,
        *,
        width: int = 1280,
        scheme: str = "light",
        scripts: bool = True,
        allowed: str = "",
        before: str = "",
    ) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(120_000)  # a busy machine is slow
        if before:  # a script that runs before those of the page
            context.add_init_script(before)
        found = Tab(context, allowed or url)
        found.page.goto(url)
        return found

    yield show
    for context in contexts:
        context.close()
