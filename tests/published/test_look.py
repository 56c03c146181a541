"""What `gnomon look` finds, beside the released tables and on real photographs."""

from __future__ import annotations

import json

import msgspec
import pytest

from gnomon.benchmarks.viphy import files
from gnomon.cli import main
from gnomon.reports.knowledge import agreement
from gnomon.vision.knowledge import PropertyFinding

pytestmark = pytest.mark.published


def test_findings_that_say_what_the_released_tables_say_agree_with_them(shared, tmp_path):
    folder = shared / "data" / "viphy"
    found = {"size": [], "elevation": []}
    for property, rows in (
        ("size", files.read_sizes(folder)),
        ("elevation", files.read_elevations(folder)),
    ):
        for _, row in rows[:400]:
            found[property].append(
                PropertyFinding(
                    what=f"{row.first}|{row.second}",
                    property=property,
                    objects=(row.first, row.second),
                    scene=row.scene,
                    typical=row.typical,
                    distribution=dict.fromkeys(row.typical, 1 / len(row.typical)),
                    pictures=sum(row.counts.values()),
                )
            )
    for property, each in found.items():
        lines = b"\n".join(msgspec.json.encode(finding) for finding in each)
        (tmp_path / f"{property}.jsonl").write_bytes(lines + b"\n")
    records = agreement(str(tmp_path), str(folder))
    beside = {each["property"]: each for each in records if each["beside"] == "published"}
    for property in found:
        assert (beside[property]["meet"], beside[property]["agree"]) == (400, 400)


@pytest.mark.weights
def test_photographs_become_a_benchmark_at_once(shared, tmp_path, capsys):
    """Annotated photographs to knowledge to a run; sizes agree with common sense."""
    pytest.importorskip("cv2")
    photos = shared / "data" / "coco128"
    words = ["look", str(photos / "instances.json"), "--images", str(photos / "photos")]
    words += ["--limit", "60", "--set", "least=2", "--colours", "none", "--quiet"]
    assert main([*words, "-o", str(tmp_path / "knowledge")]) == 0
    manifest = json.loads((tmp_path / "knowledge" / "manifest.json").read_text())
    (size,) = [
        each
        for each in manifest["agreement"]
        if (each["property"], each["beside"]) == ("size", "fresh")
    ]
    assert size["meet"] >= 4
    assert size["share"] >= 0.75
    assert (tmp_path / "knowledge" / "page.html").stat().st_size > 100_000

    words = ["run", "viphy-size", "--set", f"knowledge={tmp_path / 'knowledge'}", "-m", "majority"]
    assert main([*words, "--runs", str(tmp_path / "runs"), "--json"]) == 0
    assert "viphy-size@own" in capsys.readouterr().out
