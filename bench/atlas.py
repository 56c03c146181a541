"""The atlas checked by other means: its headline figures, its false alarms, its clean parts.

    python bench/atlas.py figures DIR ATLAS     headline figures again, by scikit-learn
    python bench/atlas.py shuffled DIR 20       golds drawn at random: pages with a leak alarm
    python bench/atlas.py parts ATLAS           kept parts, asked by classifiers of other kinds
    python bench/atlas.py blink blink.jsonl.gz  how far apart BLINK's models must be to differ

DIR holds the authors' files, ATLAS what `gnomon audit --atlas DIR -o ATLAS` wrote. `figures` first
reads five files with Python's own modules, then recomputes the best blind rule of every set from the
items that Gnomon reads: words, rates and folds are its own, and it shares no code with the checks.
`shuffled` takes at most 1,000 items of a set. `parts` asks a support vector machine over
characters, gradient boosting, and MiniLM finetuned (with GNOMON_MINILM set to its folder), none of
which the pruning uses, about groups that they never saw; at most 4,000 items of a part.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from gnomon.audit.atlas import LEAKS, sets_in
from gnomon.audit.auditing import audit
from gnomon.audit.sets import AuditSet
from gnomon.errors import DataError
from gnomon.items.itemfiles import items_to_ask, options_of_file
from gnomon.records import Item

FOLDS = 8
CLOSE = 0.01
DRAWS, FEW = 8, 3_000
MOST_SHUFFLED = 1_000
LEAST = 500  # kept items of a set whose part is asked
MOST_ASKED = 4_000
MOST_TAUGHT, EPOCHS, BATCH = 600, 3, 16  # of MiniLM
Learner = Callable[[list[str], list[int], list[str], int], np.ndarray]  # gives scores of labels


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


# The best rule of every set, from its items.


class Rows(NamedTuple):
    """Items with a right answer, what belongs together, and what they are for."""

    items: list[Item]
    texts: dict[str, list[str]]  # by field
    kin: list[tuple[str, ...]]
    splits: list[str]


def rows_of(audited: AuditSet) -> Rows:
    """What is needed of a set."""
    kept = [n for n, one in enumerate(audited.questions) if set(one.gold) & set(one.choices)]
    mine = [audited.questions[n] for n in kept]
    texts: dict[str, list[str]] = {}
    for place, field in enumerate(audited.fields):
        texts[field] = [one.texts[place] for one in mine]
    texts["all words"] = [" ".join(one.texts) for one in mine]
    for place, thing in enumerate(("first thing", "second thing")):
        texts[thing] = [one.things[place] if one.things else "" for one in mine]
    kin = [audited.kin[n] for n in kept]
    return Rows([one.item for one in mine], texts, kin, [one.split for one in mine])


def again(rule: str, rows: Rows) -> float | None:
    """What a rule of the atlas gets, computed anew; none for a rule that is not known here."""
    check, _, part = rule.partition(": ")
    if check == "constants":
        return by_constant(part, rows)
    if check == "priors" and part == "labels":
        return by_rates(rows)
    if check == "flipped lookup":
        return by_flipping(part, rows)
    if check != "partial input":
        return None
    if part == "words of the choices":
        return by_words_of_choices(rows)
    name, _, way = part.rpartition(", ")
    vectors = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"[\w']+")
    if name.startswith("places of words in the "):
        name = name.removeprefix("places of words in the ")
        vectors = CountVectorizer(analyzer=placed, binary=True)
    if name not in rows.texts:
        return None
    return by_bayes(vectors.fit_transform(rows.texts[name]).tocsr(), way, rows)


def placed(text: str) -> list[str]:
    """Words with their places from the beginning, and from the end."""
    words = re.findall(r"[\w']+", text.lower())
    return [*map("{} {}".format, range(8), words), *map("-{} {}".format, range(3), words[::-1])]


def by_constant(part: str, rows: Rows) -> float | None:
    """Always the same label, or the same place; none where sets of options are right."""
    if part == "sets":
        return None
    label, _, among = part.partition("' among ")
    offer = set(among.split(", ")) if among else None
    right = []
    for item in rows.items:
        if offer and set(item.choices) != offer:
            continue
        if part.startswith("choice "):
            place = int(part.removeprefix("choice ")) - 1
            right.append(item.choices[place] in item.gold)
        else:
            right.append(label.strip("'") in item.gold)
    return float(np.mean(right))


def folds_of(rows: Rows, way: str, seed: int) -> list[frozenset[int]]:
    """The folds in which what belongs to each row lies."""
    draw = Random(seed)
    if way == "at random":
        return [frozenset({draw.randrange(FOLDS)}) for _ in rows.items]
    known: dict[str, int] = {}
    found = []
    for mine in rows.kin:
        for unit in mine:
            if unit not in known:
                known[unit] = len(known)
        found.append(mine)
    order = list(range(len(known)))
    draw.shuffle(order)
    return [frozenset(order[known[unit]] % FOLDS for unit in mine) for mine in found]


def parts_of_rows(rows: Rows, way: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to ask."""
    if way == "by split":
        split = np.array([name.lower() for name in rows.splits])
        yield np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        return
    draws = DRAWS if len(rows.items) < FEW else 1  # of few items the folds matter
    for seed in range(draws):
        yield from _parts_of_folds(folds_of(rows, way, seed))


