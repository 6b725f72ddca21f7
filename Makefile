# make demo   try it: installs into .venv, runs the guide's ten scenarios
# make test   every check and every test, on real services
# make check  format, lint, types and layers alone
# make bench-quality  measures how well recall ranks, writes examples/benchmarks.md
# make clean  removes what the above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := brain tests

.PHONY: demo test check format bench-quality clean

demo: $(VENV)/installed
	$(BIN)/brain demo

test: check
	$(BIN)/pytest -n 2 --dist loadgroup

check: $(VENV)/installed-dev
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/installed-dev
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench-quality: $(VENV)/installed-dev
	$(BIN)/python -m tests.quality.bench

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable '.[dev,fast,models]'
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
