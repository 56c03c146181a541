"""Options are declared by signatures and explained by docstrings."""

from functools import partial

import pytest

from gnomon import registry
from gnomon.cli.options import what_it_does
from gnomon.errors import UsageError
from gnomon.options import check_options, complete, explained, option_help, options_of


def documented(name, *, seed=0, form="", data=""):
    """Makes items.

    seed   draws them
    form   cloze or choice:
           how they are put
    name   of no option

    More about it.
    """


def test_a_line_about_an_option_goes_on_where_it_is_indented_deeper():
    assert option_help(documented) == {
        "seed": "draws them",
        "form": "cloze or choice: how they are put",
    }


def test_the_rest_of_the_docstring_is_kept_as_it_is():
    assert explained(documented).prose == "Makes items.\n\nname   of no option\n\nMore about it."


def test_a_function_with_arguments_filled_in_is_explained_by_the_function():
    assert option_help(partial(documented, "x"))["seed"] == "draws them"


def test_a_function_without_docstring_explains_nothing():
    assert option_help(lambda *, seed=0: None) == {}


def test_an_option_that_is_needed_is_missed():
    def published(*, data: str): ...

    with pytest.raises(UsageError, match="needs the option 'data'"):
        check_options("it", published, {})


def shipped():
    """Every option of every model and source that ships, with the function that takes it."""
    found = []
    for name in registry.MODELS:
        function = registry.model_factory(name)
        found += [("models", name, option, function) for option in options_of(function)]
    for name in registry.BENCHMARKS:
        for source, function in registry.benchmark(name).sources.items():
            spec = f"{name}@{source}"
            found += [("benchmarks", spec, option, function) for option in options_of(function)]
    return found


def test_every_option_of_what_ships_is_explained():
    options = shipped()
    assert len(options) > 80
    silent = []
    for kind, name, option, function in options:
        if not what_it_does(kind, option, function):
            silent.append(f"{name} {option}")
    assert silent == []


def test_a_text_that_yaml_took_for_something_else_is_said_or_written_out():
    def fresh(*, bands: str = "", split: str | None = None, whole: bool = False): ...

    assert complete(fresh, {"bands": 7, "whole": True})["bands"] == "7"
    with pytest.raises(UsageError, match="The option bands is a text, not yes"):
        complete(fresh, {"bands": True})


def test_an_option_of_which_a_file_says_nothing_is_as_usual():
    def made(*, rule: str = "near", most: int = 3): ...

    assert complete(made, {"rule": None, "most": None}) == {"rule": "near", "most": 3}


def test_a_list_in_place_of_one_value_is_refused():
    def made(*, rule: str = "near"): ...

    with pytest.raises(UsageError, match="rule takes one value"):
        complete(made, {"rule": ["near", "far"]})
