# Each target builds .venv when it is missing or older than what it is made from.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.built
BENCHMARKS := $(filter-out __init__ common,$(basename $(notdir $(wildcard benchmarks/*.py))))

.PHONY: demo test test-all lint bench docs clean

demo: $(STAMP)  ## watch a problem of each task being thought through and erased
	$(BIN)/pencil demo

test: lint  ## lint, types and the fast tests
	$(BIN)/pytest -m "not slow"

test-all: lint  ## the slow tests too
	$(BIN)/pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)  ## every benchmark, quickly; each prints a ratio
	for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name --quick || exit 1; done

docs: $(STAMP)  ## the page of commands, from their --help
	$(BIN)/python docs/make_cli.py

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "pencil needs Python 3.11 or newer, $(PYTHON) is older; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)
