"""The scoring core against a full forward pass for each choice."""

from __future__ import annotations

import random
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import ModelError, ModelWarning
from gnomon.models.choices import Query
from gnomon.models.transformers import scorer as module
from gnomon.models.transformers.hf import hf
from gnomon.models.transformers.loading import quiet
from gnomon.models.transformers.scorer import TorchScorer, TreeUse, try_trees
from gnomon.records import Item

TREES = ["llama", "gpt2", "neox", "mistral, window", "gemma2"]
UNPACKED = ["gemma2"]  # whose attention is its own
PLAIN = ["bloom", "mamba"]


@pytest.fixture(scope="module")
def models(folders):
    from transformers import AutoModelForCausalLM

    made: dict = {}

    def get(make):
        if make not in made:
            with quiet():
                made[make] = AutoModelForCausalLM.from_pretrained(
                    folders(make), dtype=torch.float32
                ).eval()
        return made[make]

    return get


def scorer(model, **how):
    """A scorer that asks in trees where the model may be asked so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of those that may not
        reading = try_trees(model, None, "hf:tried")
    return TorchScorer(model, trees=reading.trees, packed=reading.packed, **how)


def reference(model, query):
    """One full forward pass for each continuation, all logits."""
    found = []
    for continuation in query.continuations:
        with torch.inference_mode():
            logits = model(torch.tensor([query.context + continuation])).logits[0].log_softmax(-1)
        start = len(query.context) - 1
        found.append(sum(logits[start + i, token].item() for i, token in enumerate(continuation)))
    return found


def workload(seed=0, *, size=400, shots=40):
    """Queries with worked examples before them, without, with equal contexts, and of several
    lengths."""
    rng = random.Random(seed)

    def text(low, high):
        return [rng.randrange(4, size) for _ in range(rng.randint(low, high))]

    examples = text(shots, shots)
    labels = [[11], [12], [13]]
    made = [Query(examples + text(3, 9), labels) for _ in range(40)]
    made += [Query(text(3, 14), [text(1, 5) for _ in range(3)]) for _ in range(12)]
    same = text(8, 8)
    made += [Query(same, [text(2, 4), text(1, 3)]) for _ in range(5)]
    made += [Query(same + text(1, 4), labels) for _ in range(5)]
    made += [Query([5], [[6], [6, 7], [6, 7, 8]])]
    rng.shuffle(made)
    return made


def close(one, other, tolerance):
    return (
        max(abs(a - b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))
        < tolerance
    )


@pytest.mark.parametrize("make", TREES + PLAIN)
def test_scores_equal_a_full_pass_for_each_choice(models, make):
    queries = workload()
    assert close(
        scorer(models(make)).score(queries),
        [reference(models(make), query) for query in queries],
        1e-4,
    )


@pytest.mark.parametrize("make", TREES + PLAIN)
def test_scores_do_not_depend_on_what_else_is_in_the_batch(models, make):
    queries = workload(1)
    model = models(make)
    together = scorer(model).score(queries)
    assert close(together, [scorer(model).score([query])[0] for query in queries], 1e-5)
    assert close(together, scorer(model, tokens=64, outputs=4).score(queries), 1e-5)
    used = scorer(model)
    halves = used.score(queries[:20]) + used.score(
        queries[20:]
    )  # the second half finds the prefixes of the first
    assert close(together, halves, 1e-5)


@pytest.mark.parametrize("make", TREES)
def test_trees_and_plain_rows_give_the_same(models, make):
    queries = workload(2)
    model = models(make)
    assert try_trees(model, None, "hf:tried").trees
    plain, padded = (TorchScorer(model, trees=trees).score(queries) for trees in (False, True))
    assert close(padded, plain, 1e-5)
    if make not in UNPACKED:
        assert close(TorchScorer(model, trees=True, packed=True).score(queries), plain, 1e-5)


@pytest.mark.parametrize("make", [make for make in TREES if make not in UNPACKED])
def test_rows_of_a_batch_are_packed_where_the_model_allows_it(models, make):
    assert try_trees(models(make), None, "hf:tried") == TreeUse(trees=True, packed=True)


def tokens_read(model, used, queries):
    """How many tokens the model is given for some queries."""
    seen = []
    hook = model.get_input_embeddings().register_forward_hook(
        lambda _, args, __: seen.append(args[0].numel())
    )
    try:
        used.score(queries)
    finally:
        hook.remove()
    return sum(seen)


def test_a_packed_pass_reads_no_padding_and_what_texts_begin_with_alike_once(models):
    model = models("llama")
    queries = [
        Query([5, 6, 7, 8, 9, 10], [[1], [2]]),
        Query([5, 6, 11, 12, 13], [[1], [2]]),
        Query([14, 15, 16, 17, 18], [[1], [2]]),
    ]
    packed, padded = TorchScorer(model, trees=True, packed=True), TorchScorer(model, trees=True)
    assert tokens_read(model, packed, queries) == 6 + 3 + 5
    assert tokens_read(model, padded, queries) == 3 * 6
    assert close(packed.score(queries), [reference(model, query) for query in queries], 1e-5)


def test_a_model_with_an_attention_of_its_own_reads_trees_that_are_padded(models, monkeypatch):
    model = models("llama")
    monkeypatch.setattr(model.config, "_attn_implementation", "eager")
    assert try_trees(model, None, "hf:tried") == TreeUse(trees=True, packed=False)
    queries = workload(8)
    expected = [reference(model, query) for query in queries]
    assert close(scorer(model).score(queries), expected, 1e-4)


def test_a_model_that_only_says_it_has_the_usual_attention_is_found_out(models, monkeypatch):
    """Its layers never ask for the function that would be given rows."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.modeling_utils import AttentionInterface

    model = models("llama")
    monkeypatch.setattr(AttentionInterface, "get_interface", lambda *_: sdpa_attention_forward)
    assert try_trees(model, None, "hf:tried") == TreeUse(trees=True, packed=False)


