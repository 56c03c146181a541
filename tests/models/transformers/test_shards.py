"""A real model, small, asked in eight shards: merged, they are the run that was never divided."""

from __future__ import annotations

import pytest

import gnomon

pytest.importorskip("transformers")


def test_eight_shards_of_a_real_model_merged_equal_one_run(folders, tmp_path):
    model = gnomon.model(f"hf:{folders('llama')}", device="cpu")
    source = gnomon.load("scales", pairs=20)
    whole = gnomon.run(source, model, limit=64, runs=tmp_path / "whole")
    shards = []
    for number in range(1, 9):
        run = gnomon.run(source, model, limit=64, shard=f"{number}/8", runs=tmp_path / "shards")
        shards.append(run)
    merged = gnomon.merge(*shards)

    assert merged.manifest.items_sha256 == whole.manifest.items_sha256
    assert merged.manifest.model_description == whole.manifest.model_description
    pairs = list(zip(merged.rows(), whole.rows(), strict=True))
    assert len(pairs) == 64
    for (item, mine), (other, theirs) in pairs:
        assert item == other
        assert mine.choice == theirs.choice is not None
        assert mine.scores == pytest.approx(theirs.scores, abs=1e-5)
    values = [score.value for score in gnomon.score(merged)]
    assert values == [score.value for score in gnomon.score(whole)]
