"""Captions become tokens on disk once; what they become is told."""

import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import DataError
from gnomon.train.captions.corpus import CorpusRequest, open_corpus

WANTED = {
    "tokenizer": "",
    "vocabulary": 200,
    "reads": 16,
    "longest": 14,
    "least_words": 2,
    "held_out": 0.15,
    "most_held_out": 1000,
    "seed": 0,
}


def opened(*files, **changes):
    return open_corpus(CorpusRequest(files=files, **{**WANTED, **changes}))


def texts(corpus, part):
    captions = getattr(corpus, part)
    return {corpus.tokenizer.decode(captions[number]) for number in range(len(captions))}


def test_no_caption_held_out_is_trained_on(file):
    corpus = opened(file)
    trained = texts(corpus, "training")
    assert len(trained) > 20
    for part in ("development", "test"):
        assert texts(corpus, part)
        assert texts(corpus, part).isdisjoint(trained)
    assert texts(corpus, "development").isdisjoint(texts(corpus, "test"))


def test_a_picture_does_not_both_choose_and_test(tmp_path):
    rows = []
    for picture in range(100, 160):
        for number in range(4):
            caption = {"caption": f"{picture} is seen {number}", "image": str(picture)}
            rows.append(json.dumps(caption))
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    corpus = opened(tmp_path / "a.jsonl", held_out=0.5)
    chosen = {text.split()[0] for text in texts(corpus, "development")}
    tested = {text.split()[0] for text in texts(corpus, "test")}
    assert min(len(chosen), len(tested)) > 5
    assert chosen.isdisjoint(tested)


def test_every_caption_is_accounted_for(file):
    with file.open("a") as stream:
        stream.write('\n{"caption": "Cat."}\n{"caption": 7}\n')
    facts = opened(file, held_out=0.3).facts
    assert (facts.captions, facts.short, facts.damaged) == (145, 1, 1)
    assert facts.damages[0].startswith(f"{file}, line 146: ")
    assert facts.shared > 0
    # of 72 texts each is said twice; a text held out is counted once, its other half is shared
    assert facts.training + facts.shared + facts.development + facts.test <= 144
    assert facts.training % 2 == 0


def test_the_corpus_is_made_once_and_again_for_other_settings(file, monkeypatch):
    first = opened(file)
    monkeypatch.setattr("gnomon.train.captions.corpus.make_corpus", None)
    again = opened(file)
    assert np.array_equal(first.training.tokens, again.training.tokens)
    with pytest.raises(TypeError):
        opened(file, seed=1)


def test_what_a_killed_process_left_is_removed(file):
    folder = open_corpus(CorpusRequest(files=(file,), **WANTED))
    made = next(Path("cache/captions").iterdir())
    other = made.with_name(f"{made.name}.999999999")
    made.rename(other)
    assert len(opened(file).training) == len(folder.training)
    assert not other.exists()


def test_a_tokenizer_can_be_reused(file, tmp_path):
    first = opened(file)
    first.tokenizer.save_pretrained(tmp_path / "mine")
    other = tmp_path / "other.txt"
    other.write_text("\n".join(f"The {word} zebra is on the table." for word in "abcdefghij" * 5))
    reused = opened(other, tokenizer=str(tmp_path / "mine"), held_out=0.4)
    assert reused.tokenizer.get_vocab() == first.tokenizer.get_vocab()
    assert max(reused.training.tokens) < len(first.tokenizer)


def test_the_tokenizer_never_saw_what_is_held_out(tmp_path):
    rows = [json.dumps({"caption": f"The cat sees w{n:03}x.", "image": str(n)}) for n in range(60)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    corpus = opened(tmp_path / "a.jsonl", vocabulary=5000)
    known = {word for word in corpus.tokenizer.get_vocab() if len(word) == 5 and word[0] == "w"}
    assert len(known) == corpus.facts.training
    assert not known & set(" ".join(texts(corpus, "test")).split())


def test_long_captions_are_cut_and_short_rows_have_no_gap(file, tmp_path):
    (tmp_path / "long.txt").write_text("\n".join(f"The cat {'is ' * 40}x{n}" for n in range(30)))
    corpus = opened(tmp_path / "long.txt", held_out=0.3)
    assert set(corpus.training.sizes) == {14}


def test_too_few_captions_are_refused(tmp_path):
    (tmp_path / "few.txt").write_text("The cat sits.\n")
    with pytest.raises(DataError, match=r"held out|train on"):
        opened(tmp_path / "few.txt")


def test_memory_does_not_grow_with_the_file(file, tmp_path):
    import tracemalloc

    from gnomon.train.captions.corpus import _Making

    opened(file).tokenizer.save_pretrained(tmp_path / "tokenizer")

    def peak(lines):
        place = tmp_path / f"{lines}.txt"
        place.write_text("\n".join(f"The cat {number} is on the table." for number in range(lines)))
        own = {"tokenizer": str(tmp_path / "tokenizer"), "held_out": 0.2, "most_held_out": 100}
        wanted = CorpusRequest(files=(place,), **{**WANTED, **own})
        (tmp_path / f"made-{lines}").mkdir()
        tracemalloc.start()
        facts = _Making(wanted).write(tmp_path / f"made-{lines}")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert facts.training > 0.98 * lines - 100
        return most

    assert peak(8000) < 1.5 * peak(2000)
