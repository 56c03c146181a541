"""The experiments of papers 000 and 003 with a small model of every class that they name."""

import json

import pytest

from gnomon.cli import main
from gnomon.files import package_data, read_yaml

pytest.importorskip("torch")
FILLING = {"VisualBERT": "visualbert cloze", "LXMERT": "lxmert", "ViLT": "vilt cloze"}
FILLING["FLAVA"] = "flava"


def small(name, seeing, folders, forms):
    """The experiment that comes along, its papers' models small, with few items of each set."""
    content = read_yaml(package_data(f"experiments/{name}.yaml"))
    text = {"BERT": "bert", "RoBERTa": "roberta", "BERT-large": "bert", "RoBERTa-large": "roberta"}
    models = []
    for each in content.pop("paper_models"):
        make = FILLING.get(each["name"]) or text.get(each["name"])
        if make:
            folder = seeing(make) if each["name"] in FILLING else folders(make)
            models.append({**each, "model": f"hf:{folder}"})
    content["models"] = models
    known = {each["name"] for each in models}
    kept = []
    for each in content["benchmarks"]:
        asked = [name for name in each["models"] if name in known]
        if asked and each["name"] in forms and not each.get("choose_prompts"):
            kept.append({**each, "models": asked, "limit": 16})
    content["benchmarks"] = kept
    content.pop("recognised_by", None)
    return content


def run(content, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gnomon.cli.execution.is_native", lambda spec: False)  # in this process
    (tmp_path / "small.yaml").write_text(json.dumps(content))
    assert main(["run", "small.yaml", "--data", str(data), "--quiet"]) == 0
    return (tmp_path / content["results"] / "tables.md").read_text(encoding="utf-8")


def rows_of(tables, title, names):
    """The rows with these names in a table of the paper."""
    table = tables.split(f"{title}.", 1)[1].split("Table ", 1)[0]
    return {name for name in names if f"| {name} |" in table}


@pytest.mark.filterwarnings("ignore::gnomon.errors.MissingFileWarning")
def test_tables_2_to_5_of_paper_000(seeing, folders, shared, tmp_path, monkeypatch):
    forms = ("scales@published", "posrel@published", "posrel-general@published")
    content = small("paper-000", seeing, folders, forms)
    data = shared / "data" / "spatial-commonsense"
    tables = run(content, data, tmp_path, monkeypatch)
    names = {"BERT", "RoBERTa", *FILLING}
    for title in ("Table 2a", "Table 3", "Table 4", "Table 5"):
        assert rows_of(tables, title, names) == names, title


def test_the_zero_shot_table_of_paper_003(seeing, folders, shared, tmp_path, monkeypatch):
    forms = ("viphy-color@published", "viphy-size@published", "viphy-spatial@published")
    content = small("paper-003", seeing, folders, forms)
    tables = run(content, shared / "data" / "viphy", tmp_path, monkeypatch)
    names = {"BERT-large", "RoBERTa-large", "VisualBERT", "ViLT", "FLAVA"}
    assert rows_of(tables, "Table 3", names) == names