def _parts_of_folds(folds: list[frozenset[int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for block in set(folds):
        asked = [row for row, mine in enumerate(folds) if mine == block]
        train = [row for row, mine in enumerate(folds) if not mine & block]
        if train:
            yield np.array(train), np.array(asked)


def by_bayes(signs: Any, way: str, rows: Rows) -> float:
    """Each label by how much more often than elsewhere it is right beside each word or pair."""
    labels = sorted({choice for item in rows.items for choice in item.choices})
    gold = np.array([[label in item.gold for label in labels] for item in rows.items], float)
    gold /= gold.sum(axis=1, keepdims=True)
    offered = np.array([[label in item.choices for label in labels] for item in rows.items])
    credit: list[float] = []
    for train, asked in parts_of_rows(rows, way):
        rate = (gold[train].sum(axis=0) + 0.25) / (offered[train].sum(axis=0) + 1)
        beside = signs[train].T @ gold[train]
        there = signs[train].T @ offered[train].astype(float)
        weight = np.log((beside + rate) / (there + 1)) - np.log(rate)
        score = np.where(offered[asked], signs[asked] @ weight + np.log(rate), -np.inf)
        credit += credits_of(score, gold[asked] > 0)
    return float(np.mean(credit))


def credits_of(score: np.ndarray, right: np.ndarray) -> list[float]:
    """Of the best choices the share that is right."""
    best = np.isclose(score, score.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
    return ((best & right).sum(axis=1) / best.sum(axis=1)).tolist()


def by_rates(rows: Rows) -> float:
    """Of the labels offered, the one that is right most often where it is offered."""
    nothing = csr_matrix((len(rows.items), 1))
    way = "by group" if len(set(rows.kin)) < len(rows.items) else "at random"
    return by_bayes(nothing, way, rows)


def by_words_of_choices(rows: Rows) -> float:
    """The choice whose words are right most often, groups held out."""
    vectors = CountVectorizer(binary=True, token_pattern=r"[\w']+")
    vectors.fit([choice for item in rows.items for choice in item.choices])
    credit = []
    for train, asked in parts_of_rows(rows, "by group"):
        seen = [rows.items[row] for row in train]
        labels = [choice in item.gold for item in seen for choice in item.choices]
        texts = [choice for item in seen for choice in item.choices]
        model = BernoulliNB(alpha=0.5, fit_prior=False).fit(vectors.transform(texts), labels)
        for row in asked:
            item = rows.items[row]
            score = model.predict_log_proba(vectors.transform(item.choices))[:, 1]
            right = np.array([[choice in item.gold for choice in item.choices]])
            credit += credits_of(score[None], right)
    return float(np.mean(credit))


def by_flipping(part: str, rows: Rows) -> float:
    """Any other label than the same text has in the parts that are looked up; else a guess."""
    field, _, learnt = part.partition(" in ")
    parts = learnt.split(" and ")
    known: dict[str, Counter[str]] = {}
    keys = rows.texts.get(field, [])
    for item, key, split in zip(rows.items, keys, rows.splits, strict=True):
        if split in parts:
            known.setdefault(key, Counter()).update(item.gold)
    credit = []
    for item, key, split in zip(rows.items, keys, rows.splits, strict=True):
        if split != "test":
            continue
        counts = known.get(key, Counter())
        least = min(counts[choice] for choice in item.choices)
        others = {choice for choice in item.choices if counts[choice] == least}
        credit.append(len(others & set(item.gold)) / len(others))
    return float(np.mean(credit))


def figures(data: Path, atlas: Path) -> None:
    """The headline figures beside those of the atlas."""
    told = {entry["name"]: entry for entry in json.loads((atlas / "atlas.json").read_text())}
    strangers = data / "strangers"
    mine = {
        ("babi17", "question"): right_by_words(babi(strangers / "babi17.txt", "babi17")),
        ("babi18", "question"): right_by_words(babi(strangers / "babi18.txt", "babi18")),
        ("cosit-perspective", "text"): right_by_words(cosit(strangers / "cosit_cp5.txt")),
        ("sugarcrepe-relations", "words of the choices"): right_by_captions(
            strangers / "sugar_rel.json"
        ),
        ("sib-radio", "labels"): right_by_prior(strangers / "sib_radio.csv"),
    }
    for (name, part), value in mine.items():
        rules = told[name]["blind"]
        shown(name, next((rule for rule in rules if part in rule["rule"]), None), value)
    print("from the items:")
    for one in sets_in(data, own=True):
        entry = told.get(one.name)  # none of a set that could not be read
        best = next((rule for rule in entry["blind"] if rule["seen"]), None) if entry else None
        if best is not None:
            shown(one.name, best, again(best["rule"], rows_of(one.open())))


def shown(name: str, rule: dict[str, Any] | None, value: float | None) -> None:
    """One line: again, and as the atlas has it."""
    if rule is None or value is None:
        print(f"{name:<30} {rule and rule['rule']}: not computed", flush=True)
        return
    mark = "" if abs(rule["value"] - value) <= CLOSE else "  APART"
    alarm = "" if rule["alarm"] else " (no alarm)"
    told = f"atlas {100 * rule['value']:.1f}, again {100 * value:.1f}"
    print(f"{name:<30} {told}, {rule['rule']}{alarm}{mark}", flush=True)


def shuffled(data: Path, times: int) -> None:
    """How many pages have a leak alarm once golds are drawn at random among the choices."""
    pages = alarmed = 0
    for one in sets_in(data, own=True):
        try:
            audited = _some(one.open())
        except DataError:  # a file that it needs is not there
            continue
        mine = 0
        for number in range(times):
            report = audit(_with_drawn_golds(audited, number), LEAKS)
            mine += bool(report.alarms)
        pages += times
        alarmed += mine
        print(f"{one.name:<28} {len(audited):,} items: {mine} of {times}", flush=True)
    print(f"in all {alarmed} of {pages} pages ({100 * alarmed / max(pages, 1):.2f} %)")


def _some(audited: AuditSet) -> AuditSet:
    """At most so many items, spread over the set."""
    step = -(-len(audited) // MOST_SHUFFLED)
    return replace(audited, questions=audited.questions[::step])


def _drawn(item: Item, draw: Random) -> tuple[str, ...]:
    """A choice or, where several are right, a set of them, any but the empty one equally often."""
    if item.form != "set":
        return (draw.choice(item.choices),)
    chosen: list[str] = []
    while not chosen:
        chosen = [choice for choice in item.choices if draw.random() < 0.5]
    return tuple(chosen)


def _with_drawn_golds(audited: AuditSet, seed: int) -> AuditSet:
    draw = Random(seed)
    questions = []
    for question in audited.questions:
        item = question.item
        if len(item.choices) > 1:
            item = structs.replace(item, gold=_drawn(item, draw))
        questions.append(question._replace(item=item))
    return replace(audited, questions=questions)


def parts(atlas: Path) -> None:
    """Classifiers of other kinds on the kept parts: right, with a 95 % interval over groups."""
    for entry in json.loads((atlas / "atlas.json").read_text()):
        file = atlas / f"{entry['name'].replace('@', '-')}.jsonl"
        if (entry["kept"] or 0) < LEAST or not file.is_file():
            continue
        items = [item for item in items_to_ask(**options_of_file(file, {})) if item.gold]
        items = items[:: -(-len(items) // MOST_ASKED)]
        learners = {"SVM": by_svm, "boosting": by_boosting}
        if os.environ.get("GNOMON_MINILM"):
            learners["MiniLM"] = by_minilm
        told = []
        for name, learner in learners.items():
            right, chance, groups = asked_apart(items, learner, once=learner is by_minilm)
            low, high = interval_of(right - chance, groups)
            mark = "" if low <= 0 <= high else " OFF"
            guess = 100 * chance.mean()
            told.append(
                f"{name} {100 * right.mean():.1f} ({guess + 100 * low:.1f} to "
                f"{guess + 100 * high:.1f}; guess {guess:.1f}){mark}"
            )
        print(f"{entry['name']:<28} {len(items):,} items: {', '.join(told)}", flush=True)


def asked_apart(
    items: list[Item], learner: Learner, *, once: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a classifier earns on groups that it never saw, what a guess does, and the groups."""
    names = [item.group or item.context or item.id for item in items]
    groups = np.unique(names, return_inverse=True)[1]
    texts = [f"{item.context} {item.text}".strip() for item in items]
    labels = sorted({choice for item in items for choice in item.choices})
    right = np.zeros(len(items))
    asked_at_all = np.zeros(len(items), dtype=bool)
    for train, asked in list(GroupKFold(5).split(texts, groups=groups))[: 1 if once else 5]:
        train = train[:MOST_TAUGHT] if once else train
        gold = [labels.index(items[row].gold[0]) for row in train]
        seen, shown_texts = [texts[row] for row in train], [texts[row] for row in asked]
        score = learner(seen, gold, shown_texts, len(labels))
        for row, mine in zip(asked, score, strict=True):
            item = items[row]
            said = max(item.choices, key=lambda choice: mine[labels.index(choice)])
            right[row] = said in item.gold
        asked_at_all[asked] = True
    chance = np.array([len(item.gold) / len(item.choices) for item in items])
    return right[asked_at_all], chance[asked_at_all], groups[asked_at_all]


def interval_of(gains: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """A 95 % interval of a mean, over groups."""
    sums = np.bincount(groups, weights=gains - gains.mean())
    error = 1.96 * float(np.sqrt((sums**2).sum())) / len(gains)
    return float(gains.mean()) - error, float(gains.mean()) + error


def of_labels(score: np.ndarray, known: np.ndarray, labels: int) -> np.ndarray:
    """Scores for all labels, of which training may lack some."""
    if score.ndim == 1:  # two labels have one score
        score = np.stack([-score, score], axis=1)
    found = np.full((len(score), labels), -np.inf)
    found[:, known] = score
    return found


def by_svm(seen: list[str], gold: list[int], asked: list[str], labels: int) -> np.ndarray:
    """A support vector machine over characters."""
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=20_000)
    model = LinearSVC().fit(vectors.fit_transform(seen), gold)
    return of_labels(model.decision_function(vectors.transform(asked)), model.classes_, labels)


def by_boosting(seen: list[str], gold: list[int], asked: list[str], labels: int) -> np.ndarray:
    """Gradient boosting over the most frequent words."""
    vectors = TfidfVectorizer(max_features=100)
    model = HistGradientBoostingClassifier(max_iter=30, early_stopping=False)
    model.fit(vectors.fit_transform(seen).toarray(), gold)
    score = model.predict_proba(vectors.transform(asked).toarray())
    return of_labels(score, model.classes_, labels)


def by_minilm(seen: list[str], gold: list[int], asked: list[str], labels: int) -> np.ndarray:
    """MiniLM with a new head, all of it finetuned for a few epochs."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    torch.set_num_threads(1)
    folder = os.environ["GNOMON_MINILM"]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=labels)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def logits(texts: list[str]) -> Any:
        given = tokenizer(texts, padding=True, truncation=True, max_length=96, return_tensors="pt")
        return model(**given).logits

    draw = Random(0)
    model.train()
    for _ in range(EPOCHS):
        order = draw.sample(range(len(seen)), len(seen))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            loss = torch.nn.functional.cross_entropy(
                logits([seen[row] for row in rows]), torch.tensor([gold[row] for row in rows])
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        found = [logits(asked[start : start + 64]).numpy() for start in range(0, len(asked), 64)]
    return np.concatenate(found)


def blink(file: Path) -> None:
    """How far apart two of BLINK's models must be, by their replies alone: no golds are published.

    Only items that two models answer differently can be right for one and wrong for the other, so
    a paired test over n items, d of them answered differently, needs a gap of z * sqrt(d) / n.
    """
    read: dict[str, dict[str, str]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            read.setdefault(row["model"], {})[row["id"]] = row["authors_read"]
    pairs = list(combinations(sorted(read), 2))
    deviations = NormalDist().inv_cdf(1 - 0.05 / 2 / len(pairs))
    told = []
    for one, two in pairs:
        ids = read[one].keys() & read[two].keys()
        apart = sum(read[one][name] != read[two][name] for name in ids)
        told.append((100 * deviations * apart**0.5 / len(ids), apart / len(ids), one, two))
    for gap, share, one, two in sorted(told):
        print(f"{one} and {two}: differ in {100 * share:.1f} % of replies, needs {gap:.1f} points")


def main() -> None:
    """One of the four checks."""
    what, *given = sys.argv[1:]
    if what == "figures":
        figures(Path(given[0]), Path(given[1]))
    elif what == "blink":
        blink(Path(given[0]))
    elif what == "shuffled":
        shuffled(Path(given[0]), int(given[1]))
    else:
        parts(Path(given[0]))


if __name__ == "__main__":
    main()
