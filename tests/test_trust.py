"""What a file says is never the user's word: no code runs, no key leaves, nothing is overwritten."""

import json
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.errors import DataError, UsageError
from gnomon.items.experiments import experiment_of, read_experiment
from gnomon.registry import model
from gnomon.runs import Manifest, Run
from gnomon.train.recipes import load_recipe
from gnomon.trust import ONLY_BY_COMMAND, as_command_says, model_of_file

EXPERIMENT = """\
benchmarks: [scales]
limit: 2
models:
  - name: Nice
    model: {model}
    options: {options}
"""
CANARY = "sk-canary-0123456789abcdef"


@pytest.fixture(autouse=True)
def _secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def stranger():
    """A server that answers every question and notes which keys it was sent."""
    keys = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers.get("Authorization"))
            reply = {"choices": [{"message": {"content": "smaller"}, "finish_reason": "stop"}]}
            raw = json.dumps({**reply, "usage": {}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    http.keys = keys
    http.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    yield http
    http.shutdown()
    http.server_close()


def written(spec, options, more=""):
    file = Path("e.yaml")
    file.write_text(EXPERIMENT.format(model=spec, options=json.dumps(options)) + more)
    return str(file)


def evil_model():
    """A folder whose own code says that it ran."""
    folder = Path("evil")
    folder.mkdir()
    classes = {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}
    config = {"model_type": "evil", "architectures": ["Model"], "auto_map": classes}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text("open('ran', 'w').close()\n")
    (folder / "model.safetensors").write_bytes(len(b"{}").to_bytes(8, "little") + b"{}")
    return "hf:./evil"


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_the_code_of_a_model_that_a_file_trusts_is_not_run(more, capsys):
    file = written(evil_model(), {"trust_remote_code": True})
    assert main(["run", file, *more]) == 2
    assert not Path("ran").exists()
    told = capsys.readouterr().err
    assert "e.yaml:6: a file may not set trust_remote_code" in told
    assert "--set", "trust_remote_code=yes" in told


def test_a_plan_loads_no_model_that_may_run_code(capsys):
    assert (
        main(["run", "scales", "-m", evil_model(), "--set", "trust_remote_code=yes", "--dry-run"])
        == 1
    )
    assert not Path("ran").exists()
    assert "a plan runs none" in capsys.readouterr().err


def test_the_command_may_trust_the_models_of_a_file():
    written(evil_model(), {})
    main(["run", "e.yaml", "--set", "trust_remote_code=yes"])
    assert Path("ran").exists()


@pytest.mark.parametrize("name", ONLY_BY_COMMAND)
@pytest.mark.parametrize("spelt", [lambda name: name, lambda name: name.replace("_", "-")])
def test_no_file_sets_what_only_the_command_may(name, spelt):
    specs = {"key_env": "openai:m"}
    file = written(specs.get(name, "hf:x"), {spelt(name): "yes"})
    with pytest.raises(UsageError, match=f"e.yaml:6: a file may not set {name}"):
        read_experiment(Path(file))


def test_an_address_of_a_file_is_sent_no_key(stranger):
    assert main(["run", written("openai:gpt", {"base_url": stranger.url}), "--quiet"]) == 0
    assert stranger.keys
    assert set(stranger.keys) == {None}


def test_an_address_that_the_command_names_too_is_sent_the_key(stranger):
    file = written("openai:gpt", {"base_url": stranger.url})
    assert main(["run", file, "--quiet", "--base-url", stranger.url]) == 0
    assert set(stranger.keys) == {f"Bearer {CANARY}"}


def test_a_key_that_the_command_names_is_sent(stranger):
    file = written("openai:gpt", {"base_url": stranger.url})
    assert main(["run", file, "--quiet", "--set", "key_env=AWS_SECRET_ACCESS_KEY"]) == 0
    assert set(stranger.keys) == {f"Bearer {CANARY}"}


def test_a_second_address_of_a_file_hides_behind_no_first():
    both = model_of_file("openai:m", {"base_url": "http://one/v1 http://evil/v1"})
    said = as_command_says(both, {"base_url": "http://one/v1"})
    assert said.options["key_env"] == ""
    all_named = as_command_says(both, {"base_url": "http://evil/v1 http://one/v1/"})
    assert "key_env" not in all_named.options


def test_the_address_of_the_command_is_asked_where_the_file_has_none():
    said = as_command_says(model("A=openai:m"), {"base_url": "http://one/v1"})
    assert (said.name, said.options) == ("A", {"base_url": "http://one/v1"})


def test_painters_of_a_file_are_sent_no_key_either():
    found = model_of_file("synth:openai/m", {"base_url": "http://one/v1"})
    assert found.options["key_env"] == ""


def test_a_report_of_a_file_replaces_only_pages_of_gnomon(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    startup = tmp_path / ".bashrc"
    startup.write_text("alias ll='ls -l'\n")
    for place in ("~/.bashrc", ".bashrc", str(startup), "../page.html", "link.html"):
        Path("link.html").unlink(missing_ok=True)
        Path("link.html").symlink_to("/tmp/elsewhere.html")
        file = written("random", {}, f'report: "{place}"\n')
        assert main(["run", file]) == 2, place
        assert "e.yaml:7: " in capsys.readouterr().err
    assert startup.read_text() == "alias ll='ls -l'\n"
    assert not (tmp_path / "~").exists()


def test_a_report_of_a_file_is_written_beside_it_and_again(monkeypatch):
    Path("study").mkdir()
    file = written("random", {}, "report: page.html\n")
    Path(file).rename("study/e.yaml")
    for _ in range(2):
        assert main(["run", "study/e.yaml", "--quiet"]) == 0
    assert Path("study/page.html").read_text().startswith("<!doctype html>")


def test_a_report_of_the_command_replaces_only_pages_of_gnomon_too(capsys):
    assert main(["run", "scales", "-m", "random", "--limit", "2", "--quiet"]) == 0
    mine = Path("mine.html")
    mine.write_text("<p>precious</p>")
    assert main(["report", "runs", "-o", "mine.html"]) == 2
    assert "Gnomon did not write it" in capsys.readouterr().err
    assert mine.read_text() == "<p>precious</p>"
    mine.unlink()
    for _ in range(2):
        assert main(["report", "runs", "-o", "mine.html"]) == 0


def test_a_recipe_trusts_no_pickles_but_the_command_may():
    content = "kind: look\nlook: {allow_pickle: true}\n"
    Path("mine.yaml").write_text(content)
    with pytest.raises(DataError, match=r"may not set allow_pickle") as told:
        load_recipe("mine.yaml")
    assert "--set look.allow_pickle=true" in told.value.hint


def test_the_experiment_of_a_run_says_what_the_command_must():
    options = {"trust_remote_code": True, "dtype": "float32"}
    began = datetime(2026, 1, 1, tzinfo=UTC)
    asked = {"benchmark": "scales@fresh", "model": "hf:x", "model_options": options}
    text = experiment_of([Run(Path("r"), Manifest(id="a", started=began, **asked))])
    assert "# Say it in the command if you trust it: --set trust_remote_code=yes" in text
    Path("e.yaml").write_text(text)
    (found,) = read_experiment(Path("e.yaml")).models
    assert found.options == {"dtype": "float32"}


def test_a_task_of_lm_eval_reads_no_data_outside_its_folder(tmp_path):
    from gnomon.items.source import load

    row = {"question": "Is it?", "choices": ["yes", "no"], "answer": 0}
    (tmp_path / "secret.jsonl").write_text(json.dumps(row))
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    task = (
        "output_type: multiple_choice\ndataset_path: json\ntest_split: test\n"
        "doc_to_text: question\ndoc_to_choice: choices\ndoc_to_target: answer\n"
        "dataset_kwargs: {data_files: {test: FILE}}\n"
    )
    for name in ("../secret.jsonl", str(tmp_path / "secret.jsonl"), "secret.jsonl", "link.jsonl"):
        (folder / "task.yaml").write_text(task.replace("FILE", name))
        with pytest.raises(DataError, match="not in the task's folder"):
            list(load(str(folder / "task.yaml")).items())


PRIVATE = {"id": "1", "text": "Is it so?", "choices": ["yes", "no"], "gold": "yes"}


def test_an_address_of_a_file_hears_nothing_of_files_that_lie_elsewhere(stranger, tmp_path, capsys):
    private = tmp_path / "private.jsonl"
    private.write_text(json.dumps(PRIVATE) + "\n")
    Path("sent").mkdir()
    options = f"{{base_url: '{stranger.url}'}}"
    for benchmark in (private, "link.jsonl"):
        Path("sent/e.yaml").write_text(
            f"benchmarks: [{benchmark}]\nmodels: [{{model: openai:gpt, options: {options}}}]\n"
        )
        Path("link.jsonl").unlink(missing_ok=True)
        Path("link.jsonl").symlink_to(private)
        assert main(["run", "sent/e.yaml"]) == 2
        assert "outside the folder of the file" in capsys.readouterr().err
    assert stranger.keys == []
    assert main(["run", "sent/e.yaml", "--base-url", stranger.url]) == 0
    assert len(stranger.keys) == 1


def test_nor_of_a_folder_that_is_named_from_the_home_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "private").mkdir(parents=True)
    Path("sent").mkdir()
    asked = json.dumps({"name": "scales@published", "options": {"data": "~/private"}})
    options = "{base_url: 'http://127.0.0.1:9/v1'}"
    Path("sent/e.yaml").write_text(
        f"benchmarks: [{asked}]\nmodels: [{{model: openai:gpt, options: {options}}}]\n"
    )
    assert main(["run", "sent/e.yaml"]) == 2
    assert "outside the folder of the file" in capsys.readouterr().err


def test_a_picture_from_elsewhere_is_shown_only_if_its_digest_is_known(tmp_path):
    from hashlib import sha256

    from gnomon.items.itemfiles import items_to_ask
    from hostile.samples import whole_png

    picture = tmp_path / "private.png"
    picture.write_bytes(whole_png(8, 8))
    Path("sent").mkdir()
    image = {"path": str(picture)}
    for known, digest in ((False, ""), (True, sha256(picture.read_bytes()).hexdigest())):
        item = {
            **PRIVATE,
            "form": "choice",
            "gold": ["yes"],
            "images": [{**image, "sha256": digest}],
        }
        Path("sent/items.jsonl").write_text(json.dumps(item) + "\n")
        if known:
            assert [each.id for each in items_to_ask(file="sent/items.jsonl")] == ["1"]
            continue
        with pytest.raises(DataError, match="outside the folder"):
            list(items_to_ask(file="sent/items.jsonl"))
