"""Contrastive quads: two pictures of the same things and two captions, each true of one picture.

Relations come about as often as in VSR, and each contrast takes the pair of things that was used
least. Which caption and which picture comes first is balanced, too.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import islice
from random import Random
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import UsageError, unknown
from gnomon.jobs import Notice, Watch, do_jobs
from gnomon.keep import Keep
from gnomon.lexicon.relations import OpposedPair, lexicon
from gnomon.records import digest
from gnomon.scenes.contrasts import GRADES, contrasted, pairs_for, stages_for
from gnomon.scenes.drawing import EDITION, data_digest
from gnomon.scenes.layouts import ContrastOptions, Frames, Roles
from gnomon.scenes.relations import relations
from gnomon.scenes.scenes import Scene, to_json

MOST_QUADS = 2500
MOST_PAIRS = 10  # of things that are tried for one quad
MOST_ROUNDS = 4  # in which quads that were not found are replaced by others
LEAST_FOUND = 0.2  # share of a round; with fewer, further rounds would take too long,
FEW = 4  # but for rounds of so many quads
GROWTH = 3  # times what was laid out before is laid out next: whoever asks few waits for few


class WantedQuads(NamedTuple):
    """What quads are asked for; they follow from it."""

    seed: int
    quads: int
    frames: Frames
    relations: tuple[str, ...]  # empty for all
    grades: str
    dials: ContrastOptions


def wanted_by(
    *,
    seed: int,
    quads: int,
    frames: str,
    relations: str,
    grades: str,
    distractors: int,
    visible: float,
    least: float,
    distance: float,
    **_: object,
) -> WantedQuads:
    """What the options of the source ask for; those about the form of items have no say."""
    if frames not in get_args(Frames):
        raise unknown("choice of frames", frames, get_args(Frames))
    chosen: Frames = "probe" if frames == "probe" else "clear"
    names = [name.strip() for name in relations.split(",")]
    asked = tuple(name for name in names if name)
    dials = ContrastOptions(distractors, visible, least / 100, distance)
    return WantedQuads(seed, quads, chosen, asked, "".join(sorted(set(grades))), dials)


class Quad(msgspec.Struct, frozen=True):
    """Two captions and two pictures; `truths` says of which picture each caption is true."""

    id: str
    relations: tuple[str, str]  # of the captions, in their order
    subject: str  # the name of the thing
    ground: str
    subjects: tuple[str, ...]  # ids in the scenes, several for a group
    grounds: tuple[str, ...]
    scenes: tuple[Scene, Scene]
    swapped: bool  # the first caption is true of the second picture

    @property
    def roles(self) -> Roles:
        """The ids that the captions speak of."""
        return Roles(self.subjects, self.grounds)

    def is_true(self, caption: int, picture: int) -> bool:
        """Whether a caption is true of a picture, both 0 or 1."""
        return (caption == picture) != self.swapped


class _Job(msgspec.Struct, frozen=True):
    """One quad to be found: a contrast and pairs of things to try, in order."""

    seed: str
    contrast: OpposedPair
    pairs: tuple[tuple[str, str], ...]
    frames: Literal["clear", "probe"]
    dials: ContrastOptions
    flip: int  # 0 to 3: whether captions, and whether pictures, change places


def chosen_contrasts(wanted: WantedQuads) -> list[OpposedPair]:
    """The contrasts of which quads are made, or an error that says what there is."""
    words = lexicon()
    found = list(words.contrasts if wanted.frames == "clear" else words.probes)
    if not wanted.grades or set(wanted.grades) - set(GRADES):
        hint = f"Write one or more of the letters {''.join(GRADES)}."
        raise UsageError(f"'{wanted.grades}' are not grades of relations.", hint)
    found = [contrast for contrast in found if contrast.grade in wanted.grades]
    for name in wanted.relations:
        if name not in relations():
            raise unknown("relation", name[:60], relations())
        if not any(name in (each.first, each.second) for each in found):
            known = {each.first for each in found} | {each.second for each in found}
            raise UsageError(
                f"No quads are made of the relation '{name}' with these frames and grades.",
                f"Choose from: {', '.join(sorted(known))}.",
            )
    if not wanted.relations:
        return found
    asked = set(wanted.relations)
    return [contrast for contrast in found if asked & {contrast.first, contrast.second}]


def check(wanted: WantedQuads) -> None:
    """Raise an error for numbers that make no sense."""
    dials = wanted.dials
    if not 1 <= wanted.quads <= MOST_QUADS:
        hint = f"Ask for 1 to {MOST_QUADS:,}, or draw several sets with different seeds."
        raise UsageError(f"{wanted.quads:,} quads cannot be made.", hint)
    if not 0 <= dials.distractors <= 6:
        raise UsageError(f"{dials.distractors} distractors cannot be placed.", "Ask for 0 to 6.")
    if not 0 <= dials.visible <= 1:
        raise UsageError(f"The visible share cannot be {dials.visible}.", "Give 0 to 1.")
    if not 0 <= dials.least <= 0.2:
        raise UsageError(
            f"A thing cannot fill at least {100 * dials.least:g} % of the picture.",
            "Give 0 to 20 percent.",
        )
    if not 0.5 <= dials.distance <= 10:
        raise UsageError(f"The distance cannot be {dials.distance}.", "Give 0.5 to 10.")


@lru_cache(maxsize=4)
def make_quads(wanted: WantedQuads) -> tuple[Quad, ...]:
    """All quads: the same ones for the same wishes."""
    return tuple(quads_in_turn(wanted))


def quads_in_turn(wanted: WantedQuads) -> Iterator[Quad]:
    """The quads, laid out as they are taken. Fewer quads of the same wishes are the first ones.

    Those for which no scenes were found are replaced by later ones.
    """
    check(wanted)
    jobs = _jobs(wanted, chosen_contrasts(wanted))
    count = 0
    for _ in range(MOST_ROUNDS):
        missing = wanted.quads - count
        if not missing:
            return
        before = count
        for quad in _laid_out(list(islice(jobs, missing))):
            if quad is not None:
                count += 1
                yield quad
        if count - before < LEAST_FOUND * missing and missing > FEW:
            break
    if count < wanted.quads:
        raise UsageError(
            f"Only {count:,} of {wanted.quads:,} quads were found.",
            "Ask for fewer distractors, a smaller visible share or other relations.",
        )


def _laid_out(jobs: Sequence[Any]) -> Iterator[Quad | None]:
    """What each job gives, from the cache or laid out now: a few at first, then more at a time."""
    cache = Keep(cache_folder() / "scenes")
    about = digest(EDITION, data_digest())
    watch = Notice("Laying out scenes (once, then kept)")
    done = 0
    while done < len(jobs):
        batch = jobs[done : done + max(1, GROWTH * (done - 1))]
        keys = [digest(about, repr(job), digits=20) for job in batch]
        contents = [cache.read(key) for key in keys]
        new = [job for job, kept in zip(batch, contents, strict=True) if kept is None]
        found = do_jobs(find_quad, new, watch=_further(watch, done, len(jobs)))
        for key, kept in zip(keys, contents, strict=True):
            if kept is None:
                kept = msgspec.json.encode(next(found))
                cache.write(key, kept)
            yield msgspec.json.decode(kept, type=Quad | None)
        done += len(batch)


def _further(watch: Notice, before: int, total: int) -> Watch:
    """Tells how far all is of which some was done before."""
    return lambda done, _: watch(before + done, total)


def _jobs(wanted: WantedQuads, contrasts: Sequence[OpposedPair]) -> Iterator[Any]:
    """Jobs without end: contrasts by their shares, things that were used least first."""
    rng = Random(f"quads {wanted.seed}")
    used: Counter[str] = Counter()
    used_pairs: Counter[tuple[str, str]] = Counter()
    start = rng.randrange(4)
    for number, contrast in enumerate(_in_shares(rng, contrasts)):
        pairs = _least_used(rng, contrast, used, used_pairs)
        used.update(pairs[0])
        used_pairs[pairs[0]] += 1
        flip = (start + number) % 4
        seed = f"{wanted.seed}/{number}"
        job = _Job(seed, contrast, tuple(pairs), wanted.frames, wanted.dials, flip)
        yield msgspec.to_builtins(job)


def _in_shares(rng: Random, contrasts: Sequence[OpposedPair]) -> Iterator[OpposedPair]:
    """Contrasts without end, each evenly spread and as often as its share says."""
    due: list[tuple[float, int]] = []
    for number, contrast in enumerate(contrasts):
        heappush(due, (rng.random() / contrast.share, number))
    while True:
        when, number = heappop(due)
        yield contrasts[number]
        heappush(due, (when + 1 / contrasts[number].share, number))


def _least_used(
    rng: Random,
    contrast: OpposedPair,
    used: Counter[str],
    used_pairs: Counter[tuple[str, str]],
) -> list[tuple[str, str]]:
    pairs = list(pairs_for(contrast))
    if contrast.layout == "stacked":
        pairs = [pair for pair in pairs if stages_for(*pair)]
    rng.shuffle(pairs)
    pairs.sort(key=lambda pair: (used_pairs[pair], used[pair[0]] + used[pair[1]]))
    return pairs[:MOST_PAIRS]


def find_quad(task: Any) -> Any:
    """One quad for a job, or nothing: what a worker does."""
    job = msgspec.convert(task, _Job)
    rng = Random(f"quad {job.seed}")
    for subject, ground in job.pairs:
        found = contrasted(rng, job.contrast, subject, ground, job.dials, job.frames)
        if found is not None:
            return msgspec.to_builtins(_quad(job, subject, ground, found.scenes, found.roles))
    return None


def _quad(job: _Job, subject: str, ground: str, scenes: tuple[Scene, Scene], roles: Roles) -> Quad:
    captions = (job.contrast.first, job.contrast.second)
    turn_captions, turn_pictures = bool(job.flip & 1), bool(job.flip & 2)
    if turn_captions:
        captions = captions[1], captions[0]
    if turn_pictures:
        scenes = scenes[1], scenes[0]
    return Quad(
        id=digest(*captions, *map(to_json, scenes)),
        relations=captions,
        subject=subject,
        ground=ground,
        subjects=roles.subjects,
        grounds=roles.grounds,
        scenes=scenes,
        swapped=turn_captions != turn_pictures,
    )
