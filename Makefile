# make demo   set up, measure a small real model, write a report
# make test   set up everything, run the tests
# make package   build wheel and archive, try both outside the clone: the core, then the demo
# make hostile   kills, damaged files, hostile servers: less than half an hour
# make people   a real Label Studio, in a virtualenv of its own, and the tests that talk to it
# make lint   ruff and mypy        make bench   speed and memory        make docs   build the guide
#
# Everything is installed into .venv with the versions of constraints.txt.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PEOPLE ?= .venv-people
LABEL_STUDIO ?= label-studio==1.23.2
PYTEST_ARGS ?= -n auto
# uv does not read pip's settings: hand over the folder of local wheels, if there is one.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test package hostile people lint format bench docs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/gnomon demo

test: $(VENV)/.dev $(VENV)/.browser
	$(BIN)/python -m pytest $(PYTEST_ARGS)

package: $(VENV)/.dev
	$(BIN)/python scripts/package.py

hostile: $(VENV)/.dev
	$(BIN)/python -m hostile

people: $(VENV)/.dev $(VENV)/.browser $(PEOPLE)/.labelstudio
	GNOMON_LABEL_STUDIO=$(PEOPLE) $(BIN)/python -m pytest -n 0 -m labelstudio tests/people

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(INSTALL) -e '.[bench]'
	for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(PEOPLE) .mypy_cache .ruff_cache .pytest_cache site

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Gnomon needs Python 3.11 or newer." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# uv where it is there, else pip.
UV      = $(shell command -v $(BIN)/uv || command -v uv)
INSTALL = $(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q) -c constraints.txt

$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[demo]'
	touch $@

# The large set is worth fetching uv for (10 s instead of 73 s). It has a target of its own, since make expands all
# lines of a recipe before it runs the first.
$(VENV)/.uv: $(BIN)/python
	-$(if $(UV),,$(BIN)/python -m pip install -q -c constraints.txt uv)
	touch $@

# torch comes first, by its constraint, so that nothing pulls another build of it.
$(VENV)/.dev: $(VENV)/.uv pyproject.toml constraints.txt
	$(INSTALL) torch
	$(INSTALL) -e '.[all,dev]'
	touch $@ $(VENV)/.demo

# Browser tests need a Chromium. Where it is not there and we may install packages, do; else those tests skip.
$(VENV)/.browser: $(BIN)/python
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; \
	  then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else echo "No Chromium here and no right to install one: the browser tests will skip."; fi
	touch $@

# Label Studio brings a hundred packages, with versions of its own: it never shares a virtualenv with Gnomon.
$(PEOPLE)/.labelstudio:
	$(PYTHON) -m venv $(PEOPLE)
	$(if $(UV),$(UV) pip install -q --python $(PEOPLE)/bin/python,$(PEOPLE)/bin/python -m pip install -q) '$(LABEL_STUDIO)'
	touch $@
