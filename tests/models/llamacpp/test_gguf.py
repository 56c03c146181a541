"""GGUF files: a tiny model made here is scored like a plain reference, and what is no model is said
so."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.models.chat import chat_template, conversation
from gnomon.models.llamacpp.gguf import _chains, gguf
from gnomon.models.llamacpp.widening import F16, F32, Q4_1, Q8_0, read_layout, widen
from gnomon.records import Item

pytest.importorskip("xllamacpp")
WHOLE = ("▁ant", "▁is", "▁larger", "▁smaller", "▁than", "▁a", "▁bird", "▁much", "▁An", "▁cat", ".")
PIECES = dict.fromkeys(word[:n] for n in range(9, 0, -1) for word in WHOLE if n <= len(word))
WORDS = [
    "<unk>",
    "<s>",
    "</s>",
    *(f"<0x{byte:02X}>" for byte in range(256)),
    *PIECES,
    *"Aabcdefghilmnrstu",
]
TYPES = [2, 3, 3] + [6] * 256 + [1] * (len(WORDS) - 259)  # unknown, control, byte, normal


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def number(key, value):
    return entry(key, 4, struct.pack("<I", value))


def array(key, kind, values):
    return entry(key, 9, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def write_model(
    file, *, seed=0, layers=1, size=32, quantised=False, context=64, template="", ends=False
):
    """A random Llama of a few thousand numbers, with a tokenizer of whole words: the format, by
    hand."""
    bits = np.random.default_rng(seed)
    meta = [
        entry("general.architecture", 8, text("llama")),
        number("general.file_type", 0),
        number("llama.block_count", layers),
        number("llama.context_length", context),
        number("llama.embedding_length", size),
        number("llama.feed_forward_length", 64),
        number("llama.attention.head_count", 2),
        number("llama.attention.head_count_kv", 2),
        entry("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)),
        entry("tokenizer.ggml.model", 8, text("llama")),
        array("tokenizer.ggml.tokens", 8, [text(word) for word in WORDS]),
        array(
            "tokenizer.ggml.scores", 6, [struct.pack("<f", -float(n)) for n in range(len(WORDS))]
        ),
        array("tokenizer.ggml.token_type", 5, [struct.pack("<i", kind) for kind in TYPES]),
        number("tokenizer.ggml.bos_token_id", 1),
        number("tokenizer.ggml.eos_token_id", 2),
        number("tokenizer.ggml.unknown_token_id", 0),
    ]
    meta += [entry("tokenizer.chat_template", 8, text(template))] if template else []
    meta += [entry("tokenizer.ggml.add_eos_token", 7, b"\1")] if ends else []
    head = (size, len(WORDS))
    shapes = {"token_embd.weight": head, "output_norm.weight": (size,), "output.weight": head}
    for n in range(layers):
        shapes |= {
            f"blk.{n}.{part}.weight": shape
            for part, shape in {
                "attn_norm": (size,),
                "attn_q": (size, size),
                "attn_k": (size, size),
                "attn_v": (size, size),
                "attn_output": (size, size),
                "ffn_norm": (size,),
                "ffn_gate": (size, 64),
                "ffn_up": (size, 64),
                "ffn_down": (64, size),
            }.items()
        }
    table, data = b"", b""
    for name, shape in shapes.items():
        values = bits.normal(size=math.prod(shape)).astype(np.float32)
        kind = (
            F32
            if len(shape) == 1 or not quantised
            else Q8_0
            if name == "token_embd.weight"
            else Q4_1
        )
        table += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        raw = {F32: np.ndarray.tobytes, Q4_1: pack_q4_1, Q8_0: pack_q8_0}[kind](values)
        data += raw + b"\0" * (-len(raw) % 32)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(shapes), len(meta)) + b"".join(meta) + table
    file.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return file


def pack_q4_1(values):
    packed = b""
    for block in values.reshape(-1, 32):
        least = np.float16(block.min())
        scale = np.float16((block.max() - block.min()) / 15)
        digits = np.clip(np.round((block - np.float32(least)) / np.float32(scale)), 0, 15).astype(
            np.uint8
        )
        packed += scale.tobytes() + least.tobytes() + (digits[:16] | digits[16:] << 4).tobytes()
    return packed


def pack_q8_0(values):
    packed = b""
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 127)
        packed += scale.tobytes() + np.round(block / np.float32(scale)).astype(np.int8).tobytes()
    return packed


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def model(tiny):
    opened = gguf(str(tiny), threads=1)
    yield opened
    opened.close()


def cloze(text="ant is [MASK] than a bird.", choices=("larger", "smaller", "much larger"), n=1):
    return Item(id=str(n), form="cloze", text=text, choices=choices, gold=choices[:1])


def reference(model, tokens):
    """Log-probability of the last token after the others, with nothing cached."""
    from gnomon.models.llamacpp.library import Wanted

    model._llama._forget_after(0)
    return model._llama.log_probabilities(tokens[:-1], [Wanted(len(tokens) - 1, (tokens[-1],))])[0][
        0
    ]


def test_scores_are_sums_of_log_probabilities_token_by_token(model):
    (answer,) = model.answer([cloze()])
    before = model._llama.tokenize("ant is", special=False)
    assert before[0] == 1, "the text begins as the model wants it"
    for choice, score in zip(("larger", "smaller", "much larger"), answer.scores, strict=True):
        whole = model._llama.tokenize(f"ant is {choice} than a bird.", special=False)
        steps = [reference(model, whole[: n + 1]) for n in range(len(before), len(whole))]
        assert score == pytest.approx(sum(steps), abs=1e-4)
    assert answer.choice == cloze().choices[answer.scores.index(max(answer.scores))]


def test_a_file_that_would_end_every_text_is_scored_as_any_other(model, tmp_path):
    ending = gguf(str(write_model(tmp_path / "ending.gguf", ends=True)), threads=1)
    assert ending._llama.tokenize("ant is", special=False)[-1] != 2
    assert ending.answer([cloze()]) == model.answer([cloze()])
    ending.close()


@pytest.mark.parametrize("quantised", [False, True])
def test_its_parameters_are_counted_as_the_files_table_of_tensors_says(tmp_path, quantised):
    file = write_model(tmp_path / "model.gguf", layers=2, quantised=quantised)
    model = gguf(str(file), threads=1)
    inner = 4 * 32 * 32 + 3 * 32 * 64 + 2 * 32  # attention, feed-forward part, norms
    assert model.describe()["parameters"] == 2 * 32 * len(WORDS) + 32 + 2 * inner
    assert model.describe()["parameters"] == sum(
        math.prod(each.shape) for each in read_layout(file).tensors
    )
    model.close()


def test_a_run_goes_on_with_other_threads_and_though_it_was_begun_before_parameters_were_told(
    tiny, tmp_path
):
    from gnomon import engine, registry
    from gnomon.itemsource import load
    from gnomon.runs import Manifest, RunLog, runs_in

    source = load("scales", form="cloze").limited(6)
    run = engine.run(source, registry.model(f"gguf:{tiny}", threads=1), runs=tmp_path)
    before = [answer for _, answer in run.rows()]
    manifest: Manifest = run.manifest
    assert manifest.model_description.pop("parameters") > 0
    log = RunLog(run.path)
    log._write("DELETE FROM answers WHERE n >= ?", [(2,)])
    log.write_manifest(manifest)
    log.close()
    again = engine.run(source, registry.model(f"gguf:{tiny}", threads=2), runs=tmp_path)
    assert [each.path for each in runs_in(tmp_path)] == [run.path] == [again.path]
    assert [answer.choice for _, answer in again.rows()] == [answer.choice for answer in before]
    assert again.manifest.model_options == {"threads": 2}
    assert again.manifest.model_description["parameters"] > 0
    other = engine.run(source, registry.model(f"gguf:{tiny}", prompt="fewshot"), runs=tmp_path)
    assert other.path != run.path


def test_probabilities_of_the_next_token_sum_to_one(model):
    from gnomon.models.llamacpp.library import Wanted

    path = model._llama.tokenize("ant is", special=False)
    (values,) = model._llama.log_probabilities(path, [Wanted(len(path), tuple(range(len(WORDS))))])
    assert sum(map(math.exp, values)) == pytest.approx(1)


def test_company_and_order_do_not_change_scores(model):
    items = [
        cloze(f"{who} is [MASK] than a {whom}.", n=f"{who}{whom}")
        for who in ("ant", "bird", "cat", "An ant")
        for whom in ("bird", "cat", "ant")
    ]
    together = model.answer(items)
    backwards = model.answer(items[::-1])[::-1]
    for one, two, item in zip(together, backwards, items, strict=True):
        (alone,) = model.answer([item])
        assert one.scores == pytest.approx(two.scores, abs=1e-5)
        assert one.scores == pytest.approx(alone.scores, abs=1e-5)


def test_what_items_share_is_computed_once(model):
    model.answer([cloze()])
    before = model._llama.computed
    model.answer([cloze("ant is [MASK] than a cat.", n=2)])
    own = model._llama.tokenize("larger than a cat.", special=False, begin=False)
    assert model._llama.computed - before <= 3 * len(own) + 3, "the context is not computed again"


def test_normalisations(tiny):
    scores = {}
    for how in ("sum", "mean", "byte", "pmi"):
        model = gguf(str(tiny), normalise=how, threads=1)
        scores[how] = model.answer([cloze(choices=("larger", "much larger"))])[0].scores
        assert model.describe()["normalise"] == how
        model.close()
    assert scores["mean"][0] == pytest.approx(scores["sum"][0] / 5)
    assert scores["mean"][1] == pytest.approx(scores["sum"][1] / 6)
    assert scores["byte"][0] == pytest.approx(scores["sum"][0] / len(" larger than a bird."))
    assert scores["pmi"][0] != pytest.approx(scores["sum"][0])


def test_an_answer_that_opens_the_text_comes_after_the_token_that_begins_texts(model):
    (answer,) = model.answer([cloze("[MASK] is larger.", choices=("ant", "bird"))])
    assert all(math.isfinite(score) for score in answer.scores)


def test_a_prompt_that_does_not_fit_fails_alone(model):
    long = cloze("ant is [MASK] than " + "a bird " * 60, n=2)
    answers = model.answer([cloze(), long, cloze(n=3)])
    assert answers[1].error == "the prompt is longer than the context of 64 tokens"
    assert answers[0].choice is not None
    assert answers[2].scores == answers[0].scores


def test_a_chat_template_is_followed_and_texts_begin_once(tmp_path):
    template = "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}[assistant]"
    file = write_model(tmp_path / "chat.gguf", context=1024, template=template)
    model = gguf(str(file), threads=1)
    assert model.chat
    assert model.prompt.name == "chat"
    (larger,), (smaller,) = model._choices(cloze(choices=("larger", "smaller")))
    assert larger.tokens[:2].count(1) == 1, "one token begins the text, not two"
    assert larger.start == smaller.start
    text = conversation(model._template, model.prompt.chat(cloze()))
    assert text.startswith("<s>[system]")
    assert text.endswith("[assistant]")
    model.close()
    plain = gguf(str(file), chat=False, threads=1)
    assert (plain.chat, plain.prompt.name) == (False, "plain")
    plain.close()


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for %}", "cannot be read"),
        ("{{ raise_exception('no') }}", "fails: no"),
        ("{{ 1 / 0 }}", "fails"),
        ("{{ messages.__class__.__mro__[1].__subclasses__() }}", "fails"),
        ("{{ messages[0](1) }}", "fails"),
    ],
)
def test_a_faulty_or_hostile_chat_template_is_said_so(template, says):
    def write():
        return conversation(chat_template(template, {}), [{"role": "user", "content": "?"}])

    with pytest.raises(ModelError, match=says):
        write()


def test_a_template_without_system_messages_gets_it_with_the_first_question():
    source = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it so?"}]
    assert conversation(chat_template(source, {}), turns) == "user: Be brief.\n\nIs it so?\n"


def test_an_answer_is_scored_after_the_thought_of_a_template_and_generated_from_where_it_begins(
    tmp_path,
):
    template = (
        "{% for m in messages %}{{ m.role }}:{% if m.role == 'assistant' %} a than{% endif %} {{ m.content }}"
        "{% endfor %}{% if add_generation_prompt %}assistant: a{% endif %}"
    )
    model = gguf(
        str(write_model(tmp_path / "thought.gguf", context=1024, template=template)), threads=1
    )
    item = cloze(choices=("larger", "smaller"))
    turns = model.prompt.chat(item)
    before = conversation(model._template, turns, answered=True)
    assert before.endswith("assistant: a than ")
    assert conversation(model._template, turns).endswith("assistant: a")
    (larger,), _ = model._choices(item)
    assert list(larger.tokens) == model._tokens(before + "larger")
    model.close()


def test_pmi_takes_off_the_same_tokens_after_nothing(tiny):
    plain, pmi = (gguf(str(tiny), normalise=how, threads=1) for how in ("sum", "pmi"))
    item = cloze(choices=("larger", "a bird"))
    ways = [ways[0] for ways in pmi._choices(item)]
    alone = []
    for way in ways:
        tokens = (pmi._opening, *way.tokens[way.start :])
        known = pmi._walk([way._replace(tokens=tokens, start=1)])
        alone.append(sum(known[tokens[:n], tokens[n]] for n in range(1, len(tokens))))
    sums, scores = plain.answer([item])[0].scores, pmi.answer([item])[0].scores
    assert scores == pytest.approx([s - a for s, a in zip(sums, alone, strict=True)], abs=1e-4)
    plain.close()
    pmi.close()


def test_a_generated_reply_is_the_likeliest_text_and_is_read(tiny):
    model = gguf(str(tiny), ask="generate", new_tokens=3, threads=1)
    (first,) = model.answer([cloze()])
    assert model.scale == "none"
    assert first.scores is None
    assert isinstance(first.reply, str)
    assert model.answer([cloze("cat is [MASK] than a bird.", n=2), cloze()])[1] == first
    assert model.describe()["new_tokens"] == 3
    assert (
        "longer than the context"
        in model.answer([cloze("ant is " + "a bird " * 60 + "[MASK].")])[0].error
    )
    path = model._llama.tokenize("ant is", special=False)
    from gnomon.models.llamacpp.library import Wanted

    (everything,) = model._llama.log_probabilities(
        path, [Wanted(len(path), tuple(range(len(WORDS))))]
    )
    likeliest = WORDS[everything.index(max(everything))]
    said = model._llama.reply(path, 1)
    assert said == likeliest.removeprefix("▁") or likeliest.startswith("<")
    model.close()


def test_description_names_file_checksum_weights_and_prompt(model):
    about = model.describe()
    assert about["file"] == "tiny.gguf"
    assert len(about["sha256"]) == 64
    assert about["prompt"]["name"] == "plain"
    assert not about["chat"]
    assert about["xllamacpp"]


def test_the_log_of_llama_cpp_stays_silent(tiny, capfd):
    opened = gguf(str(tiny), threads=1)
    opened.answer([cloze()])
    opened.close()
    assert capfd.readouterr() == ("", "")


def test_what_is_no_model_is_said_so(tmp_path, tiny):
    with pytest.raises(UsageError, match="needs a file"):
        gguf("")
    with pytest.raises(ModelError, match="there is no such file"):
        gguf(str(tmp_path / "absent.gguf"))
    with pytest.raises(ModelError, match="directory"):
        gguf(str(tmp_path))
    (tmp_path / "page.gguf").write_text("<html>not found</html>")
    with pytest.raises(ModelError, match="not a GGUF file"):
        gguf(str(tmp_path / "page.gguf"))
    raw = tiny.read_bytes()
    for broken in (raw[: len(raw) // 2], raw[:200], raw[:8], raw[:24] + b"\xff" * 500):
        (tmp_path / "broken.gguf").write_bytes(broken)
        with pytest.raises(ModelError, match="cannot be loaded by llama"):
            gguf(str(tmp_path / "broken.gguf"))
    with pytest.raises(UsageError, match="no normalisation"):
        gguf(str(tiny), normalise="cube")
    with pytest.raises(UsageError, match="cannot be asked"):
        gguf(str(tiny), ask="politely")
    with pytest.raises(UsageError, match="no chat template"):
        gguf(str(tiny), chat=True)


def test_prefixes_that_continue_each_other_are_computed_in_one_go():
    assert list(_chains([(1,), (1, 2), (1, 2, 3), (1, 4), (5,)])) == [
        [(1,), (1, 2), (1, 2, 3)],
        [(1, 4)],
        [(5,)],
    ]


def test_widening_keeps_every_weight_and_the_model_computes_in_full(tmp_path):
    narrow = write_model(tmp_path / "narrow.gguf", quantised=True)
    wide = tmp_path / "wide.gguf"
    widen(narrow, wide)
    kinds = {tensor.name: tensor.kind for tensor in read_layout(wide).tensors}
    assert kinds[b"output_norm.weight"] == F32
    assert kinds[b"blk.0.attn_q.weight"] == F16
    scores = []
    for file in (narrow, wide):
        model = gguf(str(file), threads=1)
        scores.append(model.answer([cloze()])[0].scores)
        model.close()
    assert scores[0] == pytest.approx(scores[1], rel=0.02)


def test_widening_gives_back_what_was_packed(tmp_path):
    narrow = write_model(tmp_path / "narrow.gguf", quantised=True, seed=3)
    widen(narrow, tmp_path / "wide.gguf")
    original = read_layout(write_model(tmp_path / "plain.gguf", seed=3))
    layout = read_layout(tmp_path / "wide.gguf")
    for before, after in zip(original.tensors, layout.tensors, strict=True):
        assert (before.name, before.shape) == (after.name, after.shape)
        count = math.prod(before.shape)
        exact = np.fromfile(
            tmp_path / "plain.gguf", np.float32, count, offset=original.data + before.offset
        )
        kind = np.float32 if after.kind == F32 else np.float16
        kept = np.fromfile(tmp_path / "wide.gguf", kind, count, offset=layout.data + after.offset)
        assert np.abs(exact - kept).max() <= (0 if after.kind == F32 else 0.25)


def test_transformers_gives_the_same_scores_for_the_same_file(tiny, model, tmp_path, monkeypatch):
    """Also where the file does not say that texts begin with a special token, as llama.cpp takes it
    that they do."""
    for name in ("torch", "transformers", "gguf", "accelerate"):
        pytest.importorskip(name)
    from gnomon.models.transformers.hf import hf

    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    items = [cloze(), cloze("An ant is [MASK] than a cat.", n=2)]
    converted = hf(str(tiny), threads=1)
    assert converted.tokenizer("ant is")["input_ids"] == model._llama.tokenize(
        "ant is", special=False
    )
    for one, other in zip(converted.answer(items), model.answer(items), strict=True):
        assert one.scores == pytest.approx(
            other.scores, rel=0.005
        )  # llama.cpp keeps keys and values in 16 bits
    assert list((tmp_path / "models").glob("tiny-*/model.safetensors"))


@pytest.mark.parametrize(
    ("tokenizer", "said", "begun"),
    [
        (("llama", "default"), None, True),
        (("llama", "default"), False, False),
        (("gpt2", "smollm"), None, False),
        (("gpt2", "smollm"), True, True),
        (("gpt2", "llama-bpe"), None, True),
        (("gpt2", "gpt-2"), None, False),
    ],
)
def test_texts_begin_as_the_file_says_or_as_its_tokenizer_wants(tokenizer, said, begun):
    from gnomon.models.llamacpp.converting import begins

    metadata = dict(zip(("tokenizer.ggml.model", "tokenizer.ggml.pre"), tokenizer, strict=True))
    assert (
        begins(metadata | ({} if said is None else {"tokenizer.ggml.add_bos_token": said})) is begun
    )
