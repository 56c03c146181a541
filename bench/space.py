"""Scenes: cost of a picture, laws on random scenes, and whether pixels say what geometry says.

    python bench/space.py                  # all of it, about 6 minutes of one core
    python bench/space.py --scenes 40      # quicker
    python bench/space.py --items 1000     # only: what so many items with pictures cost
    python bench/space.py --baselines 300  # only: what rules without sight get on so many quads
    python bench/space.py --shortcuts 150  # only: relation words by sizes, so many quads of two seeds

Limits: 512 x 512 pixels with ten things in 2.5 s of CPU and 250 MB; no law broken on 10,000 scenes; at
least 99 % of clear truths agree with masks and depth; the same pixels without vector instructions;
1,000 items with pictures in 13 minutes of CPU; every baseline within its interval of 50 %; words by
sizes within 3 points of 50 %, and within 5 or their interval for every category.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from functools import cache, partial
from pathlib import Path

import numpy as np

from gnomon.scenes.bodies import body_named
from gnomon.scenes.pictures import draw, survey
from gnomon.scenes.placing import SceneOptions, random_scene
from gnomon.scenes.relations import facts
from gnomon.scenes.solids import camera_of

LIMIT_SECONDS, LIMIT_MB, LIMIT_AGREEMENT = 1.0, 200, 0.99
LIMIT_ALL, LIMIT_CATEGORY = 3.0, 5.0  # points off chance
LIMIT_ITEMS_SECONDS = 780.0  # of CPU, for 1,000 items with pictures
FOLDS = 5
SMALL = 48  # pixels of the pictures that baselines look at
WORLDS = Path(__file__).parent.parent / "tests" / "scenes" / "conftest.py"
CHECKED = ("left of", "right of", "in front of", "behind", "above", "below", "on", "in", "touching")


@cache
def worlds():
    """What the tests of scenes have: scenes that are not plausible but full of relations, and laws."""
    spec = importlib.util.spec_from_file_location("worlds", WORLDS)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def draw_scene(seed):
    return worlds().draw_scene(seed)


def picture_cost(count=5):
    scenes = [random_scene(seed, SceneOptions(things=10)) for seed in range(count)]
    draw(scenes[0], 64)
    worst = 0.0
    for scene in scenes:
        start = time.process_time()
        draw(scene, 512)
        worst = max(worst, time.process_time() - start)
    return worst, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def laws_broken(count):
    return sum(bool(worlds().laws_broken_by(draw_scene(seed), "a", "b")) for seed in range(count))


def agrees(scene, fact, seen):
    """Whether masks and depth say what a clear truth says; none if they cannot tell."""
    first, second = body_named(scene, fact.subject), body_named(scene, fact.ground)
    numbers = {placed.id: n for n, placed in enumerate(scene.things, start=1)}
    a, b = seen.mask == numbers[fact.subject], seen.mask == numbers[fact.ground]
    if a.sum() < 60 or b.sum() < 60:
        return None
    column_a, column_b = np.nonzero(a)[1].mean(), np.nonzero(b)[1].mean()
    row_a = np.nonzero(a)[0].mean()
    points_a, points_b = _points(scene, seen, a), _points(scene, seen, b)
    ahead = np.array(scene.viewer.at[:2]) - scene.viewer.eye[:2]
    depth_a, depth_b = np.median(points_a[:, :2] @ ahead), np.median(points_b[:, :2] @ ahead)
    if fact.relation == "left of":
        return column_a < column_b
    if fact.relation == "right of":
        return column_a > column_b
    if fact.relation == "in front of":
        return depth_a < depth_b
    if fact.relation == "behind":
        return depth_a > depth_b
    if fact.relation in ("above", "below", "on"):
        if min(seen.visible[fact.subject], seen.visible[fact.ground]) < 0.4:
            return None  # the feet of one of them may be hidden
        feet_a, feet_b = np.quantile(points_a[:, 2], 0.02), np.quantile(points_b[:, 2], 0.02)
        return bool(feet_a > feet_b) == (fact.relation != "below")
    near = _beside(a, b)
    if fact.relation == "in":
        left, _, right, bottom = seen.boxes[fact.ground]
        inside = left - 2 <= column_a <= right + 2 and row_a <= bottom + 2
        return near and inside and first.diagonal <= second.diagonal
    return near


def _points(scene, seen, mask):
    """The points of a mask in the scene, from depth alone."""
    camera = camera_of(scene.viewer)
    size = seen.depth.shape[0]
    rows, columns = np.nonzero(mask)
    x = ((columns + 0.5) / size * 2 - 1) * camera.half_width
    y = -((rows + 0.5) / size * 2 - 1) * camera.half_width
    ways = camera.forward + x[:, None] * camera.right + y[:, None] * camera.up
    return camera.eye + ways * seen.depth[rows, columns][:, None]


def _beside(a, b):
    """Whether two masks come within two pixels of one another."""
    grown = a.copy()
    for _ in range(2):
        wider = grown.copy()
        wider[1:] |= grown[:-1]
        wider[:-1] |= grown[1:]
        wider[:, 1:] |= grown[:, :-1]
        wider[:, :-1] |= grown[:, 1:]
        grown = wider
    return bool((grown & b).any())


def agreement(count):
    right = total = 0
    misses = []
    for seed in range(count):
        scene = random_scene(seed)
        seen = survey(scene)
        ids = [placed.id for placed in scene.things]
        for subject in ids:
            for ground in ids:
                if subject == ground:
                    continue
                for fact in facts(scene, subject, ground, frame="viewer", only=CHECKED).values():
                    verdict = agrees(scene, fact, seen) if fact.truth else None
                    if verdict is None:
                        continue
                    total += 1
                    right += bool(verdict)
                    if not verdict:
                        misses.append((seed, fact.sentence()))
    return right, total, misses


def digest(seed=1):
    picture = draw(random_scene(seed), 128)
    parts = (picture.rgb, picture.survey.mask, picture.survey.depth)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def digests():
    """Digests of the same pixels, with the machine's vector instructions and without."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    present = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    found = []
    for disabled in ("", " ".join(present)):
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled}
        command = [sys.executable, __file__, "--digest"]
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        found.append(run.stdout.strip())
    return found


