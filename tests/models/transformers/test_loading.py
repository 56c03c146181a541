"""Safe loading: no pickle, no stranger's code, a pinned revision, errors that say what to do."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import msgspec
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from gnomon.errors import MissingExtraError, ModelError, UsageError
from gnomon.models.transformers import loading
from gnomon.models.transformers.hf import hf

OPTIONS = [name for name in inspect.signature(hf).parameters if name != "name"]


def copy(folder, target):
    return shutil.copytree(folder, target / "copy")


def python(code, **environment):
    """What a fresh process prints."""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_pickle(folder):
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def test_pickled_weights_are_refused_unless_allowed(folders, tmp_path):
    folder = copy(folders("gpt2"), tmp_path)
    as_pickle(folder)
    with pytest.raises(ModelError, match="pickle") as caught:
        hf(str(folder))
    assert "--set", "allow_pickle=yes" in caught.value.hint
    assert hf(str(folder), allow_pickle=True).describe()["architecture"] == "GPT2LMHeadModel"


def test_a_models_own_code_runs_only_when_trusted(folders, tmp_path):
    folder = copy(folders("llama"), tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "own",
        "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    with pytest.raises(ModelError, match="code of its own") as caught:
        hf(str(folder))
    assert "--set", "trust_remote_code=yes" in caught.value.hint
    assert not (tmp_path / "ran").exists()


def test_an_albert_with_berts_words_gets_berts_tokenizer(folders, tmp_path):
    """As kykim/albert-kor-base and others are published: no tokenizer's class, and only a list of
    words."""
    folder = copy(folders("albert"), tmp_path)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "the",
        "ant",
        "is",
        "larger",
        "smaller",
        ".",
    ]
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "vocab.txt").write_text("\n".join(words))
    model = hf(str(folder))
    assert model.tokenizer("The ant is larger.")["input_ids"] == [2, 5, 6, 7, 8, 10, 3]


def test_a_tokenizer_without_words_is_refused(folders, tmp_path):
    folder = copy(folders("albert"), tmp_path)
    for file in folder.glob("*token*"):
        file.unlink()
    with pytest.raises(ModelError, match="knows no words") as caught:
        hf(str(folder))
    assert "vocab.txt" in caught.value.hint


def test_a_folder_is_pinned_by_its_content(folders, tmp_path):
    folder = copy(folders("llama"), tmp_path)
    first = hf(str(folder)).describe()["revision"]
    assert first == hf(str(folders("llama"))).describe()["revision"]
    assert first.startswith("content:")
    described = hf(str(folder)).describe()
    assert (
        msgspec.json.decode(msgspec.json.encode(described)) == described
    )  # plain JSON, as the manifest needs it
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(bytes(weights))
    assert hf(str(folder)).describe()["revision"] != first


def test_a_missing_model_says_what_to_do(monkeypatch, tmp_path):
    with pytest.raises(ModelError) as caught:
        hf(str(tmp_path / "nothing"))
    assert "config.json" in caught.value.hint
    with pytest.raises(UsageError, match="name of a model"):
        hf("")


def test_offline_is_honoured_and_named(tmp_path):
    code = (
        "from gnomon.models.transformers.hf import hf\nfrom gnomon.errors import ModelError\n"
        "try:\n    hf('nobody/nothing')\nexcept ModelError as error:\n    print(error.hint)\n"
    )
    assert "HF_HUB_OFFLINE is set" in python(code, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))


def test_missing_libraries_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="hf"):
        hf("gpt2")


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("LlamaForCausalLM", "causal"),
        ("GPT2LMHeadModel", "causal"),
        ("RobertaForMaskedLM", "masked"),
        ("BertForPreTraining", "masked"),
        ("DebertaV2ForSequenceClassification", "nli"),
    ],
)
def test_the_kind_is_read_from_the_architecture(architecture, kind):
    assert loading.kind_of(SimpleNamespace(architectures=[architecture]), "x") == kind


def test_an_unknown_architecture_asks_for_the_kind():
    assert (
        loading.kind_of(SimpleNamespace(architectures=["T5Model"], is_encoder_decoder=True), "x")
        == "seq2seq"
    )
    with pytest.raises(UsageError, match="BertModel"):
        loading.kind_of(SimpleNamespace(architectures=["BertModel"]), "x")


@pytest.mark.parametrize("kind", ["gpt2", "llama"])  # tied, and not
def test_parameters_are_counted_once_where_they_are_tied_and_before_they_are_quantised(
    folders, kind
):
    from safetensors import safe_open

    folder = folders(kind)
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        stored = sum(file.get_tensor(name).numel() for name in file.keys())  # noqa: SIM118 - it is no mapping
    assert hf(str(folder)).describe()["parameters"] == stored
    assert hf(str(folder), quantise="int8").describe()["parameters"] == stored


@pytest.mark.parametrize(
    ("make", "options", "says"),
    [
        ("llama", {"top_k": 1}, "causal, which takes no top_k"),
        ("bert", {"ask": "generate", "chat": True}, "masked, which takes no ask, chat"),
        ("t5", {"span": "pll"}, "seq2seq, which takes no span"),
    ],
)
def test_an_option_that_a_kind_does_not_follow_is_refused(folders, make, options, says):
    with pytest.raises(UsageError, match=says):
        hf(str(folders(make)), **options)


def test_every_option_is_explained_on_a_line_of_its_own():
    lines = [line.split(maxsplit=1) for line in inspect.getdoc(hf).splitlines()]
    explained = [words[0] for words in lines if words and words[0] in OPTIONS]
    assert len(OPTIONS) > 15
    assert explained == OPTIONS


def test_threads_are_set_and_restored():
    before = torch.get_num_threads()
    try:
        loading.set_threads(1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_importing_the_factory_loads_no_torch():
    code = "import sys, gnomon.models.transformers.hf; print([m for m in ('torch', 'transformers', 'numpy') if m in sys.modules])"
    assert python(code).strip() == "[]"


def break_weights(folder, content):
    (folder / "model.safetensors").write_bytes(content)


def break_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


BROKEN = {
    "damaged weights": (lambda f: break_weights(f, bytes(64)), "cannot be read", "fetch it again"),
    "a pointer of git lfs": (
        lambda f: break_weights(f, b"version https://git-lfs"),
        "cannot be read",
        "git lfs pull",
    ),
    "no weights": (
        lambda f: (f / "model.safetensors").unlink(),
        "holds no weights",
        ".safetensors",
    ),
    "weights of other shapes": (lambda f: break_config(f, hidden_size=64), "other shapes", "again"),
    "layers that are not there": (
        lambda f: break_config(f, num_hidden_layers=3),
        "at random",
        "trained for this",
    ),
    "an unknown architecture": (
        lambda f: break_config(f, model_type="quux"),
        "does not know",
        "Update",
    ),
    "a config that makes no sense": (
        lambda f: break_config(f, num_attention_heads=0),
        "cannot be loaded",
        "config",
    ),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "no tokenizer", "tokenizer.json"),
    "half a tokenizer": (
        lambda f: (f / "tokenizer.json").write_text('{"model": {}}'),
        "cannot be loaded",
        "tokenizer",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_folder_is_an_error_that_says_what_to_do(folders, tmp_path, what):
    break_it, message, advice = BROKEN[what]
    folder = copy(folders("llama"), tmp_path)
    break_it(folder)
    with pytest.raises(ModelError, match=message) as caught:
        hf(str(folder))
    assert advice in caught.value.hint


def test_a_model_without_the_part_that_answers_is_refused(folders, tmp_path):
    from transformers import AutoTokenizer, ElectraConfig, ElectraForPreTraining

    with loading.quiet():
        config = ElectraConfig(
            vocab_size=500, embedding_size=16, hidden_size=32, num_hidden_layers=1
        )
        ElectraForPreTraining(config).save_pretrained(
            tmp_path
        )  # a discriminator: it fills no blanks
        AutoTokenizer.from_pretrained(folders("electra")).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="kind masked, it would answer at random"):
        hf(str(tmp_path))
    with pytest.raises(ModelError, match=r"score\.weight"):
        hf(str(folders("llama")), kind="nli", labels="entailment,contradiction")


def test_deberta_is_loaded_with_the_head_of_its_pre_training(folders, tmp_path):
    from transformers import AutoTokenizer, DebertaV2Config

    shape = {"vocab_size": 500, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    with loading.quiet():
        from transformers import (
            DebertaV2ForMaskedLM,  # its module warns of torch.jit when it is first imported
        )

        made = DebertaV2ForMaskedLM(DebertaV2Config(**shape, intermediate_size=48, legacy=False))
        made.save_pretrained(tmp_path)
        AutoTokenizer.from_pretrained(folders("deberta")).save_pretrained(tmp_path)
    break_config(tmp_path, legacy=True)  # published configs say nothing, which means this
    loaded = hf(str(tmp_path)).model
    for key, value in made.state_dict().items():
        if key.startswith("lm_predictions."):
            assert torch.equal(value, loaded.state_dict()[key])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cuda:9000"}, "no device"),
        ({"device": "toaster"}, "no device"),
        ({"threads": -1}, "threads"),
    ],
)
def test_what_the_machine_does_not_have_is_named(folders, options, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match=message):
        hf(str(folders("llama")), **options)


def test_a_folder_that_is_not_there_and_a_wrong_kind_are_said_plainly(
    folders, tmp_path, monkeypatch
):
    with pytest.raises(ModelError, match="no such folder"):
        hf(str(tmp_path / "nowhere"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ModelError, match="no such folder"):
        hf("~/nowhere")
    with pytest.raises(ModelError, match="not a model of the kind") as caught:
        hf(str(folders("llama")), kind="masked")
    assert "Leave kind out" in caught.value.hint


def test_a_gated_model_says_how_to_get_in():
    from gnomon.models.transformers.checkpoint import explained

    with (
        pytest.raises(ModelError, match="let in") as caught,
        explained("some/model", allow_pickle=False),
    ):
        raise OSError(
            "You are trying to access a gated repo.\nMake sure to have access to it at the hub."
        )
    assert "hf auth login" in caught.value.hint


def test_nobody_is_told_which_model_is_loaded(monkeypatch):
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY", raising=False)
    code = (
        "import gnomon.models.transformers.loading\n"
        "from huggingface_hub import constants\n"
        "print(constants.HF_HUB_DISABLE_TELEMETRY)"
    )
    assert python(code).strip() == "True"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_pipe_among_a_models_files_is_refused_and_nobody_waits(folders, tmp_path, name):
    folder = copy(folders("gpt2"), tmp_path)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(ModelError, match="a pipe or a device"):
        hf(str(folder))
