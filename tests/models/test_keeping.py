"""Weights stay loaded while a command asks one model in many ways, and no longer."""

from __future__ import annotations

import pytest

from gnomon.models.machine import is_kept, keeping_models, kept


class Weights:
    closed = False

    def close(self):
        self.closed = True


def test_what_was_loaded_is_not_loaded_again_while_models_are_kept():
    with keeping_models():
        one = kept("a", Weights)
        assert kept("a", Weights) is one
        assert kept("b", Weights) is not one
        assert is_kept(one)
        assert not one.closed
    assert one.closed, "at the end it is"
    assert not is_kept(one)


def test_without_keeping_each_model_is_loaded_by_itself():
    assert kept("a", Weights) is not kept("a", Weights)


def test_a_model_of_transformers_is_loaded_once_for_all_wordings(folders, monkeypatch):
    pytest.importorskip("torch")
    from gnomon.models.transformers import hf as module

    loaded = []
    load = module.load

    def counting(name, how):
        loaded.append(name)
        return load(name, how)

    monkeypatch.setattr(module, "load", counting)
    name = str(folders("bert"))
    with keeping_models():
        models = [module.hf(name, wording=wording) for wording in (1, 2, 3)]
    assert loaded == [name]
    described = [model.describe()["prompt"] for model in models]
    assert [prompt.get("wording", 1) for prompt in described] == [1, 2, 3]
