# make demo   try it: installs into .venv, runs the guide's ten scenarios
# make test   every check and every test, on real services
# make check  format, lint, types and layers alone
# make bench  measures how fast everything is, writes examples/benchmarks.md; BENCH="--sizes 1000 --quick" for less
# make bench-quality  measures how well recall ranks, writes examples/benchmarks.md
# make soak   kills writers and servers, many rounds (BRAIN_SOAK_ROUNDS, by default 50), mirrors too; imports 100 000
#             documents and is interrupted; looks at what is left
# make clean  removes what the above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := brain tests examples

.PHONY: demo test check format bench bench-quality soak clean

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

bench: $(VENV)/installed-dev
	$(BIN)/python -m tests.bench $(BENCH)

bench-quality: $(VENV)/installed-dev
	$(BIN)/python -m tests.quality.bench

soak: $(VENV)/installed-dev
	$(BIN)/python -m tests.soak
	BRAIN_TEST_MIRROR_KILLS=$${BRAIN_SOAK_ROUNDS:-50} BRAIN_TEST_IMPORTED=100000 $(BIN)/pytest -s -k "killed or parallel or large" \
		tests/mirror/test_processes.py tests/mirror/test_moving.py

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) --editable '.[dev,models,notebooks]'
	touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "brain needs Python 3.11 or newer, and $(PYTHON) is none. Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