def items_cost(count):
    """CPU seconds and memory of making so many items with pictures, in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GNOMON_CACHE": folder}
        command = [sys.executable, "-m", "gnomon", "make", "vsr@fresh", "--seed", "1", "--quiet"]
        command += ["--set", f"quads={count // 4}", "-o", f"{folder}/made"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        pictures = len(list(Path(folder, "made", "pictures").glob("*.png")))
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    seconds = user + system
    result = {
        "items": count,
        "pictures": pictures,
        "cpu_seconds": round(seconds, 1),
        "megabytes_of_the_largest_process": round(after.ru_maxrss / 1024),
    }
    return result, seconds <= LIMIT_ITEMS_SECONDS * count / 1000


def baselines(count, seed=1):
    """Accuracy of rules that lack the caption, the picture or both, with 95 % intervals by quad."""
    import gnomon
    from gnomon.benchmarks.vsr.quads import WantedQuads, make_quads
    from gnomon.scenes.layouts import ContrastOptions as QuadDials
    from gnomon.scenes.pictures import paint

    items = list(gnomon.load("vsr@fresh", seed=seed, quads=count).without_pictures())
    quads = make_quads(WantedQuads(seed, count, "clear", (), "ab", QuadDials()))
    pixels, places, sizes = {}, {}, {}
    for quad in quads:
        for number, scene in enumerate(quad.scenes, start=1):
            key = quad.id, number
            small = paint(scene, SMALL).astype(float) / 255
            blocks = small.reshape(12, SMALL // 12, 12, SMALL // 12, 3).mean(axis=(1, 3))
            pixels[key] = np.concatenate([blocks.ravel(), small.mean(axis=(0, 1))])
            places[key], sizes[key] = boxes_of(scene, quad)
    pictures = [(item.group, int(item.id[-1])) for item in items]
    words = [item.text.lower().rstrip(".").split() for item in items]
    pairs = [[item.tags["subj"], "of " + item.tags["obj"]] for item in items]
    truths = np.array([item.gold == ("true",) for item in items])
    groups = np.array([item.group for item in items])
    features = {
        "caption only": one_hot(words),
        "picture only": np.array([pixels[key] for key in pictures]),
        "pair only": one_hot(pairs),
        "position in the picture": np.array([places[key] for key in pictures]),
        "size of the boxes": np.array([sizes[key] for key in pictures]),
    }
    guesses = {name: learnt(matrix, truths, groups) for name, matrix in features.items()}
    found = looked_up([item.text for item in items], truths, groups)
    guesses |= {"lookup": found, "flipped lookup": ~found}
    rows = {}
    for name, guess in guesses.items():
        rows[name] = by_quad(guess == truths, groups)
    good = all(low <= 50.0 <= high for _, low, high in rows.values())
    return {"quads": count, "items": len(items), "accuracy_low_high": rows}, good


def boxes_of(scene, quad):
    """Middles and sizes of the boxes of subject and ground, as shares of the picture.

    Sizes have also the areas, their sum and how they compare, the box around a whole group, the box
    around all things, and the share of the picture that all things fill.
    """
    seen = survey(scene, 96)
    places, sizes, groups = [], [], []
    for ids in (quad.subjects, quad.grounds):
        left, top, right, bottom = np.array(seen.boxes[ids[0]]) / 96
        places += [(left + right) / 2, (top + bottom) / 2]
        sizes += [right - left, bottom - top, (right - left) * (bottom - top)]
        groups += sides_of([seen.boxes[id] for id in ids])
    sizes += [sizes[2] + sizes[5], sizes[2] / sizes[5]]
    sizes += [*groups, *sides_of(seen.boxes.values()), (seen.mask > 0).mean()]
    return places, list(np.log(sizes))


def sides_of(boxes):
    """Width and height of the box around some boxes, as shares of the picture."""
    every = np.array([box for box in boxes if box]) / 96
    return list(every[:, 2:].max(axis=0) - every[:, :2].min(axis=0))


def with_words(words, matrix):
    """The relation's word by each feature, which a rule may read otherwise for every word."""
    scaled = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    products = [words * scaled[:, [column]] for column in range(scaled.shape[1])]
    return np.concatenate([words, *products], axis=1)


