"""Logs of HELM (scenario_state.json, display_predictions.json) and of evalscope (reviews)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnomon.errors import DataError
from gnomon.items.rows import rows_of_log
from gnomon.items.shapes import LOG_SHAPES, LogRow, Row, evalscope_id
from gnomon.items.values import scalar
from gnomon.records import Prediction

COUNTED = ("exact_match", "quasi_exact_match", "prefix_exact_match")  # HELM's words for right


def log_rows_of_helm(file: Path) -> Iterator[LogRow]:
    """The requests of a run with their first completion, or what was counted for each instance."""
    for line, row in rows_of_log(file, "helm"):
        question = LOG_SHAPES["helm"].question(row)
        if scalar(row.get("reference_index")) is not None:
            raise DataError(
                "each choice was a request of its own (multiple_choice_separate).",
                "Give display_predictions.json, which says what was right.",
                file=file,
                line=line,
            )
        trial = row.get("train_trial_index")
        said = Prediction(
            line,
            _instance_id(row, line),
            choices=_as_listed(row),
            reply=_completion(row),
        )
        sample = trial if isinstance(trial, int) else 0
        yield LogRow(said, question, _counted(row.get("stats")), sample=sample)


def _instance_id(row: Row, line: int) -> str:
    """The instance's id, with the perturbation that its text went through."""
    instance = row.get("instance")
    record = instance if isinstance(instance, dict) else {"id": row.get("instance_id"), **row}
    name = scalar(record.get("id")) or str(line)
    perturbation = record.get("perturbation")
    if isinstance(perturbation, dict):
        return f"{name}/{perturbation.get('name', 'perturbed')}"
    return name


def _as_listed(row: Row) -> list[str] | None:
    """The choices in the order of the letters under which the model was shown them."""
    letters = row.get("output_mapping")
    if not isinstance(letters, dict):
        return None
    return [str(choice) for choice in letters.values()]


def _completion(row: Row) -> str:
    result = row.get("result")
    completions = result.get("completions") if isinstance(result, dict) else None
    if isinstance(completions, list) and completions and isinstance(completions[0], dict):
        return str(completions[0].get("text", ""))
    return scalar(row.get("predicted_text")) or ""


def _counted(stats: Any) -> Any:
    """Whether an answer was right: figures by name, or a list of records with name and mean."""
    by_name: dict[str, Any] = stats if isinstance(stats, dict) else {}
    for each in stats if isinstance(stats, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), dict):
            by_name[str(each["name"].get("name"))] = each.get("mean")
    for name in COUNTED:
        if name in by_name:
            return by_name[name]
    return None


def log_rows_of_evalscope(file: Path) -> Iterator[LogRow]:
    """The reviews: the prediction, and the main score that it got."""
    for line, row in rows_of_log(file, "evalscope"):
        sampled = row["sample_score"]
        score = sampled.get("score")
        score = score if isinstance(score, dict) else {}
        said = Prediction(
            line,
            scalar(evalscope_id(row)) or str(line),
            reply=scalar(score.get("prediction")) or "",
        )
        number = sampled.get("generation_index")
        sample = number if isinstance(number, int) else 0
        question = LOG_SHAPES["evalscope"].question(row)
        yield LogRow(said, question, _main(score), sample=sample)


def _main(score: Row) -> Any:
    """The score by its main name, or the first."""
    values = score.get("value")
    if not isinstance(values, dict) or not values:
        return None
    return values.get(score.get("main_score_name"), next(iter(values.values())))
