"""The atlas checked by other means: its headline figures, its false alarms, its clean parts.

    python bench/atlas.py figures DIR ATLAS     headline figures again, by scikit-learn
    python bench/atlas.py shuffled DIR 20       golds drawn at random: pages with a leak alarm
    python bench/atlas.py parts DIR ATLAS       kept parts, asked by classifiers of other kinds
    python bench/atlas.py blink blink.jsonl.gz  how far apart BLINK's models must be to differ

DIR holds the authors' files, ATLAS what `gnomon audit --atlas DIR -o ATLAS` wrote. `figures` first
reads five files with Python's own modules, then recomputes the best blind rule of every set from the
items that Gnomon reads: words, rates and folds are its own, and it shares no code with the checks.
`shuffled` takes at most 1,000 items of a set. `parts` asks a support vector machine over
characters, gradient boosting, and MiniLM finetuned (with GNOMON_MINILM set to its folder), none of
which the pruning uses, about groups that they never saw; at most 2,000 items of a part.
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
from heapq import heappop, heappush
from itertools import combinations, pairwise
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
MOST_SHUFFLED = 1_000
LEAST = 500  # kept items of a set whose part is asked
MOST_ASKED = 2_000
MOST_TOLD = 400  # of MiniLM
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


FORM = "lengths and shared words"


class Rows(NamedTuple):
    """Items with a right answer, what belongs together, and what they are for."""

    items: list[Item]
    fields: dict[str, list[str]]  # texts by field
    texts: dict[str, list[str]]  # the same, and all words, and two things
    kin: list[tuple[str, ...]]
    splits: list[str]
    says: list[dict[str, str]]  # what each choice says of the first of two things, or itself
    pictured: bool

    @property
    def usual(self) -> str:
        """By group, where there are 40 of them and fewer than items."""
        groups = len({unit for mine in self.kin for unit in mine})
        return "by group" if 40 <= groups < len(self.items) else "at random"


def rows_of(audited: AuditSet) -> Rows:
    """What is needed of a set."""
    kept = []
    for number, one in enumerate(audited.questions):
        if len(one.choices) > 1 and one.gold and set(one.gold) <= set(one.choices):
            kept.append(number)
    mine = [audited.questions[n] for n in kept]
    texts: dict[str, list[str]] = {}
    for place, field in enumerate(audited.fields):
        texts[field] = [one.texts[place] for one in mine]
    fields = dict(texts)
    texts["all words"] = [" ".join(one.texts) for one in mine]
    for place, thing in enumerate(("first thing", "second thing")):
        texts[thing] = [one.things[place] if one.things else "" for one in mine]
    kin = [audited.kin[n] for n in kept]
    says = []
    for one in mine:
        said = one.compared.targets if one.compared else {}
        says.append({choice: said.get(choice, choice) for choice in one.choices})
    pictured = any(one.picture for one in mine)
    return Rows(
        [one.item for one in mine], fields, texts, kin, [one.split for one in mine], says, pictured
    )


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
    kind, _, field = name.rpartition(" the ")
    if name == FORM:
        written = [forms(*texts) for texts in zip(*rows.fields.values(), strict=True)]
        vectors = CountVectorizer(analyzer=str.split, binary=True)
        return by_bayes(vectors.fit_transform(written).tocsr(), way, rows)
    analyzers = {"places of words in": placed, "punctuation and capitals of": marks}
    analyzer = analyzers.get(kind, worded)
    vectors = CountVectorizer(analyzer=analyzer, binary=True)
    texts = rows.texts.get(field if kind in analyzers else name)
    if texts is None:
        return None
    return by_bayes(vectors.fit_transform(texts).tocsr(), way, rows)


def words_in(text: str) -> list[str]:
    """Runs of letters and digits, with one apostrophe inside; the signs of comparison."""
    return re.findall(r"\w+(?:'\w+)?|[<>=]", text.lower())


def worded(text: str) -> list[str]:
    """Words, and pairs of neighbours."""
    words = words_in(text)
    return words + [" ".join(pair) for pair in pairwise(words)]


def forms(*texts: str) -> str:
    """Of each text its length in words and in characters, and the words of texts before it."""
    told = []
    before: set[str] = set()
    for place, text in enumerate(texts):
        words = words_in(text)
        common = sum(word in before for word in set(words))
        told.append(f"w{place}_{min(40, len(words))} c{place}_{min(320, len(text)) // 8}")
        told.append(f"s{place}_{common}")
        before |= set(words)
    return " ".join(told)


def marks(text: str) -> list[str]:
    """Punctuation, capitals, the first and the last sign."""
    words = text.split()
    capitals = sum(word[:1].isupper() for word in words[1:])
    shouted = sum(len(word) > 1 and word.isupper() for word in words)
    told = [f"cap{min(4, capitals)}", f"loud{min(4, shouted)}"]
    for place, sign in (("first", text[:1]), ("last", text[-1:])):
        kind = "digit" if sign.isdigit() else sign
        if sign.isalpha():
            kind = "upper" if sign.isupper() else "lower"
        told.append(f"{place}{kind}")
    for sign, times in Counter(text).items():
        if sign.isalnum():
            told += [f"odd{sign}"] * (not sign.isascii())
        elif sign != " ":
            told.append(f"{sign}{min(4, times)}")
    told += ["twoblanks"] * ("  " in text) + ["digits"] * any(one.isdigit() for one in text)
    if words:
        told.append(f"lastword{words[-1][:1].isupper()}")
    return told


def placed(text: str) -> list[str]:
    """Words with their places from the beginning, and from the end."""
    words = words_in(text)
    return [*map("{} {}".format, range(8), words), *map("-{} {}".format, range(3), words[::-1])]


def by_constant(part: str, rows: Rows) -> float:
    """Always the same label, the same place or, where sets are right, the same set."""
    if part == "sets":
        golds = Counter(frozenset(item.gold) for item in rows.items)
        return max(golds.values()) / len(rows.items)
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


def folds_of(rows: Rows, way: str) -> list[frozenset[int]]:
    """The folds in which what belongs to each row lies, as docs/atlas.md defines them."""
    if way == "at random":
        order = np.random.default_rng(0).permutation(len(rows.items))
        return [frozenset({int(number) % FOLDS}) for number in order]
    uses = Counter(unit for mine in rows.kin for unit in mine)
    heap = [(0, fold) for fold in range(min(FOLDS, len(uses)))]
    fold_of = {}
    for unit in sorted(uses, key=lambda unit: (-uses[unit], unit)):
        held, fold = heappop(heap)
        fold_of[unit] = fold
        heappush(heap, (held + uses[unit], fold))
    return [frozenset(fold_of[unit] for unit in mine) for mine in rows.kin]


def parts_of_rows(rows: Rows, way: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to ask."""
    if way == "by split":
        split = np.array([name.lower() for name in rows.splits])
        yield np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        return
    folds = folds_of(rows, way)
    for block in sorted(set(folds), key=sorted):
        asked = [row for row, mine in enumerate(folds) if mine == block]
        train = [row for row, mine in enumerate(folds) if not mine & block]
        if train:
            yield np.array(train), np.array(asked)