def shortcuts(count, seeds=(1, 2)):
    """What relation words by sizes of boxes give away: so many quads of each seed, by category.

    Three rules, folds by quad: a logistic regression, trees, and one threshold for each word.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    from gnomon.benchmarks.vsr.files import category
    from gnomon.benchmarks.vsr.fresh import fresh
    from gnomon.benchmarks.vsr.quads import WantedQuads, make_quads
    from gnomon.scenes.layouts import ContrastOptions

    boxes, items = {}, []
    for seed in seeds:
        for quad in make_quads(WantedQuads(seed, count, "clear", (), "ab", ContrastOptions())):
            for number, scene in enumerate(quad.scenes, start=1):
                boxes[quad.id, number] = boxes_of(scene, quad)
        items += fresh(seed=seed, quads=count)
    sizes = np.array([boxes[item.group, int(item.id[-1])][1] for item in items])
    words = one_hot([[item.tags["relation"]] for item in items])
    truths = np.array([item.gold == ("true",) for item in items])
    groups = np.array([item.group for item in items])
    categories = np.array([category(item.tags["relation"]) for item in items])
    crossed, plain = with_words(words, sizes), np.concatenate([words, sizes], axis=1)
    trees = ExtraTreesClassifier(200, min_samples_leaf=3, random_state=0)
    guesses = {
        "logistic regression": learnt(
            crossed, truths, groups, LogisticRegression(C=0.1, max_iter=500)
        ),
        "trees": learnt(plain, truths, groups, trees),
        "threshold for each word": one_threshold(words, sizes, truths, groups),
    }
    rows, good = {}, True
    for name, guess in guesses.items():
        right = guess == truths
        rows[name] = {"all": by_quad(right, groups)}
        good &= abs(rows[name]["all"][0] - 50) <= LIMIT_ALL
        for each in sorted(set(categories)):
            chosen = categories == each
            mean, low, high = rows[name][each] = by_quad(right[chosen], groups[chosen])
            good &= abs(mean - 50) <= LIMIT_CATEGORY or low <= 50 <= high
    return {"seeds": list(seeds), "items": len(items), "accuracy_low_high": rows}, bool(good)


def one_threshold(words, sizes, truths, groups):
    """For each word the size and threshold that are best on the other folds."""
    from sklearn.tree import DecisionTreeClassifier

    folds = folds_of(groups)
    guess = np.ones(len(truths), dtype=bool)
    for fold in range(FOLDS):
        for word in range(words.shape[1]):
            known = (folds != fold) & (words[:, word] == 1)
            asked = (folds == fold) & (words[:, word] == 1)
            if known.any() and asked.any():
                rule = DecisionTreeClassifier(max_depth=1).fit(sizes[known], truths[known])
                guess[asked] = rule.predict(sizes[asked])
    return guess


def one_hot(rows):
    known = sorted({word for row in rows for word in row})
    place = {word: number for number, word in enumerate(known)}
    matrix = np.zeros((len(rows), len(known)))
    for number, row in enumerate(rows):
        matrix[number, [place[word] for word in row]] = 1
    return matrix


def folds_of(groups):
    """A fold for each item; those of a quad share it."""
    order = {group: number % FOLDS for number, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] for group in groups])


def learnt(matrix, truths, groups, rule=None):
    """What a rule says that was trained on the other folds; a logistic regression by default."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = folds_of(groups)
    guess = np.zeros(len(truths), dtype=bool)
    for fold in range(FOLDS):
        if rule is None:
            rule = LogisticRegression(C=0.1, max_iter=500)
        model = make_pipeline(StandardScaler(), rule)
        model.fit(matrix[folds != fold], truths[folds != fold])
        guess[folds == fold] = model.predict(matrix[folds == fold])
    return guess


