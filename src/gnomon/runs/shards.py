"""May these shards be made into one run? Only if nothing but their items tells them apart."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import GnomonError, RunError
from gnomon.items.limits import Shard, parse_shard
from gnomon.runs.manifest import Manifest, changed_keys, determining
from gnomon.runs.reading import Run

LONGEST = 60  # characters of a value in a message
ONE_RUN = "Merge shards of one `gnomon run` command, made with the same versions."


class Parts(NamedTuple):
    """The shards of one run, in order."""

    runs: tuple[Run, ...]
    shards: tuple[Shard, ...]

    @property
    def of(self) -> int:
        """How many shards make the whole run."""
        return self.shards[0].of

    @property
    def complete(self) -> bool:
        """Whether all items are here: of more shards than items, some are empty and no runs."""
        if len(self.shards) == self.of:
            return True
        items = sum(run.counts().items for run in self.runs)
        return items == self.runs[0].manifest.whole_items

    @property
    def numbers(self) -> str:
        """Which of them are here, in short.

        >>> Parts((), (Shard(1, 8), Shard(2, 8), Shard(3, 8), Shard(6, 8))).numbers
        '1-3,6'
        """
        return _ranges(_stretches([shard.number for shard in self.shards]))


def check_can_be_merged(runs: Sequence[Run], *, incomplete: bool = False) -> Parts:
    """The shards in order, if they are shards of one run, none is missing and none there twice."""
    if not runs:
        raise RunError("There is nothing to merge.", "Name the folders of shards.")
    numbered: dict[Shard, Run] = {}
    first = runs[0]
    for run in runs:
        shard = _shard_of(run)
        _check_same_run(first, run)
        if shard in numbered:
            raise RunError(
                f"{numbered[shard].path} and {run.path} are both shard {shard}.",
                "Give one of them.",
            )
        numbered[shard] = run
    ordered = sorted(numbered)
    parts = Parts(tuple(numbered[shard] for shard in ordered), tuple(ordered))
    if not parts.complete and not incomplete:
        raise _lacking(parts)
    return parts


def _shard_of(run: Run) -> Shard:
    label = run.manifest.shard
    if not label:
        raise RunError(
            f"{run.path} is a whole run, not a shard.",
            "Shards are made by `gnomon run ... --shard I/N`.",
        )
    if re.fullmatch(r"[0-9,-]*[,-][0-9,-]*/[0-9]+", label):
        raise RunError(
            f"{run.path} is itself made of the shards {label}.",
            "Merge the shards that it was made of, together with the others.",
        )
    try:
        shard = parse_shard(label)
    except GnomonError:
        raise _nonsense(run, f"shard '{_short(label)}'") from None
    name = run.manifest.shard_of
    if not name or name != Path(name).name:  # it becomes a folder's name
        raise _nonsense(run, f"a shard of '{_short(name)}'")
    return shard


def _nonsense(run: Run, said: str) -> RunError:
    return RunError(
        f"{run.path} says that it is {said}, which cannot be.",
        "Restore its run.json from a copy, or ask the shard again with --restart.",
    )


def _check_same_run(first: Run, other: Run) -> None:
    """Refuse two runs that differ in anything that has a say in the answers."""
    different = _differences(first.manifest, other.manifest)
    if different:
        raise RunError(
            f"{first.path} and {other.path} are not shards of one run. They differ in "
            f"{'; and in '.join(different)}.",
            ONE_RUN,
        )


def _differences(one: Manifest, two: Manifest) -> list[str]:
    """In what two manifests differ, in words."""
    found = []
    other = _must_be_same(two)
    for name, mine in _must_be_same(one).items():
        theirs = other[name]
        if mine == theirs:
            continue
        if isinstance(mine, dict):
            found.append(f"{name}: {_differing_keys(mine, theirs)}")
        else:
            found.append(f"{name}: {_short(mine)} and {_short(theirs)}")
    if not found and one.shard_of != two.shard_of:
        found.append(f"model options: {_differing_keys(one.model_options, two.model_options)}")
    return found


def _must_be_same(manifest: Manifest) -> dict[str, Any]:
    """What all shards of a run share, by the words for it."""
    digest = manifest.whole_sha256[:12]
    return {
        "the number of shards": manifest.shard.rpartition("/")[2],
        "the benchmark": manifest.benchmark,
        "options of the benchmark": manifest.options,
        "the limit": manifest.limit,
        "the order of choices (--permute)": manifest.permute,
        "showing pictures (--blind)": manifest.blind,
        "the model": manifest.model,
        "what the model says of itself": determining(manifest.model_description),
        "files of the model": manifest.model_files or {},
        "the scale of scores": manifest.scale,
        "versions": manifest.versions,
        "the items of the whole run": f"{manifest.whole_items:,} with the digest {digest}",
    }


def _differing_keys(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The entries in which two mappings differ, with both values."""
    parts = []
    for key in changed_keys(mine, theirs):
        parts.append(f"{key} {_short(mine.get(key))} and {_short(theirs.get(key))}")
    return ", ".join(parts) or "a password or key"


def _short(value: Any) -> str:
    """A value in a few characters."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _lacking(parts: Parts) -> RunError:
    missing = _ranges(_gaps([shard.number for shard in parts.shards], parts.of))
    several = not missing.isdigit()
    which = f"shards {_short(missing)} are" if several else f"shard {missing} is"
    return RunError(
        f"Of {parts.of:,} shards, {which} missing.",
        "Name all of them, or merge what there is with --incomplete: the new run says which shards "
        "it holds.",
    )


def _gaps(numbers: Sequence[int], last: int) -> list[range]:
    """The stretches from 1 to `last` that increasing numbers leave out."""
    found = []
    before = 0
    for number in [*numbers, last + 1]:
        if number > before + 1:
            found.append(range(before + 1, number))
        before = number
    return found


def _stretches(numbers: Sequence[int]) -> list[range]:
    """Increasing numbers as stretches without gaps."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def _ranges(stretches: Sequence[range]) -> str:
    """Stretches in short: 1-3,6."""
    parts = []
    for each in stretches:
        parts.append(f"{each[0]}-{each[-1]}" if len(each) > 1 else str(each[0]))
    return ",".join(parts)
