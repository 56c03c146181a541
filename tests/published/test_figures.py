"""Figures of the papers that describe data or are drawn from the authors' own answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon import registry
from gnomon.api import run
from gnomon.benchmarks.viphy import tasks as viphy
from gnomon.benchmarks.viphy.tables import statistics as viphy_tables
from gnomon.benchmarks.vsr import task as vsr
from gnomon.benchmarks.vsr.tables import concept_counts
from gnomon.items.source import load
from gnomon.measures import Table
from gnomon.reports.figures import figures
from gnomon.reports.papers import results
from gnomon.reports.papertables import beside_papers
from gnomon.reports.study import Study, studies

pytestmark = pytest.mark.published


def test_vsrs_concepts_by_position(shared: Path) -> None:
    """Figure 7 names the concepts that are more than 100 times subject, or object."""
    items = list(vsr.published(data=str(shared / "data" / "vsr")))
    table = concept_counts(items)
    counts = {row[0]: row[1:] for row in table.rows}
    assert counts["person"] == (1130, 1161, 2291)
    assert counts["cat"] == (1132, 987, 2119)
    assert all(max(row[1], row[2]) > 100 for row in table.rows)
    assert len(table.rows) == 35


def test_viphys_colours_are_those_of_figure_7(shared: Path) -> None:
    items = list(viphy.published_color(data=str(shared / "data" / "viphy")))
    tables = {table.title: table for table in viphy_tables(items)}
    shares = {row[0]: round(row[2], 4) for row in tables["Figure 7: colours"].rows}
    assert (shares["white"], shares["black"], shares["brown"]) == (0.2337, 0.1833, 0.1509)
    by_number = tables["Figure 8: colours by label cardinality"].rows
    assert [row[0] for row in by_number] == [1, 2, 3, 4, 5, 6, 7]
    assert sum(row[1] for row in by_number) == 13_250


def test_viphys_relations_by_scene_are_symmetric(shared: Path) -> None:
    items = list(viphy.published_spatial(data=str(shared / "data" / "viphy")))
    table = next(t for t in viphy_tables(items) if t.title == "Figure 10: relations by scene")
    found = {row[0]: dict(zip(table.columns[1:], row[1:], strict=True)) for row in table.rows}
    assert {scene: row["pairs"] for scene, row in found.items()} == {
        "kitchen": 2852,
        "living room": 2254,
        "bathroom": 824,
        "bedroom": 474,
        "office": 166,
    }
    assert all(row["above"] == row["below"] for row in found.values())
    assert found["kitchen"]["level with"] == 184


@pytest.fixture(scope="module")
def study(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The answers of the paper's models, as far as they are here, as runs."""
    folder = shared / "data" / "spatialqa"
    out = tmp_path_factory.mktemp("runs")
    source = load("spatialqa@published", data=str(folder))
    runs = [run(source, f"answers:{file}", runs=out) for file in sorted(folder.glob("results-*"))]
    return studies(runs)[0]


NAMES = {
    "XLNet": "textattack-xlnet-base-cased-MNLI",
    "RoBERTa": "roberta-large-mnli",
    "DeBERTa": "microsoft-deberta-v2-xxlarge-mnli",
    "UnifiedQAv2": "allenai-unifiedqa-v2-t5-3b-1363200",
}


def test_size_figures_have_the_values_of_tables_2_5_and_6(study: Study) -> None:
    drawn = {figure.name: figure for figure in figures(study)}
    found: dict[tuple[str, str, str], float] = {}
    for measure in ("partial_credit", "without_partial_credit"):
        name = f"{measure}-against-size"
        for family, _, value in (row[1:4] for row in drawn[name].rows):
            found[family, measure, ""] = value
        for family, _, key, value in (row[1:5] for row in drawn[f"{name}-by-category"].rows):
            found[family, measure, key] = value
    compared = 0
    for result in results("spatialqa"):
        if result.model in NAMES:
            value = found[result.model, result.measure, result.key]
            assert value == pytest.approx(result.value, abs=0.00051)
            compared += 1
    assert compared == 4 * (2 + 6 + 6)


def test_templates_that_every_large_model_fails_are_the_hardest(study: Study) -> None:
    """Section 4.1: no model gets any of the 792 items of fits_in/2."""
    hardest = next(figure for figure in figures(study) if figure.name == "hardest-groups")
    means = {row[1]: row[2] for row in hardest.rows}
    assert len(means) == 94
    assert means["two_hop_fits_in/2"] == 0
    assert "two_hop_fits_in/2" in hardest.description


def test_the_papers_own_items_get_no_caveat(study: Study) -> None:
    tables = [Table.of_run(e.run, registry.benchmark("spatialqa")) for e in study.entrants]
    listings, caveats = beside_papers(tables)
    assert caveats == []
    assert [listing.title.split(".")[0] for listing in listings] == [
        "spatialQA, Table 2",
        "spatialQA, Table 5",
        "spatialQA, Table 6",
    ]
    for listing in listings:
        rows = {str(row[0]): row[1:] for row in listing.rows}
        for model, file in NAMES.items():
            mine = next(rows[name] for name in rows if file in name)
            assert mine == rows[model]
