# All work goes through .venv; `make` alone prints the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
PYTEST := $(BIN)/pytest
STAMP := .venv/.installed
# -qq keeps pip's progress and warnings quiet; its errors still show.
PIP_INSTALL := $(PY) -m pip install -qq --disable-pip-version-check -c constraints.txt

# What `make run` composes: any overrides of run.py.
RUN_ARGS ?= +experiment=quickstart
# Further arguments for pytest, e.g. `make test ARGS="-k budget -x"`.
ARGS ?=

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## create .venv and install the pinned dependencies (no-op when up to date)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "make setup: $(PYTHON) is older than Python 3.11; choose another with PYTHON=..." >&2; exit 1; }
	@echo "setup: installing into .venv (a few minutes the first time)"
	@$(PYTHON) -m venv .venv
	@$(PIP_INSTALL) setuptools
	@$(PIP_INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

.PHONY: run
run: setup ## run the main job offline (RUN_ARGS="..." for another)
	$(PY) run.py $(RUN_ARGS)

.PHONY: test
test: setup ## run the tests, without the slow and the browser tier
	$(PYTEST) -m "not slow and not browser" $(ARGS)

.PHONY: slow
slow: setup ## run the slow tests
	$(PYTEST) -m "slow and not browser" $(ARGS)

.PHONY: lint
lint: setup ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: setup ## check types
	$(BIN)/mypy framework plugins $(wildcard run.py)

.PHONY: layers
layers: setup ## check that imports follow the layers
	$(BIN)/lint-imports

