"""The atlas checked by other means: its headline figures, its false alarms, its clean parts.

    python bench/atlas.py figures DIR ATLAS     headline figures again, by scikit-learn
    python bench/atlas.py shuffled DIR 20       golds shuffled so often: pages with a leak alarm
    python bench/atlas.py parts ATLAS           the kept parts, asked by classifiers of other kinds

DIR holds the authors' files, ATLAS what `gnomon audit --atlas DIR -o ATLAS` wrote. `figures` reads
the files with Python's own modules and shares no code with the audit: naive Bayes of words and
pairs of words over groups held out. `parts` asks a support vector machine over characters and
gradient boosting, which the pruning does not use, about items that they never saw.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from msgspec import structs
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from gnomon.audit.atlas import LEAKS, sets_in
from gnomon.audit.auditing import audit
from gnomon.audit.sets import AuditSet
from gnomon.items.itemfiles import items_to_ask, options_of_file

FOLDS = 8
CLOSE = 0.01


class Blind(NamedTuple):
    """What one sees of each item, its label, and what belongs together."""

    set: str
    rule: str
    texts: list[str]
    labels: list[str]
    groups: list[str]


# The authors' files, read with Python's own modules.


def stories(file: Path) -> Iterator[tuple[str, str, str]]:
    """bAbI's form: numbered lines; a question has its answer after a tab. Story, question, gold."""
    told: list[str] = []
    for line in file.read_text().splitlines():
        number, _, rest = line.partition(" ")
        if number == "1":
            told = []
        question, *answer = rest.split("\t")
        if answer:
            yield " ".join(told), question.strip(), answer[0]
        else:
            told.append(rest)


def babi(file: Path, name: str) -> Blind:
    """The question alone, groups by story."""
    rows = list(stories(file))
    first = [story.partition(".")[0] + story[:200] for story, _, _ in rows]
    questions, golds = [row[1] for row in rows], [row[2] for row in rows]
    return Blind(name, "question", questions, golds, first)


def stepgame(file: Path) -> Blind:
    """The story alone."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [" ".join(row["story"]) for row in rows]
    return Blind("stepgame", "story", texts, [row["label"] for row in rows], texts)


def cosit(file: Path) -> Blind:
    """The whole text, whose words alone should say nothing."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [row["text"] for row in rows]
    return Blind("cosit-perspective", "text", texts, [row["label"] for row in rows], texts)


def right_by_words(one: Blind) -> float:
    """Naive Bayes over words and pairs of words, groups held out."""
    words = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"[A-Za-z0-9']+")
    model = make_pipeline(words, MultinomialNB(alpha=0.5))
    codes = np.unique(one.groups, return_inverse=True)[1]
    said = cross_val_predict(model, one.texts, one.labels, groups=codes, cv=GroupKFold(FOLDS))
    return float(np.mean(said == np.array(one.labels)))


def right_by_captions(file: Path) -> float:
    """Which of two captions is the foil, by its words: presence in the one minus in the other."""
    rows = list(json.loads(file.read_text()).values())
    words = CountVectorizer(binary=True, token_pattern=r"[A-Za-z0-9']+")
    both = [row["caption"] for row in rows] + [row["negative_caption"] for row in rows]
    counts = words.fit_transform(both)
    pictures = np.unique([row["filename"] for row in rows], return_inverse=True)[1]
    right = []
    for train, test in GroupKFold(FOLDS).split(rows, groups=pictures):
        seen = np.concatenate([train, train + len(rows)])
        label = np.repeat([1, 0], len(train))
        model = BernoulliNB(alpha=0.5).fit(counts[seen], label)
        true = model.predict_log_proba(counts[test])[:, 1]
        false = model.predict_log_proba(counts[test + len(rows)])[:, 1]
        right += ((true > false) + 0.5 * (true == false)).tolist()
    return float(np.mean(right))


def right_by_prior(file: Path) -> float:
    """Of the options, the one that is right most often where it is offered, in other rows."""
    rows = []
    for row in csv.DictReader(file.open(newline="")):
        _, _, options = row["query"].partition("Options:")
        texts = [part.strip() for part in re.split(r"\b[a-e]\. ", options)[1:]]
        rows.append((texts, texts["abcde".index(row["truth"].strip())]))
    fold = np.random.default_rng(0).integers(0, FOLDS, len(rows))
    credit = []
    for held in range(FOLDS):
        offered: dict[str, float] = {}
        right: dict[str, float] = {}
        for (texts, gold), mine in zip(rows, fold, strict=True):
            if mine == held:
                continue
            right[gold] = right.get(gold, 0) + 1
            for text in texts:
                offered[text] = offered.get(text, 0) + 1
        for (texts, gold), mine in zip(rows, fold, strict=True):
            if mine == held:
                rates = [(right.get(text, 0) + 0.25) / (offered.get(text, 0) + 1) for text in texts]
                best = [text for text, rate in zip(texts, rates, strict=True) if rate == max(rates)]
                credit.append((gold in best) / len(best))
    return float(np.mean(credit))


