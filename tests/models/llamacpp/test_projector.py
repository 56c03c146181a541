"""A model of llama.cpp with eyes: a picture is computed once, and scores are those of a fresh pass."""

from __future__ import annotations

import random
import struct
import weakref
from types import SimpleNamespace

import pytest

from gnomon.cli.dispatch import main
from gnomon.contracts import Benchmark
from gnomon.errors import ModelError, RunError
from gnomon.items.source import ItemSource
from gnomon.models.llamacpp import library, projector
from gnomon.models.llamacpp.gguf import gguf
from gnomon.records import Image, Item
from gnomon.registry import model as named
from gnomon.runs import running

pytest.importorskip("xllamacpp")
pytest.importorskip("PIL")
CLOSE = 2e-3  # nats: llama.cpp adds up 16-bit numbers in another order; pictures differ by far more
CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
CHAT_IN_PARTS = (
    "{% for m in messages %}<{{ m.role }}>"
    "{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory, write_model, write_eyes):
    folder = tmp_path_factory.mktemp("eyes")
    return SimpleNamespace(
        model=write_model(folder / "model.gguf", context=512, layers=2, spread=0.2),
        eyes=write_eyes(folder / "mmproj.gguf"),
        others=write_eyes(folder / "other.gguf", seed=1),
    )


@pytest.fixture
def opened():
    """A function that opens a model and closes it after the test."""
    models = []

    def start(file, **options):
        models.append(gguf(str(file), threads=1, **options))
        return models[-1]

    yield start
    for model in models:
        model.close()


@pytest.fixture
def seeing(opened, files):
    return opened(files.model, mmproj=str(files.eyes), prompt="plain")


def caption(name, *images, text="ant is larger than a bird."):
    return Item(
        id=name,
        form="caption",
        text=text,
        choices=("False", "True"),
        gold=("True",),
        images=images,
    )


def captions(images):
    """Three captions for each picture."""
    found = []
    for place, image in enumerate(images):
        for animal in ("ant", "cat", "bird"):
            found.append(caption(f"{place} {animal}", image, text=f"{animal} is smaller."))
    return found


def scores(model, items):
    found = {}
    for answer in model.answer(items):
        assert answer.error is None
        found[answer.item] = answer.scores
    return found


def fresh_scores(model, items):
    """Each item alone, and nothing kept from the one before."""
    found = {}
    for item in items:
        model.llama.forget()
        found |= scores(model, [item])
    return found


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for item, values in found.items():
        assert values == pytest.approx(expected[item], abs=CLOSE)


@pytest.mark.parametrize("normalise", ["sum", "pmi"])
def test_scores_are_those_of_a_fresh_pass_in_any_order_and_batch(opened, files, photo, normalise):
    model = opened(files.model, mmproj=str(files.eyes), normalise=normalise)
    items = captions([photo(number) for number in range(4)])
    expected = fresh_scores(model, items)
    assert_same(scores(model, items), expected)
    shuffled = random.Random(1).sample(items, len(items))
    for size in (1, 5, len(items)):
        found = {}
        for begin in range(0, len(items), size):
            found |= scores(model, shuffled[begin : begin + size])
        assert_same(found, expected)


def test_a_picture_is_computed_once_for_all_its_questions(seeing, photo):
    images = [photo(number) for number in range(3)]
    items = captions(images)
    seeing.answer(random.Random(1).sample(items, len(items)))
    assert seeing._eyes.shown == 3
    seeing.answer([caption("again", images[-1])])
    assert seeing._eyes.shown <= 4


def test_a_picture_in_the_cache_is_not_computed_again_in_the_next_batch(seeing, photo):
    image = photo(1)
    for batch in captions([image]):
        seeing.answer([batch])
    assert seeing._eyes.shown == 1


def test_another_picture_gives_other_scores(seeing, photo):
    first, second = (scores(seeing, [caption("1", photo(number))])["1"] for number in (1, 2))
    blind = scores(seeing, [caption("1")])["1"]
    for one, other in ((first, second), (first, blind)):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) > 0.02


def test_a_picture_that_changes_on_disk_is_seen_anew(seeing, photo):
    before = scores(seeing, [caption("1", Image(path=photo(1).path))])["1"]
    photo(2)
    changed = photo(1, (60, 90))
    after = scores(seeing, [caption("1", Image(path=changed.path))])["1"]
    assert before != after
    assert seeing._eyes.shown == 2