def looked_up(texts, truths, groups):
    """The label that the same caption has most often in the other folds; else true."""
    folds = folds_of(groups)
    seen = defaultdict(Counter)
    for text, truth, fold in zip(texts, truths, folds, strict=True):
        for other in range(FOLDS):
            if other != fold:
                seen[text, other][bool(truth)] += 1
    guess = []
    for text, fold in zip(texts, folds, strict=True):
        counts = seen[text, fold]
        guess.append(counts[True] >= counts[False])
    return np.array(guess)


def by_quad(right, groups):
    """Percent right with a 95 % interval over quads."""
    _, number = np.unique(groups, return_inverse=True)
    shares = np.bincount(number, weights=right) / np.bincount(number)
    half = 1.96 * shares.std(ddof=1) / len(shares) ** 0.5
    mean = shares.mean()
    return [round(100 * value, 1) for value in (mean, mean - half, mean + half)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=400)
    parser.add_argument("--laws", type=int, default=10_000)
    parser.add_argument("--digest", action="store_true", help="print the digest of one picture")
    parser.add_argument("--items", type=int, help="only measure the cost of so many items")
    parser.add_argument("--baselines", type=int, help="only ask baselines about so many quads")
    parser.add_argument("--shortcuts", type=int, help="only words by sizes, so many quads a seed")
    parser.add_argument("--seed", type=int, default=1, help="the first seed of --shortcuts")
    args = parser.parse_args()
    if args.digest:
        print(digest())
        return 0
    both_seeds = partial(shortcuts, seeds=(args.seed, args.seed + 1))
    chosen = ((args.items, items_cost), (args.baselines, baselines), (args.shortcuts, both_seeds))
    if any(count for count, _ in chosen):
        good = True
        for count, measured in chosen:
            if count:
                result, within = measured(count)
                print(json.dumps(result, indent=2))
                good &= within
        return 0 if good else 1
    seconds, megabytes = picture_cost()
    same = len(set(digests())) == 1
    broken = laws_broken(args.laws)
    right, total, misses = agreement(args.scenes)
    result = {
        "seconds_of_worst_picture": round(seconds, 3),
        "megabytes": round(megabytes),
        "same_pixels_without_vector_instructions": same,
        "scenes_with_broken_laws": broken,
        "clear_truths": total,
        "confirmed_by_pixels": right,
        "misses": misses[:20],
    }
    print(json.dumps(result, indent=2))
    good = seconds <= LIMIT_SECONDS and megabytes <= LIMIT_MB and same and not broken
    return 0 if good and right >= LIMIT_AGREEMENT * total else 1


if __name__ == "__main__":
    sys.exit(main())