def figures(data: Path, atlas: Path) -> None:
    """The headline figures beside those of the atlas."""
    told = {entry["name"]: entry for entry in json.loads((atlas / "atlas.json").read_text())}
    mine = {
        ("babi17", "question"): right_by_words(babi(data / "babi17.txt", "babi17")),
        ("babi18", "question"): right_by_words(babi(data / "babi18.txt", "babi18")),
        ("stepgame", "story"): right_by_words(stepgame(data / "stepgame_valid.jsonl")),
        ("cosit-perspective", "text"): right_by_words(cosit(data / "cosit_cp5.txt")),
        ("sugarcrepe-relations", "words of the choices"): right_by_captions(
            data / "sugar_rel.json"
        ),
        ("sib-radio", "labels"): right_by_prior(data / "sib_radio.csv"),
    }
    for (name, part), value in mine.items():
        entry = told.get(name)
        rules = entry["blind"] if entry else []
        theirs = [rule for rule in rules if part in rule["rule"]]
        shown = f"{100 * theirs[0]['value']:.1f} ({theirs[0]['rule']})" if theirs else "not there"
        apart = abs(theirs[0]["value"] - value) if theirs else float("nan")
        mark = "" if apart <= CLOSE else "  APART"
        print(f"{name:<22} {part:<22} again {100 * value:.1f}, atlas {shown}{mark}", flush=True)


def shuffled(data: Path, times: int) -> None:
    """How many pages have a leak alarm once golds are drawn at random among the choices."""
    pages = alarmed = 0
    for one in sets_in(data, own=False):
        audited = one.open()
        mine = 0
        for number in range(times):
            report = audit(_with_drawn_golds(audited, number), LEAKS)
            mine += bool(report.alarms)
        pages += times
        alarmed += mine
        print(f"{one.name:<28} {mine} of {times}", flush=True)
    print(f"in all {alarmed} of {pages} pages ({100 * alarmed / max(pages, 1):.2f} %)")


def _with_drawn_golds(audited: AuditSet, seed: int) -> AuditSet:
    draw = Random(seed)
    questions = []
    for question in audited.questions:
        item = question.item
        if len(item.choices) > 1:
            item = structs.replace(item, gold=(draw.choice(item.choices),))
        questions.append(question._replace(item=item))
    return replace(audited, questions=questions)


def parts(atlas: Path) -> None:
    """Classifiers of other kinds on the kept parts: right, with twice the standard error."""
    for entry in json.loads((atlas / "atlas.json").read_text()):
        file = atlas / f"{entry['name'].replace('@', '-')}.jsonl"
        if (entry["kept"] or 0) < 500 or not file.is_file():
            continue
        items = [item for item in items_to_ask(**options_of_file(file, {})) if item.gold]
        offers = {item.choices for item in items}
        if len({frozenset(offer) for offer in offers}) > 1:
            print(f"{entry['name']:<28} options differ from item to item: not asked")
            continue
        texts = [f"{item.context} {item.text}" for item in items]
        labels = [item.gold[0] for item in items]
        groups = np.unique(
            [item.group or item.context or item.id for item in items], return_inverse=True
        )[1]
        chance = 1 / len(items[0].choices)
        shown = []
        vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=20_000)
        dense = TfidfVectorizer(max_features=200)
        boosted = HistGradientBoostingClassifier(max_iter=60)
        folds = list(GroupKFold(5).split(texts, groups=groups))
        for model, features in ((LinearSVC(), vectors), (boosted, dense)):
            right = []
            for train, test in folds:
                seen = features.fit_transform([texts[row] for row in train])
                asked = features.transform([texts[row] for row in test])
                if model is boosted:
                    seen, asked = seen.toarray(), asked.toarray()
                model.fit(seen, [labels[row] for row in train])
                right += (model.predict(asked) == np.array([labels[row] for row in test])).tolist()
            error = 2 * np.std(right) / np.sqrt(len(right))
            shown.append(f"{100 * np.mean(right):.1f} (± {100 * error:.1f})")
        print(
            f"{entry['name']:<28} {len(items):,} items, guess {100 * chance:.1f}: {', '.join(shown)}"
        )


def main() -> None:
    """One of the three checks."""
    what, *given = sys.argv[1:]
    if what == "figures":
        figures(Path(given[0]), Path(given[1]))
    elif what == "shuffled":
        shuffled(Path(given[0]), int(given[1]))
    else:
        parts(Path(given[0]))


if __name__ == "__main__":
    main()
