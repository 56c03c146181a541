"""A folder or a file is a model by what is in it."""

import pytest

from gnomon.errors import ModelError, UsageError
from gnomon.registry import named_model


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = {
        "tiny-llama": ["config.json"],
        "lora": ["adapter_config.json"],
        "probe": ["probe.json", "model.safetensors"],
        "quantised": ["q4.gguf", "mmproj-q8.gguf"],
        "both": ["config.json", "q4.gguf"],
        "empty": [],
    }
    for folder, files in folders.items():
        (tmp_path / folder).mkdir()
        for file in files:
            (tmp_path / folder / file).touch()
    (tmp_path / "q4.gguf").touch()
    (tmp_path / "answers.jsonl").touch()
    (tmp_path / "notes.md").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("./tiny-llama", "hf:tiny-llama"),
        ("tiny-llama", "hf:tiny-llama"),
        ("./lora", "hf:lora"),
        ("probe", "probe"),  # a scheme counts before a folder of its name
        ("./probe", "probe:probe"),
        ("quantised", "gguf:quantised/q4.gguf"),
        ("q4.gguf", "gguf:q4.gguf"),
        ("answers.jsonl", "answers:answers.jsonl"),
        ("random", "random"),
        ("hf:gpt2", "hf:gpt2"),
    ],
)
def test_what_is_there_says_which_kind_it_is(here, text, spec):
    assert named_model(text).spec == spec
    assert named_model(f"Mine={text}") == ("Mine", spec)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./both", "could be hf:both or gguf:both/q4.gguf"),
        ("./empty", "says what kind of model"),
        ("notes.md", "says what kind of model"),
        ("./tiny-lama", "Did you mean tiny-llama"),
        ("./nothing/at/all", "There is no file or folder"),
    ],
)
def test_what_cannot_be_told_is_said(here, text, words):
    with pytest.raises(UsageError) as told:
        named_model(text)
    assert words in str(told.value)


def test_a_hub_name_like_a_folder_here_is_told_the_folder_before_the_hub_is_asked(
    here, monkeypatch
):
    pytest.importorskip("huggingface_hub")
    from gnomon.models.transformers.checkpoint import check_no_slip

    with pytest.raises(ModelError, match="Did you mean hf:tiny-llama"):
        check_no_slip("tiny-lama")
    check_no_slip("gpt2")
    check_no_slip("tiny-llama")
