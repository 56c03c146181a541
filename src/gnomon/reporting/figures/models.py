"""What runs tell about models: accuracy against size, and against the number of worked examples or
training items."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gnomon.contracts import Measure
from gnomon.measures.scoring import scores
from gnomon.reporting.charts.plots import Curve, curves, percent
from gnomon.reporting.figures import Figure
from gnomon.reporting.figures.slices import headline_measure
from gnomon.reporting.study import Entrant, Study
from gnomon.reporting.words import axis_name, measure_name, model_name, plain

# Where a manifest may say how much a model was shown, and how the axis is called.
AMOUNTS = {
    "shots": "worked examples in the prompt",
    "train_items": "training items",
    "train_share": "share of the training data",
    "per_pattern": "training items per pattern",
}


def against_size(study: Study) -> Iterator[Figure]:
    """The headline measure against the number of parameters, one line for each family (spatialQA,
    Figure 2)."""
    measure = headline_measure(study.spec)
    found: dict[str, list[tuple[float, float, Entrant]]] = {}
    points: list[tuple[float, float, Entrant]] = []
    for members in (
        study.item_sets()
    ):  # the first with models of two sizes: on other items they say nothing about size
        found = _by_family([study.entrants[i] for i in members], measure)
        points = [point for line in found.values() for point in line]
        if len({size for size, _, _ in points}) > 1:
            break
    else:
        return
    left_out = len(study.entrants) - len(members)
    lines = [
        Curve(
            name,
            i,
            tuple((size, value) for size, value, _ in sorted(members, key=lambda m: m[0])),
            dots=True,
        )
        for i, (name, members) in enumerate(found.items())
    ]
    sizes = [size for size, _, _ in points]
    domain = (
        10 ** math.floor(math.log10(min(sizes))),
        10 ** math.ceil(math.log10(max(sizes) * 1.01)),
    )
    yield Figure(
        name="size",
        title=f"{measure_name(measure.name)} against model size",
        caption="Models of one family are joined by a line."
        + (f" Runs on other items ({left_out}) are left out." if left_out else ""),
        description="; ".join(
            f"{e.label} with {short(size)} parameters: {percent(value)}"
            for size, value, e in points
        ),
        body=curves(
            lines, "parameters", axis_name(measure.name), x_domain=domain, log=True, x_form=short
        ),
        columns=("model", "parameters", measure.name),
        rows=tuple((e.label, size, value) for size, value, e in points),
    )


def _by_family(
    entrants: Sequence[Entrant], measure: Measure
) -> dict[str, list[tuple[float, float, Entrant]]]:
    found: dict[str, list[tuple[float, float, Entrant]]] = {}
    for e in entrants:
        size = parameters(e.run.model, e.run.manifest.model_description)
        value = scores(e.table, [measure])[0].value if size else None
        if size and value is not None:
            found.setdefault(family(e.run.model), []).append((size, value, e))
    return found


def against_shots(study: Study) -> Iterator[Figure]:
    """The headline measure against how much the model was shown, for models that were run with
    several amounts."""
    measure = headline_measure(study.spec)
    for key, label in AMOUNTS.items():
        found: dict[tuple[str, str], dict[float, list[float]]] = {}
        for e in study.entrants:
            amount = _amount(e, key)
            value = scores(e.table, [measure])[0].value
            if amount is not None and value is not None:
                found.setdefault(_curve(e, key), {}).setdefault(amount, []).append(value)
        grown = {which: by for which, by in found.items() if len(by) > 1}
        if not grown:
            continue
        lines, rows = [], []
        names = _names(grown)
        for i, (which, by) in enumerate(grown.items()):
            name = names[which]
            means = {amount: sum(values) / len(values) for amount, values in sorted(by.items())}
            rows += [(name, amount, value, len(by[amount])) for amount, value in means.items()]
            lines.append(
                Curve(
                    name,
                    i,
                    tuple(means.items()),
                    tuple(min(by[a]) for a in means),
                    tuple(max(by[a]) for a in means),
                    dots=True,
                )
            )
        most = max(amount for _, amount, _, _ in rows)
        amounts = sorted({amount for _, amount, _, _ in rows})
        several = any(len(values) > 1 for by in grown.values() for values in by.values())
        yield Figure(
            name=f"by-{key}",
            title=f"{measure_name(measure.name)} by {label}",
            caption="Each curve is one model with the same options, but for seeds and the prompt."
            + (" Runs with the same number are averaged; the bar spans them." if several else ""),
            description=f"Curves from {amounts[0]:g} to {most:g}.",
            columns=("model", key, measure.name, "runs"),
            rows=tuple(rows),
            body=curves(
                lines,
                label,
                axis_name(measure.name),
                x_domain=(min(0.0, amounts[0]), most),
                x_form=lambda v: f"{v:g}",
                x_ticks=amounts if len(amounts) <= 8 else None,
            ),
        )


def _curve(e: Entrant, key: str) -> tuple[str, str]:
    """The model, and what else may make a difference: all its options but this one, seeds and the
    prompt."""
    m = e.run.manifest
    options = {
        **{f"items {name}": value for name, value in m.options.items()},
        **m.model_options,
        "limit": m.limit,
    }
    kept = {
        name: value
        for name, value in sorted(options.items())
        if name not in (key, "prompt") and "seed" not in name and value is not None
    }
    return e.run.model, ", ".join(f"{name} {value}" for name, value in kept.items())


def _names(curves: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A curve's name: the model, with its options where it has several curves."""
    found = list(curves)
    models = [model for model, _ in found]
    return {
        (model, options): f"{model_name(model)} ({plain(options)})"
        if models.count(model) > 1
        else model_name(model)
        for model, options in found
    }


def parameters(model: str, description: Mapping[str, Any]) -> float | None:
    """How many parameters a model has: what the manifest says, else what its name or its file's
    name says.

    >>> parameters("hf:EleutherAI/pythia-1.4b", {}), parameters("smollm2", {"file": "SmolLM2-135M-Instruct.gguf"})
    (1400000000.0, 135000000.0)
    """
    value = description.get("parameters")
    if isinstance(value, int | float) and value > 0:
        return float(value)
    for name in (str(description.get("file", "")), model):
        found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([mb])(?![a-z0-9])", name, re.IGNORECASE)
        if found:
            return float(found[1]) * (1e6 if found[2].lower() == "m" else 1e9)
    return None


def family(model: str) -> str:
    """The name of a model without its size.

    >>> family("hf:roberta-large-mnli"), family("t5-3b"), family("hf:gpt2")
    ('roberta-mnli', 't5', 'gpt2')
    """
    name = model.partition(":")[2] or model
    name = name.rsplit("/", 1)[-1]
    return (
        re.sub(
            r"(?i)[-_](tiny|mini|small|medium|base|large|x+l(arge)?|\d+(\.\d+)?[mb])(?=[-_.]|$)",
            "",
            name,
        )
        or name
    )


def short(value: float) -> str:
    """A count of parameters in few letters.

    >>> short(135e6), short(3e9)
    ('135M', '3B')
    """
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.0f}"


def _amount(e: Entrant, key: str) -> float | None:
    manifest = e.run.manifest
    prompt = manifest.model_description.get("prompt")
    places: list[Mapping[str, Any]] = [manifest.model_options, manifest.model_description]
    if isinstance(prompt, dict):
        places.append(prompt)
    for place in places:
        value = place.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and value.replace(".", "", 1).isdigit():
            return float(value)
    return None