def test_attention_is_as_before_after_a_packed_pass_that_failed(models, monkeypatch):
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    model = models("llama")
    usual = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def fail(*_, **__):
        raise RuntimeError("no memory")

    monkeypatch.setattr(model.lm_head, "forward", fail)
    with pytest.raises(RuntimeError, match="no memory"):
        TorchScorer(model, trees=True, packed=True).score([Query([5, 6], [[7], [8]])])
    assert ALL_ATTENTION_FUNCTIONS["sdpa"] is usual


@pytest.mark.parametrize("make", PLAIN)
def test_a_model_that_may_not_be_asked_in_trees_is_asked_in_plain_rows_and_that_is_said(
    models, make
):
    with pytest.warns(ModelWarning, match="hf:tried is asked in plain rows") as said:
        assert not try_trees(models(make), None, "hf:tried").trees
    assert len(said) == 1
    with pytest.raises(ModelError, match="cannot be asked in trees"):
        try_trees(models(make), True, "hf:tried")
    assert not try_trees(models(make), False, "hf:tried").trees


def test_a_fault_in_trees_is_named_and_never_taken_for_an_answer(models, monkeypatch):
    def fail(*_):
        raise RuntimeError("no cache of this kind")

    monkeypatch.setattr(module, "read_prefix", fail)
    with pytest.warns(ModelWarning, match="it fails .no cache of this kind"):
        assert not try_trees(models("llama"), None, "hf:tried").trees


def test_a_fault_of_our_own_is_not_hidden(models, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "read_prefix", stop)
    with pytest.raises(KeyboardInterrupt):
        try_trees(models("llama"), None, "hf:tried")


