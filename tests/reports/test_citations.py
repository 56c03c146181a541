from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gnomon import registry
from gnomon.cli.dispatch import main
from gnomon.files import read_yaml
from gnomon.reports.citations import as_text, bibtex, citations, papers_of

ROOT = Path(__file__).parents[2]


def test_every_paper_that_a_benchmark_names_can_be_cited() -> None:
    named = {registry.benchmark(name).paper for name in registry.BENCHMARKS} - {""}
    assert len(named) == 5
    assert named <= set(citations())


def test_the_facts_agree_with_the_citation_file() -> None:
    cff = read_yaml(ROOT / "CITATION.cff")
    known = {work.title: work for work in citations().values()}
    assert cff["title"] in known
    assert len(cff["references"]) == 5
    for reference in cff["references"]:
        work = known[reference["title"]]
        authors = [f"{who['family-names']}, {who['given-names']}" for who in reference["authors"]]
        assert list(work.authors) == authors
        assert work.year == reference.get("year")
        assert work.journal == reference.get("journal", "")
        assert work.book == reference.get("collection-title", "")
        pages = [str(reference[end]) for end in ("start", "end") if end in reference]
        assert work.pages == "-".join(pages)
        numbers = [each["value"] for each in reference.get("identifiers", ())]
        assert numbers == ([f"arXiv:{work.arxiv}"] if work.arxiv else [])


def test_a_paper_in_proceedings_has_its_volume_and_pages() -> None:
    work = citations()["spatial commonsense"]
    entry = bibtex(work)
    assert entry.startswith("@inproceedings{liu-etal-2022-things,")
    assert "  pages = {2365--2376},\n" in entry
    assert f"  booktitle = {{{work.book}}},\n" in entry
    assert f"{work.book}, pages 2365-2376. arXiv:2203.08075. https://" in as_text(work)


def test_a_paper_whose_number_at_arxiv_is_known_has_it() -> None:
    entry = bibtex(citations()["VSR"])
    assert "  eprint = {2205.00363},\n  archiveprefix = {arXiv},\n" in entry
    assert "arXiv:2205.00363" in as_text(citations()["VSR"])
    assert "eprint" not in bibtex(citations()["spatialQA"])


def test_keys_are_unique_and_entries_balanced() -> None:
    keys = [work.key for work in citations().values()]
    assert len(set(keys)) == len(keys) == 6
    for work in citations().values():
        entry = bibtex(work)
        assert entry.count("{") == entry.count("}")
        assert entry.isascii()
        assert re.match(r"@\w+\{[\w-]+,\n", entry)


def test_a_reference_in_words_has_given_names_first() -> None:
    told = as_text(citations()["SpaceNLI"])
    assert told.startswith("Lasha Abzianidze, Joost Zwarts, Yoad Winter. 2023. SpaceNLI:")


def test_only_what_was_used_is_cited(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "scales", "chains"]) == 0
    out = capsys.readouterr().out
    assert "liu-etal-2022-things" in out
    assert "singh" not in out
    assert "% chains is Gnomon's own" in out

    assert main(["cite", str(runs)]) == 0
    out = capsys.readouterr().out
    assert "abzianidze" in out
    assert "% hf:roberta-large-mnli: see https://huggingface.co/roberta-large-mnli" in out

    assert main(["cite", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 6
    assert main(["cite", "scals"]) == 2
    assert "scales" in capsys.readouterr().err


def test_the_name_of_a_strangers_benchmark_steers_no_terminal(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(next(path for path in runs.iterdir() if path.is_dir()), copy)
    manifest = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**manifest, "benchmark": "a\x1b]0;b\x07"}))
    assert main(["cite", str(copy)]) == 0
    told = capsys.readouterr()
    assert "a\\x1b]0;b\\x07" in told.out
    assert "\x1b" not in told.out + told.err


def test_papers_of_a_paper_with_two_benchmarks_are_cited_once() -> None:
    assert papers_of(["scales", "posrel@published", "viphy-size"]) == [
        "spatial commonsense",
        "ViPhy",
    ]


def test_a_folder_does_not_hide_the_benchmark_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scales").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["cite", "scales"]) == 0
    assert "Things not Written in Text" in capsys.readouterr().out