def by_bayes(signs: Any, way: str, rows: Rows) -> float:
    """Each label by how much more often than elsewhere it is right beside each word or pair."""
    offers = [set(said.values()) for said in rows.says]
    right = [
        {said[gold] for gold in item.gold} for item, said in zip(rows.items, rows.says, strict=True)
    ]
    labels = sorted(set().union(*offers))
    gold = np.array([[label in mine for label in labels] for mine in right], float)
    gold /= gold.sum(axis=1, keepdims=True)
    offered = np.array([[label in mine for label in labels] for mine in offers])
    signs = signs[:, np.asarray(signs.sum(axis=0)).ravel() > 1]
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
    return by_bayes(nothing, rows.usual, rows)


def by_words_of_choices(rows: Rows) -> float:
    """The choice whose words are right most often, groups held out."""
    vectors = CountVectorizer(analyzer=words_in, binary=True)
    vectors.fit([choice for item in rows.items for choice in item.choices])
    credit = []
    for train, asked in parts_of_rows(rows, rows.usual):
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
        best = headline(entry["blind"]) if entry else None
        if best is not None:
            shown(one.name, best, again(best["rule"], rows_of(one.open())))


def headline(rules: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The first rule that sees a part of an item, and not others of its group."""
    for rule in rules:
        if rule["sees"] == "a part" and rule["learnt"] != "other items of its group":
            return rule
    return None


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


def parts(data: Path, atlas: Path) -> None:
    """Classifiers of other kinds on the kept parts: right, with a 95 % interval over groups."""
    told = {entry["name"]: entry for entry in json.loads((atlas / "atlas.json").read_text())}
    learners = {"SVM": by_svm, "boosting": by_boosting}
    if os.environ.get("GNOMON_MINILM"):
        learners["MiniLM"] = by_minilm
    for one in sets_in(data, own=True):
        file = atlas / f"{one.name.replace('@', '-')}.jsonl"
        if one.name not in told or (told[one.name]["kept"] or 0) < LEAST or not file.is_file():
            continue
        kept = {item.id for item in items_to_ask(**options_of_file(file, {}))}
        audited = one.open()
        there = [question for question in audited.questions if question.id in kept]
        there = there[:: -(-len(there) // MOST_ASKED)]
        rows = rows_of(replace(audited, questions=there))
        found = []
        for name, learner in learners.items():
            for field in dict.fromkeys([*rows.fields, "all words"]):
                if any(map(str.strip, rows.texts[field])):
                    found.append(asked_apart(rows, field, name, learner))
        print(f"{one.name:<28} {len(there):,} items: {', '.join(found)}", flush=True)


def asked_apart(rows: Rows, field: str, name: str, learner: Learner) -> str:
    """What a classifier earns that sees one field of items whose group it never saw."""
    texts = rows.texts[field]
    labels = sorted(set().union(*(said.values() for said in rows.says)))
    gains: dict[int, float] = {}
    blocks = list(parts_of_rows(rows, rows.usual))
    if name == "MiniLM":
        blocks = [max(blocks, key=lambda block: len(block[1]))]
    for train, asked in blocks:
        if name == "MiniLM":
            train = np.array(Random(0).sample(train.tolist(), min(MOST_TAUGHT, len(train))))
            asked = np.array(Random(0).sample(asked.tolist(), min(MOST_TOLD, len(asked))))
        gold = [labels.index(rows.says[row][rows.items[row].gold[0]]) for row in train]
        if len(set(gold)) < 2:
            continue
        score = learner(
            [texts[row] for row in train], gold, [texts[row] for row in asked], len(labels)
        )
        for row, mine in zip(asked.tolist(), score, strict=True):
            item, said = rows.items[row], rows.says[row]
            best = max(item.choices, key=lambda choice: mine[labels.index(said[choice])])
            gains[row] = (best in item.gold) - len(item.gold) / len(item.choices)
    numbers = sorted(gains)
    value = np.array([gains[row] for row in numbers])
    groups = np.unique([rows.kin[row][0] for row in numbers], return_inverse=True)[1]
    low, high = interval_of(value, groups)
    mark = "" if low <= 0 <= high else " OFF" if low > 0 else " BELOW"
    return f"{name} {field} {100 * value.mean():+.1f} ({100 * low:+.1f} to {100 * high:+.1f}){mark}"


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
        parts(Path(given[0]), Path(given[1]))


if __name__ == "__main__":
    main()