def test_trees_that_are_off_by_a_little_are_found_out(models, monkeypatch):
    """A prefix whose last key is off by a tenth."""
    read = module.read_prefix

    def read_wrongly(*args):
        layers = read(*args)
        layers[0].keys = layers[0].keys * 1.1
        return layers

    monkeypatch.setattr(module, "read_prefix", read_wrongly)
    with pytest.warns(ModelWarning, match="hidden states differ by"):
        assert not try_trees(models("llama"), None, "hf:tried").trees


def test_a_user_may_ask_in_plain_rows(folders):
    item = Item(
        id="1",
        form="cloze",
        text="the ant is [MASK] than the house.",
        choices=("larger", "smaller"),
        gold=("smaller",),
    )
    plain, fast = (hf(str(folders("llama")), trees=wanted) for wanted in (False, None))
    assert (plain.scorer.trees, fast.scorer.trees) == (False, True)
    (one,), (other,) = plain.answer([item]), fast.answer([item])
    assert one.scores == pytest.approx(other.scores, abs=1e-5)
    assert plain.describe() == fast.describe()


def test_a_shared_prefix_is_computed_once_and_the_last_token_never(models):
    model = models("llama")
    examples = list(range(10, 110))
    queries = [Query([*examples, 200 + i, 5], [[1], [2], [3]]) for i in range(50)]
    for packed in (False, True):
        used = TorchScorer(model, trees=True, packed=packed)
        assert tokens_read(model, used, queries) == 100 + 50 * 2
        assert tokens_read(model, used, queries[:10]) == 10 * 2


def test_heads_that_share_keys_are_not_given_copies_of_them(monkeypatch):
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.integrations import sdpa_attention

    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 64, "vocab_size": 300}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(num_hidden_layers=2, **sizes, **heads)).eval()
    queries = [Query([*range(10, 60), 100 + i], [[1, 2], [1, 3], [4]]) for i in range(40)]
    expected = [reference(model, query) for query in queries]

    copied = []
    usual = sdpa_attention.repeat_kv
    monkeypatch.setattr(
        sdpa_attention, "repeat_kv", lambda *args: copied.append(args) or usual(*args)
    )
    used = scorer(model)
    found = used.score(queries)
    assert used.trees
    assert used.prefixes
    assert close(found, expected, 1e-5)
    assert not copied


def test_the_head_sees_only_wanted_places(models):
    model = models("llama")
    seen = []
    hook = model.get_output_embeddings().register_forward_hook(
        lambda _, args, __: seen.append(args[0].shape[1])
    )
    try:
        TorchScorer(model, trees=True).score(
            [Query(list(range(20)), [[i, 1], [i, 2]]) for i in range(7)]
        )
    finally:
        hook.remove()
    assert sum(seen) == 8  # the end of the one context, and one place after each first token


def test_a_text_beyond_the_sliding_window_is_scored_as_the_model_would(models):
    model = models("mistral, window")
    rng = random.Random(3)
    queries = [Query([rng.randrange(4, 400) for _ in range(60)], [[1, 2], [3]]) for _ in range(3)]
    assert close(scorer(model).score(queries), [reference(model, query) for query in queries], 1e-4)


@pytest.mark.parametrize("make", ["llama", "gpt2", "neox", "gemma2"])
def test_the_last_feed_forward_sees_only_the_tokens_that_are_asked_for(models, make):
    model = models(make)
    (last,) = [
        part
        for name, part in model.named_modules()
        if name.endswith(f".{model.config.num_hidden_layers - 1}.mlp")
    ]
    inner = next(
        part for part in last.modules() if not list(part.children()) and hasattr(part, "weight")
    )
    seen = []
    hook = inner.register_forward_pre_hook(
        lambda _, args: seen.append(args[0].reshape(-1, args[0].shape[-1]).shape[0])
    )
    try:
        TorchScorer(model, trees=True).score([Query([5, 6, 7, 8], [[9], [10], [11]])])
    finally:
        hook.remove()
    assert seen == [1]  # three choices of one token: one place, the end of the context


