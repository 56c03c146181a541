"""What is held out shares neither picture nor text with what is trained on."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.train.captions.files import CorpusCaption, split

TEXTS = st.sampled_from([f"a cat number {number}" for number in range(12)] + ["A CAT number 3"])
IMAGES = st.sampled_from([str(number) for number in range(15)])


@given(st.lists(st.builds(CorpusCaption, TEXTS, IMAGES), max_size=60), st.integers(0, 9))
def test_no_text_and_no_picture_is_in_both_parts(captions, seed):
    chosen = split(captions, 0.3, 1000, seed)
    trained = [caption for caption in captions if chosen.part(caption) == "training"]
    held_out = [caption for caption in captions if chosen.part(caption) == "held out"]
    texts = {caption.text.casefold() for caption in trained}
    assert texts.isdisjoint(caption.text.casefold() for caption in held_out)
    assert {each.image for each in trained}.isdisjoint(each.image for each in held_out)


@given(st.lists(st.builds(CorpusCaption, TEXTS, st.just("")), max_size=60), st.integers(0, 9))
def test_without_pictures_each_text_is_in_one_part(captions, seed):
    chosen = split(captions, 0.3, 1000, seed)
    parts = {}
    for caption in captions:
        part = parts.setdefault(caption.text.casefold(), chosen.part(caption))
        assert chosen.part(caption) == part != "shared"


@given(st.lists(st.builds(CorpusCaption, TEXTS, IMAGES), max_size=80), st.integers(1, 20))
def test_at_most_so_many_captions_are_held_out(captions, most):
    chosen = split(captions, 0.9, most, seed=1)
    held_out = [caption for caption in captions if chosen.part(caption) == "held out"]
    assert len(held_out) <= most


def test_a_share_of_the_pictures_is_held_out_and_depends_on_the_seed():
    captions = [CorpusCaption(f"a cat number {number}", str(number)) for number in range(2000)]

    def held_out(seed):
        chosen = split(captions, 0.1, 1000, seed)
        return {each.image for each in captions if chosen.part(each) == "held out"}

    assert 150 < len(held_out(1)) < 250
    assert held_out(1) == held_out(1) != held_out(2)
