"""Sentence-pair classifiers: whose class is which."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import ModelError, ModelWarning, UsageError
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.nli import OBVIOUS, Nli, class_order
from gnomon.records import Item

LABELS = ("entailment", "neutral", "contradiction")
ITEMS = [
    Item(
        id=str(i),
        form="entailment",
        context=context,
        text="the box holds the ant.",
        choices=LABELS,
        gold=("entailment",),
    )
    for i, context in enumerate(
        ["the ant is inside the box.", "the ant is inside. the box is\nlarge. Mary is outside.", ""]
    )
]


def load(folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # random weights may look permuted
        return hf(str(folder), **options)


def test_scores_are_the_classes_probabilities_in_the_order_of_the_choices(folders):
    model = load(folders("nli"))
    for item, answer in zip(ITEMS, model.answer(ITEMS), strict=True):
        inputs = model.tokenizer(" ".join(item.context.split()), item.text, return_tensors="pt")
        with torch.inference_mode():
            contradiction, entailment, neutral = (
                model.model(**inputs).logits[0].softmax(-1).tolist()
            )
        assert answer.scores == pytest.approx((entailment, neutral, contradiction), abs=1e-5)
    assert model.describe()["classes"] == ["contradiction", "entailment", "neutral"]
    assert model.scale == "probability"


def test_a_config_that_does_not_say_needs_the_user_or_the_table(folders):
    with pytest.raises(ModelError, match="does not say what its 3 classes mean"):
        load(folders("nli, silent"))
    model = load(folders("nli, silent"), labels="neutral,entailment,contradiction")
    assert model.order == ("neutral", "entailment", "contradiction")
    silent = SimpleNamespace(num_labels=3, id2label={0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    assert class_order(silent, "textattack/xlnet-base-cased-MNLI") == (
        "contradiction",
        "entailment",
        "neutral",
    )
    albert = "ynie/albert-xxlarge-v2-snli_mnli_fever_anli_R1_R2_R3-nli"
    assert class_order(silent, albert) == (
        "entailment",
        "neutral",
        "contradiction",
    )
    assert class_order(silent, "cross-encoder/nli-roberta-base") == (
        "contradiction",
        "entailment",
        "neutral",
    )
    assert class_order(silent, "facebookai/Roberta-Large-MNLI") == (
        "contradiction",
        "neutral",
        "entailment",
    )
    for wrong in ("entailment,neutral", "entailment,neutral,neutral", "entailment,neutral,maybe"):
        with pytest.raises(UsageError, match="does not name the 3 classes"):
            class_order(silent, "x", wrong)


@pytest.mark.parametrize(
    "name",
    [
        "somebody/roberta-large-mnli",
        "somebody/roberta-large-mnli-turned-round",
        "cross-encoder/nli-roberta-base-v2",
        "models/textattack/xlnet-base-cased-MNLI",
        "ynie/",
    ],
)
def test_a_model_whose_name_only_resembles_a_known_one_is_not_taken_for_it(name):
    silent = SimpleNamespace(num_labels=3, id2label={0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    with pytest.raises(ModelError, match="does not say what its 3 classes mean") as caught:
        class_order(silent, name)
    assert "--set labels=" in caught.value.hint


def test_every_known_order_names_each_class_once():
    from gnomon.files import package_data, read_yaml

    table = read_yaml(package_data("nli-labels.yaml"))
    assert len(table) > 10
    for name, order in table.items():
        assert sorted(order) == sorted(LABELS), name


def test_a_classifier_needs_nothing_of_decoders():
    code = (
        "import sys, gnomon.models.transformers.nli;"
        "sys.exit(any('causal' in name or 'cache_utils' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_way_classifiers_share_what_is_not_entailment():
    config = SimpleNamespace(num_labels=2, id2label={0: "entailment", 1: "not_entailment"})
    model = Nli.__new__(Nli)
    model.order = class_order(config, "x")
    assert model._answer(ITEMS[0], (0.4, 0.6)).scores == (0.4, 0.3, 0.3)


class Oracle:
    """A classifier that knows the obvious pairs, with its classes in some order."""

    device = torch.device("cpu")

    def __init__(self, order, config):
        self.order, self.config = order, config

    def parameters(self):
        return iter([torch.zeros(1)])

    def __call__(self, pairs):
        rows = []
        for pair in pairs:
            rows.append([9.0 * (OBVIOUS[pair] == label) for label in self.order])
        return SimpleNamespace(logits=torch.tensor(rows))


class Pairs(dict):
    """Stands for a tokenizer: hands the pairs on."""

    def __call__(self, ones, twos, **_):
        found = Pairs(pairs=list(zip(ones, twos, strict=True)))
        found["input_ids"] = [one.split() for one in ones]
        return found if not _ else Pairs(pairs=found["pairs"])

    def to(self, _):
        return self


def oracle(order):
    config = SimpleNamespace(
        num_labels=3, id2label=dict(enumerate(LABELS)), get_text_config=lambda: SimpleNamespace()
    )
    return Nli("hf:oracle", Oracle(order, config), Pairs())


def test_three_obvious_pairs_tell_when_the_classes_are_permuted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not oracle(LABELS).permuted
    with pytest.warns(ModelWarning, match="labels=contradiction,neutral,entailment"):
        assert oracle(("contradiction", "neutral", "entailment")).permuted


def test_other_forms_and_labels_are_refused(folders):
    model = load(folders("nli"))
    with pytest.raises(UsageError, match="entailment, not choice"):
        model.answer([Item(id="q", form="choice", text="?", choices=("yes", "no"), gold=("no",))])
    with pytest.raises(UsageError, match="maybe"):
        model.answer(
            [
                Item(
                    id="q",
                    form="entailment",
                    text="?",
                    choices=("entailment", "maybe"),
                    gold=("maybe",),
                )
            ]
        )


def test_a_pair_that_is_too_long_is_that_items_failure(folders):
    long = Item(
        id="l",
        form="entailment",
        context="the ant is inside. " * 100,
        text="it is.",
        choices=LABELS,
        gold=("neutral",),
    )
    first, second = load(folders("nli")).answer([long, ITEMS[0]])
    assert "the model takes 128" in first.error
    assert second.choice in LABELS