def test_several_pictures_count_each_and_in_their_order(seeing, photo):
    first, second, third = (photo(number) for number in range(3))
    shown = [(first, second), (first, third), (second, first), (first, first), (first,)]
    items = [caption(str(place), *images) for place, images in enumerate(shown)]
    found = scores(seeing, items)
    assert len(set(found.values())) == len(items)
    assert_same(found, fresh_scores(seeing, items))


@pytest.mark.parametrize(
    ("architecture", "kind", "side"),
    [
        ("qwen2vl", "qwen2vl_merger", 64),  # a picture takes fewer positions than tokens
        ("llama", "gemma3", 256),  # the parts of a picture see each other
    ],
)
def test_other_kinds_of_eyes_share_pictures_too(
    opened, write_model, write_eyes, tmp_path, photo, architecture, kind, side
):
    file = write_model(
        tmp_path / "m.gguf", architecture=architecture, context=512, layers=2, spread=0.2
    )
    eyes = write_eyes(tmp_path / "eyes.gguf", kind=kind, side=side)
    model = opened(file, mmproj=str(eyes))
    first, second, third = photo(1, (200, 100)), photo(2, (100, 180)), photo(3)
    shown = [(first,), (first, second), (first, third), (second,)]
    items = [caption(str(place), *images) for place, images in enumerate(shown)]
    expected = fresh_scores(model, items)
    assert len(set(expected.values())) == len(items)
    model.llama.forget()
    before = model._eyes.shown
    assert_same(scores(model, items), expected)
    assert model._eyes.shown == before + 4, "the picture that three begin with is computed once"
    assert model.describe()["mmproj"]["projector"] == kind


def test_the_window_counts_the_tokens_of_a_picture_where_it_has_fewer_positions(
    opened, write_model, write_eyes, tmp_path, photo
):
    file = write_model(tmp_path / "m.gguf", architecture="qwen2vl", context=512)
    eyes = write_eyes(tmp_path / "eyes.gguf", kind="qwen2vl_merger")
    model = opened(file, mmproj=str(eyes), context=300)
    large = [photo(number, (800, 600)) for number in range(2)]
    answers = model.answer([caption("1", photo(3)), caption("2", *large)])
    assert answers[0].scores is not None
    assert "tokens, the model takes 300" in answers[1].error


def test_a_picture_that_must_be_computed_at_once_and_cannot_be_is_an_error(
    opened, files, write_eyes, tmp_path, photo, monkeypatch
):
    eyes = write_eyes(tmp_path / "eyes.gguf", kind="gemma3", side=256)
    model = opened(files.model, mmproj=str(eyes))
    monkeypatch.setattr(projector, "CHUNK", 8)
    with_picture, without = model.answer([caption("1", photo(1)), caption("2")])
    assert with_picture.error == "the picture takes 16 tokens at once, at most 8 can be"
    assert without.scores is not None


def test_what_two_questions_show_first_is_computed_once(seeing, photo):
    first, second, third = (photo(number) for number in range(3))
    seeing.answer([caption("1", first, second), caption("2", first, third)])
    assert seeing._eyes.shown == 3


def test_items_with_and_without_pictures_are_asked_together(opened, seeing, files, photo):
    items = [caption("1", photo(1)), caption("2"), caption("3", photo(2))]
    blind = opened(files.model)
    assert "image" in seeing.takes
    assert "image" not in blind.takes
    assert scores(seeing, items)["2"] == pytest.approx(scores(blind, items[1:2])["2"], abs=CLOSE)
    assert [answer.item for answer in seeing.answer(items)] == ["1", "2", "3"]


def test_replies_depend_on_the_picture_and_not_on_the_batch(
    opened, files, write_model, tmp_path, photo
):
    file = write_model(tmp_path / "m.gguf", context=512, layers=2, spread=0.4)
    model = opened(file, mmproj=str(files.eyes), ask="generate", new_tokens=12, prompt="plain")
    items = [caption(str(number), photo(number)) for number in range(8)]
    together = [answer.reply for answer in model.answer(items)]
    alone = []
    for item in items:
        model.llama.forget()
        alone += [answer.reply for answer in model.answer([item])]
    assert together == alone
    assert len(set(together)) > 1