def small(architecture, **settings):
    """A small model that needs no tokenizer."""
    import transformers

    torch.manual_seed(5)
    shape = {"vocab_size": 400, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    with quiet():
        config = getattr(transformers, f"{architecture}Config")(**shape, **settings)
        kind = "LMHeadModel" if architecture == "XLNet" else "ForCausalLM"
        return getattr(transformers, f"{architecture}{kind}")(config).eval()


LAYERS = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
GROUPED = {
    **LAYERS,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "max_position_embeddings": 512,
}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
OTHERS = {
    "GptOss": {
        **GROUPED,
        **EXPERTS,
        "head_dim": 8,
        "sliding_window": 24,
    },  # experts last, sinks in the attention
    "Mixtral": {**GROUPED, **EXPERTS},
    "XGLM": {
        "d_model": 32,
        "ffn_dim": 48,
        "num_layers": 2,
        "attention_heads": 4,
        "init_std": 0.3,
    },  # wants whole masks
}


@pytest.mark.parametrize("architecture", OTHERS)
def test_other_architectures_are_scored_as_they_would(architecture):
    model = small(architecture, **OTHERS[architecture])
    queries = workload(4)
    assert try_trees(model, None, "hf:tried").trees
    assert close(scorer(model).score(queries), [reference(model, query) for query in queries], 1e-4)


def test_a_model_that_sees_what_comes_later_is_refused():
    model = small("XLNet", d_model=32, n_layer=2, n_head=4, d_inner=48)
    with pytest.raises(ModelError, match="not a decoder"):
        try_trees(model, False, "hf:tried")


def test_a_model_that_does_not_say_where_its_head_is_can_be_asked(models, monkeypatch):
    model = models("llama")
    queries = workload(5)[:12]
    wanted = [reference(model, query) for query in queries]
    monkeypatch.setattr(model, "get_output_embeddings", lambda: None)
    assert close(scorer(model).score(queries), wanted, 1e-4)


def test_long_texts_do_not_turn_the_rotary_embeddings_of_short_ones():
    rotary = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0] * 4,
        "long_factor": [4.0, 3, 2, 8],
    }
    settings = {**GROUPED, "original_max_position_embeddings": 32, "initializer_range": 0.15}
    model = small("Phi3", **settings, rope_parameters={**rotary, "factor": 16.0})
    rng = random.Random(6)
    queries = [
        Query([rng.randrange(4, 400) for _ in range(size)], [[5], [6, 7], [8, 9]])
        for size in (5, 20, 41, 60, 40)
    ]
    together = scorer(model).score(queries)
    assert close(together, [scorer(model).score([query])[0] for query in queries], 1e-5)
    assert close(together, [reference(model, query) for query in queries], 1e-4)


def test_a_long_text_and_many_choices_take_little_at_a_time(models):
    model = models("llama")
    rng = random.Random(7)
    shapes = []

    def note(_, args, kwargs):
        mask = kwargs.get("attention_mask")
        shapes.append((0 if mask is None else mask[0].numel(), kwargs["input_ids"].numel()))

    long = Query([rng.randrange(4, 400) for _ in range(4000)], [[1, 2, 3], [4, 5, 6]])
    many = Query([7, 8, 9, 10], [[rng.randrange(4, 400) for _ in range(3)] for _ in range(300)])
    tree_scorer = TorchScorer(model, trees=True)
    hook = model.register_forward_pre_hook(note, with_kwargs=True)
    try:
        scores = tree_scorer.score([long, many])
    finally:
        hook.remove()
    assert max(mask for mask, _ in shapes) < 300_000  # not 4,000 times 4,000
    assert max(tokens for mask, tokens in shapes if mask) <= 2 * tree_scorer.outputs
    assert not tree_scorer.prefixes  # what one text alone begins with is not kept
    assert close(scores, [reference(model, long), reference(model, many)], 1e-4)
