# Everything starts here; each target makes what it needs first.
#
#   make run                 set up, then analyse one layer (D, DOUT, A, T select it)
#   make ideal|singular|boundary|strata   one part of the answer
#   make report              the answer as a page with pictures: out/report/report.html
#   make test                unit tests, and those that need Macaulay2
#   make lint | types | docs | docs-test | test-slow | bench
#   make docker-build | docker-run | docker-test
#   make clean | distclean

D    ?= 2
DOUT ?= 1
A    ?= 2
T    ?= 2
OUT  ?= out

VENV   ?= .venv
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
PIP    := $(VENV)/bin/python -m pip --disable-pip-version-check
BRIDGE := $(VENV)/bin/m2bridge
PYTEST := $(VENV)/bin/python -m pytest

LAYER = --d $(D) --d-out $(DOUT) --a $(A) --t $(T)

.PHONY: help run report ideal singular boundary strata setup m2 dev test test-slow docs docs-test lint types format bench clean distclean \
	docker-build docker-run docker-test

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

run: m2
	$(BRIDGE) analyze $(LAYER) --out "$(OUT)"
	@echo "wrote $(OUT)/report.json, $(OUT)/report.txt and the Macaulay2 programs in $(OUT)/scripts"

report: $(VENV)/.plot m2
	$(BRIDGE) report $(LAYER) --out "$(OUT)/report"

ideal: m2
	$(BRIDGE) ideal $(LAYER) --out "$(OUT)/ideal"

singular: m2
	$(BRIDGE) singular-locus $(LAYER) --out "$(OUT)/singular-locus"

boundary: m2
	$(BRIDGE) boundary $(LAYER) --out "$(OUT)/boundary"

strata: setup
	$(BRIDGE) strata $(LAYER) --out "$(OUT)/strata"

# Set-up: a virtual environment, and a Macaulay2 where none is found.

pip_install = $(PIP) install --quiet -e '$(1)' || { echo "This step needs a package index; what pip said is above. Its own \
	settings, such as PIP_INDEX_URL, PIP_PROXY and PIP_CERT, are heeded." >&2; exit 1; }

setup: $(VENV)/.installed

dev: $(VENV)/.dev

m2: setup
	@$(BRIDGE) install-m2 --if-missing

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found; set PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV): m2bridge and what it needs (about half a minute)"
	@$(call pip_install,.)
	@touch $@

$(VENV)/.plot: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(VENV): m2bridge and what draws the pictures"
	@$(call pip_install,.[plot])
	@touch $@ $(VENV)/.installed

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "adding the tools for development to $(VENV) (about a minute)"
	@$(call pip_install,.[dev])
	@touch $@ $(VENV)/.installed $(VENV)/.plot

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	@echo "adding the tools for the documentation to $(VENV) (about a minute)"
	@$(call pip_install,.[docs])
	@touch $@ $(VENV)/.installed $(VENV)/.plot

# Checks

test: dev m2
	$(PYTEST) -m "not docker and not slow"

test-slow: dev m2
	$(PYTEST) -m "slow and not docker" --timeout 3600

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(VENV)/bin/mkdocs build --strict
	$(VENV)/bin/python docs/check_site.py site
	@echo "open site/index.html"

docs-test: dev $(VENV)/.docs m2
	$(PYTEST) tests/docs

lint: dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: dev
	$(VENV)/bin/mypy

format: dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: dev m2
	$(VENV)/bin/python benchmarks/bridge.py
	$(VENV)/bin/python benchmarks/implicitization.py
	$(VENV)/bin/python benchmarks/singular.py
	$(VENV)/bin/python benchmarks/dimension.py

# Docker: see docker/

COMPOSE ?= docker compose
COMPOSE_FILE = docker/compose.yaml

docker-build:
	$(COMPOSE) -f $(COMPOSE_FILE) build

docker-run: docker-build
	mkdir -p $(OUT)
	M2BRIDGE_OUT="$(abspath $(OUT))" $(COMPOSE) -f $(COMPOSE_FILE) run --rm analyze $(LAYER)

docker-test: dev m2
	$(PYTEST) -m docker

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis "$(OUT)"
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
