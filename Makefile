# What one does here: make demo | test | browser | bench | docs | lint | format. Each sets up $(VENV) first where that is needed.
#
#   make test VENV=/tmp/venv        another environment
#   make browser                    needs Chromium and npm: tests of reports in a browser
#   make test PYTEST="-q -k png"    other arguments for pytest
#   make demo PYTHON=python3.13     another Python for a new environment

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
PYTEST ?= -q -n auto
DEMO ?= demo
BIN = $(VENV)/bin
STAMP = $(VENV)/.spurgen-installed

.DEFAULT_GOAL := help
.PHONY: help demo test browser bench docs lint style types layers format install clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

install: $(STAMP)

# torch comes first and by itself, so that a build for CPUs that is already there is kept.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || test -n "$(PYTHON)" || \
		{ echo "SpurGen needs Python 3.11, 3.12 or 3.13; install one, or name it: make PYTHON=…" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,dev]'
	@touch $@

# A small dataset, what it holds, one row with one channel changed; then a study of four methods, and its report.
demo: $(STAMP)
	mkdir -p $(DEMO)
	$(BIN)/spurgen generate quick/v1 --out $(DEMO)/quick
	$(BIN)/spurgen inspect $(DEMO)/quick --out $(DEMO)/sheet.png
	$(BIN)/spurgen counterfactual $(DEMO)/quick --row 7 --out $(DEMO)/strip.png
	$(BIN)/spurgen verify $(DEMO)/quick
	$(BIN)/spurgen study quick --out $(DEMO)/study
	$(BIN)/spurgen report $(DEMO)/study
	@echo "Open $(DEMO)/study/report/index.html; the data is on $(DEMO)/sheet.png and $(DEMO)/strip.png."

test: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST)

# Playwright drives the Chromium that is there and brings none; axe-core comes from npm.
browser: $(STAMP)
	@command -v npm >/dev/null || { echo "the browser tests need npm (apt-get install npm)" >&2; exit 1; }
	npm ci --silent --prefix tests/browser
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	SPURGEN_BROWSER=1 $(BIN)/python -m pytest -q -n 0 tests/browser

lint: style types layers

style: $(STAMP)
	$(BIN)/ruff check src tests bench docs
	$(BIN)/ruff format --check src tests bench docs

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix-only --quiet src tests bench docs
	$(BIN)/ruff format src tests bench docs

bench: $(STAMP)
	mkdir -p bench/results
	$(BIN)/python bench/run.py
	$(BIN)/python bench/caption.py --json bench/results/caption.json

docs: $(STAMP)
	$(BIN)/python docs/build_reference.py
	$(BIN)/python docs/build_pages.py

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