@pytest.mark.parametrize("template", [CHAT, CHAT_IN_PARTS])
@pytest.mark.parametrize("ask", ["score", "generate"])
def test_in_a_conversation_the_picture_opens_the_question(
    opened, files, write_model, tmp_path, photo, template, ask
):
    file = write_model(tmp_path / "chat.gguf", context=512, template=template)
    model = opened(file, mmproj=str(files.eyes), ask=ask, new_tokens=4, prompt="chat")
    (answer,) = model.answer([caption("1", photo(1))])
    assert answer.scores or answer.reply
    path = model.llama.cached
    start = path.index(-1)
    assert path[start : start + 16] == [-1] * 16
    assert model.llama.text(path[:start]).endswith("<user>")
    assert "ant is larger than a bird." in model.llama.text(path[start + 16 :])


@pytest.mark.parametrize("ask", ["score", "generate"])
def test_a_template_that_ends_with_the_picture_is_an_error(
    opened, files, write_model, tmp_path, photo, ask
):
    only_sign = "{% for m in messages if m.role == 'user' %}{{ m.content[:13] }}{% endfor %}"
    file = write_model(tmp_path / "m.gguf", context=512, template=only_sign)
    model = opened(file, mmproj=str(files.eyes), ask=ask)
    with pytest.raises(ValueError, match="no text between the picture and the answer"):
        model.answer([caption("1", photo(1))])


def test_a_text_that_holds_the_sign_of_a_picture_is_refused(seeing, photo):
    item = caption("1", photo(1), text=f"{projector.SIGN} is larger.")
    with pytest.raises(ValueError, match="2 signs for 1 pictures"):
        seeing.answer([item])
    assert scores(seeing, [caption("2", text=item.text)]), "without a picture it is a text"


def test_a_picture_counts_in_the_window(opened, files, photo):
    blind = opened(files.model, context=80)
    model = opened(files.model, context=80, mmproj=str(files.eyes))
    item = caption("1", photo(1), photo(2), photo(3), photo(4))
    (answer,) = model.answer([item])
    assert "tokens, the model takes 80" in answer.error
    assert blind.answer([item])[0].error is None


def test_a_picture_that_cannot_be_shown_is_the_error_of_its_items(seeing, photo, tmp_path):
    sound, cut, huge = photo(1), photo(2, (300, 300)), photo(3)
    with open(cut.path, "r+b") as stream:
        stream.truncate(600)
    with open(huge.path, "r+b") as stream:
        stream.seek(16)
        stream.write((60_000).to_bytes(4) * 2)  # what its header claims
    shown = [
        (Image(path=cut.path),),
        (sound,),
        (sound, Image(path=str(tmp_path / "gone.png"))),
        (Image(path=huge.path),),
        (Image(path=sound.path, sha256="0" * 64),),
        (sound,),
    ]
    items = [caption(str(place), *images) for place, images in enumerate(shown)]
    answers = seeing.answer(items)
    assert [answer.item for answer in answers] == [item.id for item in items]
    assert [answer.scores is not None for answer in answers] == [0, 1, 0, 0, 0, 1]
    for answer, reason in zip(
        answers, ("damaged", None, "No such", "not", "not the one", None), strict=True
    ):
        assert reason is None or reason in answer.error
    assert answers[1].scores == answers[5].scores


def test_few_pictures_are_in_memory_at_a_time(seeing, photo, monkeypatch):
    alive, most = set(), []
    usual = projector.pixels

    def watched(image):
        picture = usual(image)
        alive.add(id(picture))
        most.append(len(alive))
        weakref.finalize(picture, alive.discard, id(picture))
        return picture

    monkeypatch.setattr(projector, "pixels", watched)
    images = [photo(number) for number in range(20)]
    seeing.answer(captions(images))
    assert len(most) == 20
    assert max(most) <= projector.AHEAD + 2
    assert not seeing._eyes._chunks


def test_the_manifest_names_the_projector(seeing, files):
    about = seeing.describe()["mmproj"]
    assert about["file"] == "mmproj.gguf"
    assert about["projector"] == "mlp"
    assert len(about["sha256"]) == 64


