"""The candidates that `gnomon prompts` tries: from a file, our own list, or a prompt's wordings."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon import registry
from gnomon.cli.selection import chosen_models, chosen_sources, in_all_wordings
from gnomon.errors import UsageError, unknown
from gnomon.items.source import ItemSource
from gnomon.models.prompts.candidates import (
    CandidateList,
    Sifted,
    is_candidate_list,
    kinds_of,
    our_candidates,
    read_candidates,
    sift,
    told_of_dropped,
    write_prompt,
)
from gnomon.records import Item
from gnomon.registry import ModelSpec

if TYPE_CHECKING:
    from gnomon.train.backtranslation import Paraphrased


class Candidates(NamedTuple):
    """The model once for each candidate, and what is told of the candidates."""

    models: list[ModelSpec]
    labels: list[str]
    told: str
    dropped: dict[str, int]


def gathered(args: Namespace, source: ItemSource, items: Sequence[Item]) -> Candidates:
    """The model with each candidate: of a list, or of a prompt's own wordings."""

    (model,) = chosen_models(args, [args.model])
    if args.candidates and not is_candidate_list(Path(args.candidates)):
        return _wordings(args, model, args.candidates)
    form = items[0].form
    listed = _listed(args, source, form)
    if listed is None:
        return _wordings(args, model, args.prompt or source.benchmark.prompt)
    if args.candidates:
        _check_labels(args, listed, items)
    if not args.back_translate:
        return _as_models(args, source, model, sift(listed, kinds_of(items)), form)
    found = _back_translated(args, listed, items)
    sifted = sift(found.candidates, kinds_of(items)).with_dropped(found.dropped)
    return _as_models(args, source, model, sifted, form)


def _listed(args: Namespace, source: ItemSource, form: str) -> CandidateList | None:
    """The list that the user gives, or ours for the benchmark; none if there is none."""

    if not args.candidates:
        return None if args.prompt else our_candidates(source.benchmark.name, form)
    listed = read_candidates(Path(args.candidates))
    if listed.form != form:
        raise UsageError(
            f"{args.candidates} has candidates for items of the form {listed.form}, and those of "
            f"{source.name} are of the form {form}.",
            f"Choose --set form={listed.form}, or other candidates.",
        )
    return listed


def _check_labels(args: Namespace, listed: CandidateList, items: Sequence[Item]) -> None:
    """Refuse answer words for a label that no item has: it is most likely misspelt."""
    named = set(chain.from_iterable(listed.answers))
    known = _labels(items)
    if args.limit and not named <= known:  # other items may have it
        known = _labels(chosen_sources(args, [args.benchmark])[0].without_pictures())
    for label in sorted(named - known):
        raise UsageError(
            f"{args.candidates} has a word for the label '{label}', which no item of "
            f"{args.benchmark} has.",
            unknown("label", label, known).hint,
        )


def _labels(items: Iterable[Item]) -> set[str]:
    found: set[str] = set()
    for item in items:
        found.update(item.choices)
    return found


def _wordings(args: Namespace, model: ModelSpec, prompt: str) -> Candidates:
    """The wordings of a prompt as candidates."""

    if args.back_translate:
        raise UsageError(
            "Back-translation needs a list of candidates to begin with.",
            "Give one with --candidates FILE; docs/probing.md shows one.",
        )
    if prompt:
        model = registry.model(model.spec, **{**model.options, "prompt": prompt})
    models = in_all_wordings(model)
    if len(models) == 1:
        raise UsageError(
            f"There is only one way to ask {model.spec}.",
            "Choose a model that is asked by a prompt, or give --candidates FILE.",
        )
    labels = [f"wording {number}" for number in range(1, len(models) + 1)]
    name = prompt or "the model's own prompt"
    return Candidates(models, labels, f"{len(models)} wordings of {name}", {})


def _back_translated(args: Namespace, listed: CandidateList, items: Sequence[Item]) -> Paraphrased:
    from gnomon.train.backtranslation import back_translated
    from gnomon.train.translation import translators

    there, back = translators(args.back_translate, sample=args.sample, seed=args.search_seed)
    return back_translated(listed, items, there, back, args.beams)


def _as_models(
    args: Namespace, source: ItemSource, model: ModelSpec, sifted: Sifted, form: str
) -> Candidates:
    """The candidates as wordings of a prompt file, which stands beside the folder of runs."""

    if len(sifted.candidates) == 1:
        raise UsageError(
            "There is one candidate, and so nothing to choose.",
            "Give several sentences or sets of answer words with --candidates FILE.",
        )
    folder = Path(args.runs).parent / "prompts"
    file = write_prompt(sifted.candidates, form, folder, source.benchmark.name)
    chosen = registry.model(model.spec, **{**model.options, "prompt": str(file)})
    told = f"{len(sifted.candidates)} candidates in {file}"
    if sifted.dropped:
        told += f"; dropped: {told_of_dropped(sifted.dropped)}"
    labels = [candidate.label for candidate in sifted.candidates]
    return Candidates(in_all_wordings(chosen), labels, told, sifted.dropped)
