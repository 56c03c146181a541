"""lm-eval tasks of the multiple-choice kind are asked in their own words; code is never run."""

from pathlib import Path

import pytest
import yaml

import gnomon
from gnomon.cli import main
from gnomon.errors import DataError, GnomonError
from gnomon.items.templates import LONGEST, TemplateError, render
from gnomon.models.prompts.library import load_prompt
from tests.items.samples import questions, write_json

pytest.importorskip("jinja2")
TASK = {
    "task": "boxes",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "mine.jsonl"}},
    "test_split": "test",
    "output_type": "multiple_choice",
    "doc_to_text": "Question: {{question.strip()}}\nAnswer:",
    "doc_to_choice": "options",
    "doc_to_target": "{{['A', 'B', 'C'].index(answer)}}",
}


def write_task(**changes):
    write_json(Path("mine.jsonl"), questions(4))
    task = {name: value for name, value in {**TASK, **changes}.items() if value is not None}
    Path("task.yaml").write_text(yaml.safe_dump(task, sort_keys=False))


def test_a_task_is_asked_with_exactly_the_text_that_lm_eval_shows():
    write_task(description="Think.\n")
    source = gnomon.load("task.yaml")
    assert (source.name, source.benchmark.title) == ("items@task.yaml", "boxes")
    prompt = load_prompt(source.benchmark.prompt)
    second = list(source.items())[1]
    assert prompt.context(second) == "Think.\nQuestion: Where is ball 1?\nAnswer:"
    assert prompt.words(second)[0] == (" in box 1",)
    assert second.gold == ("on the table",)
    assert gnomon.run(source, "random", runs="runs").manifest.counts.answered == 4


@pytest.mark.parametrize(
    ("changes", "gold"),
    [
        ({"doc_to_target": "{{options[2]}}"}, "away"),
        ({"doc_to_target": 2}, "away"),
        ({"doc_to_choice": ["x", "y", "z"], "doc_to_target": 0}, "x"),
        ({"doc_to_choice": {"a": "x", "b": "y"}, "doc_to_target": 1}, "y"),
        ({"doc_to_choice": "{{[options[0], options[2]]}}", "doc_to_target": "1"}, "away"),
    ],
)
def test_targets_and_choices_are_fields_numbers_lists_or_templates(changes, gold):
    write_task(**changes)
    first = next(gnomon.load("task.yaml").items())
    assert first.gold == (gold,)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"output_type": "generate_until"}, "output_type is generate_until"),
        ({"process_docs": "x"}, "process_docs is code"),
        ({"class": "x"}, "names a class"),
        ({"num_fewshot": 5}, "shows 5 worked examples"),
        ({"dataset_path": "org/name", "dataset_kwargs": None}, "not in the task's folder"),
        ({"dataset_kwargs": {"data_files": "../../nothing.jsonl"}}, "not in the task's folder"),
        ({"test_split": "dev"}, "no split 'dev', only test"),
        ({"include": "../../etc/passwd"}, "not in its folder"),
        ({"doc_to_choice": None}, "not a whole task"),
        ({"doc_to_target": "nothing"}, "is not one of the choices"),
        ({"doc_to_text": "{{nothing}}"}, "'nothing' is undefined"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_sentence(changes, told):
    write_task(**changes)
    with pytest.raises(DataError, match=told):
        list(gnomon.load("task.yaml").items())


@pytest.mark.parametrize("digits", ["12345678901234", "007"])
def test_a_text_of_digits_is_asked_as_it_is_written(digits):
    write_task(doc_to_text=digits)
    assert next(gnomon.load("task.yaml").items()).text == f"{digits} "


def test_a_target_of_many_digits_is_the_text_of_a_choice():
    write_task(doc_to_choice=["12345678901234", "9"], doc_to_target="{{'12345678901234'}}")
    assert next(gnomon.load("task.yaml").items()).gold == ("12345678901234",)


def test_a_task_nested_without_end_is_refused_at_once():
    Path("deep.yaml").write_text("doc_to_text: " + "[" * 200_000)
    assert main(["run", "deep.yaml", "-m", "random"]) == 1


def test_functions_of_a_task_are_named_and_not_run(capsys):
    write_task()
    Path("utils.py").write_text("raise SystemExit('code was run')")
    text = Path("task.yaml").read_text()
    Path("task.yaml").write_text(
        text.replace("doc_to_choice: options", "doc_to_choice: !function utils.f")
    )
    assert main(["run", "task.yaml", "-m", "random"]) == 1
    told = capsys.readouterr().err
    assert "doc_to_choice is the function utils.f" in told
    assert "Traceback" not in told


ATTACKS = [
    "{{ ''.__class__.__mro__ }}",
    "{{ question.__init__.__globals__ }}",
    "{% for i in range(10**9) %}x{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ 'a' * 10**9 }}",
    "{{ 10 ** 10 ** 10 }}",
    "{{ '%999999999d' % 1 }}",
    "{{ 'x'.center(10**9) }}",
    "{{ cycler('a') }}",
    "{{ lipsum() }}",
    "{{ self }}{{ namespace() }}",
    "{{ question.format() }}",
    "{{ question|attr('__class__') }}",
    "{% set x = 1 %}{{ x }}",
    "{{ question",
    "{{ question.encode() }}",
    "{{ 1 / 0 }}",
    "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "{{ 'a'" + ".replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')" * 60 + " }}",
    "{{ 'a'" + "|replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')" * 60 + " }}",
    "x" * 20_000,
]


@pytest.mark.parametrize("template", ATTACKS, ids=[attack[:30] for attack in ATTACKS])
def test_a_template_that_attacks_is_one_sentence(template):
    with pytest.raises(TemplateError):
        render(template, {"question": "Where?"})


def test_a_field_of_megabytes_is_not_filled_in():
    with pytest.raises(TemplateError, match="a field has more"):
        render("{{question}}", {"question": "a" * (LONGEST + 1)})


def test_a_yaml_file_that_is_no_task_is_none():
    Path("patterns.yaml").write_text("patterns: []\n")
    with pytest.raises(GnomonError, match="no benchmark named"):
        gnomon.load("patterns.yaml")


def test_a_task_that_is_written_after_it_was_missed_is_found():
    with pytest.raises(GnomonError, match="no benchmark named"):
        gnomon.load("task.yaml")
    write_task()
    assert len(list(gnomon.load("task.yaml").items())) == 4


def test_a_task_is_checked_and_shown_as_it_is_asked(capsys):
    write_task()
    assert main(["audit", "task.yaml", "--check", "validation"]) == 0
    assert main(["show", "task.yaml", "-m", "openai:none", "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert "│ Question: Where is ball" in shown
    assert "Question: Question" not in shown