def test_a_run_notices_another_projector(files, photo, tmp_path):
    items = [caption("1", photo(1))]
    benchmark = Benchmark(name="shown", summary="", sources={"fresh": lambda: items})
    source = ItemSource(benchmark, "fresh")
    eyes = tmp_path / "mmproj.gguf"
    eyes.write_bytes(files.eyes.read_bytes())
    model = named(f"gguf:{files.model}", mmproj=str(eyes))
    run = running.run(source, model, runs=tmp_path / "runs")
    assert str(eyes) in run.manifest.model_files
    assert running.run(source, model, runs=tmp_path / "runs").path == run.path
    eyes.write_bytes(files.others.read_bytes())
    with pytest.raises(RunError, match="mmproj"):
        running.run(source, model, runs=tmp_path / "runs")


def test_the_command_line_has_a_flag_for_it(files, tmp_path, capsys):
    gone = str(tmp_path / "gone.gguf")
    assert main(["run", "scales", "-m", f"gguf:{files.model}", "--set", f"mmproj={gone}"]) == 1
    assert "gone.gguf: there is no such file." in capsys.readouterr().err


def damaged(kind, files, write_eyes, file):
    """A file that is no projector for the model, and what the error says of it."""
    whole = files.eyes.read_bytes()
    if kind == "text":
        file.write_bytes(b"no GGUF file")
        return "is not a GGUF file"
    if kind == "model":
        file.write_bytes(files.model.read_bytes())
        return r"holds no projector for pictures but a model \(llama\)"
    if kind == "size":
        write_eyes(file, size=48)
        return r"cannot be used as eyes of this model: .*n_embd = 32.*n_embd = 48"
    if kind == "unknown":
        write_eyes(file, kind="nonsense")
        return "unknown projector type: nonsense"
    if kind == "cut":
        file.write_bytes(whole[: len(whole) // 2])
        return "cannot be used as eyes of this model"
    if kind == "header":
        file.write_bytes(whole[:300])
        return "cannot be used as eyes of this model"
    if kind == "gone":
        return "there is no such file"
    file.mkdir()
    return "is not an ordinary file"


@pytest.mark.parametrize(
    "kind", ["text", "model", "size", "unknown", "cut", "header", "gone", "folder"]
)
def test_a_bad_projector_is_one_sentence(files, write_eyes, tmp_path, kind):
    file = tmp_path / "bad.gguf"
    reason = damaged(kind, files, write_eyes, file)
    with pytest.raises(ModelError, match=reason) as caught:
        gguf(str(files.model), mmproj=str(file), threads=1)
    assert str(file) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def with_number(raw, key, value):
    """A projector whose header holds another number."""
    place = raw.index(key.encode()) + len(key) + 4
    return raw[:place] + struct.pack("<I", value) + raw[place + 4 :]


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(("key", "value"), [("patch_size", 3), ("head_count", 0)])
def test_a_projector_that_crashes_llama_cpp_ends_a_child_and_is_named(files, tmp_path, key, value):
    file = tmp_path / "crashing.gguf"
    file.write_bytes(with_number(files.eyes.read_bytes(), key, value))
    with pytest.raises(ModelError, match=r"llama\.cpp crashed when it tried this file") as caught:
        gguf(str(files.model), mmproj=str(file), threads=1)
    assert str(file) in caught.value.message


def mutated(raw, seed):
    """A projector with some bytes of its header changed."""
    draw = random.Random(seed)
    found = bytearray(raw)
    end = raw.index(b"v.patch_embd")
    for _ in range(3):
        found[draw.randrange(8, end + 2000)] = draw.randrange(256)
    return bytes(found)


def outcome(file, eyes, item):
    """What becomes of a question about a picture; this process is to survive it."""
    try:
        model = gguf(str(file), mmproj=str(eyes), threads=1)
    except ModelError as error:
        return str(eyes) in error.message
    answers = model.answer([item])
    model.close()
    return len(answers) == 1


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_projector_never_ends_this_process(files, tmp_path, photo, seed):
    file = tmp_path / "mutated.gguf"
    file.write_bytes(mutated(files.eyes.read_bytes(), seed))
    assert outcome(files.model, file, caption("1", photo(1)))


def test_a_library_that_lays_out_its_parameters_otherwise_is_refused():
    words = [1, 0, 0, 0x4_0000_0001, 0, 4096, 0x1_FFFF_FFFF]
    other = SimpleNamespace(
        mtmd_context_params_default=lambda: SimpleNamespace(words=words),
        mtmd_default_marker=lambda: 4096,
    )
    with pytest.raises(ModelError, match="laid out in another way"):
        library.check_picture_layout(other)
