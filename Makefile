# Needs Python 3.11 or newer, make and git; everything else comes from PyPI into .venv, and from npm into web/node_modules.
#
#   make run          start Toolwire with the demo agent (ARGS="--port 9000 --json" is passed on)
#   make check        linters, types, layers, sizes, names, of the page too
#   make test         all tests, the conformance scenarios among them (ARGS="-k follow" is passed to pytest)
#   make coverage     all tests, with the branches they leave out; fails below 100 % in core, engine, wire, 90 % elsewhere
#   make web          build the page of the canvas (run and test do it by themselves)
#   make format       let ruff rewrite what it can
#   make fuzz         look for inputs that break the codec (ARGS="http -max_total_time=600"; a target of tests/fuzz first)
#   make conformance  the scenarios of the official MCP suite, with their report
#   make bench        measure against the peers (ARGS is passed on; "agents" as its first word is the agent SDK alone)
#   make pins         recompile requirements/*.txt
#   make clean        remove what the other targets made

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run web test check format coverage fuzz conformance bench pins clean \
	check-ruff check-types check-layers check-sizes check-names check-web

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILD_WEB := $(BIN)/python scripts/build_web.py
ARGS ?=

help:
	@sed -n 's/^#   //p' Makefile

# Two stamps: `run` needs the package with the MCP client of `toolwire call`, the other targets also the tools that check
# and test it. Setting up writes nothing to stdout, which belongs to `make run ARGS=--json`.
$(VENV)/.run: pyproject.toml requirements/base.txt requirements/build.txt scripts/make_venv.sh
	@echo "setting up $(VENV) ..." >&2
	@PYTHON="$(PYTHON)" sh scripts/make_venv.sh $(VENV)
	@$(PIP) install -r requirements/base.txt -r requirements/build.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.ok: $(VENV)/.run requirements/dev.txt
	@echo "setting up the tools in $(VENV) ..." >&2
	@$(PIP) install -r requirements/dev.txt
	@touch $@

# A page that cannot be built, as without a network, is no reason for a host to stay away.
run: $(VENV)/.run
	@$(BUILD_WEB) || echo "the page could not be built; everything else is there" >&2
	@exec $(BIN)/toolwire up --demo $(ARGS)

web: $(VENV)/.run
	@$(BUILD_WEB)

test: $(VENV)/.ok
	@$(BUILD_WEB)
	@sh scripts/make_chromium.sh
	$(BIN)/python -m pytest $(ARGS)

coverage: $(VENV)/.ok
	@$(BUILD_WEB)
	@sh scripts/make_chromium.sh
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90
	$(BIN)/coverage report --fail-under=100 --include='src/toolwire/core/*,src/toolwire/engine/*,src/toolwire/wire/*'

# libFuzzer's flags follow the target; what it finds is a file in .cache/fuzz, which becomes a seed in tests/fuzz/corpus.
fuzz: $(VENV)/.ok
	$(BIN)/python -m tests.fuzz.run $(or $(ARGS),http -max_total_time=600)

conformance: $(VENV)/.ok
	$(BIN)/python -m tests.conformance.run $(ARGS)

check: check-ruff check-layers check-sizes check-names check-types check-web

check-ruff: $(VENV)/.ok
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: $(VENV)/.ok
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

check-layers: $(VENV)/.ok
	$(BIN)/lint-imports --no-cache

check-sizes: $(VENV)/.ok
	$(BIN)/python scripts/lint_sizes.py

check-names: $(VENV)/.ok
	$(BIN)/python scripts/lint_naming.py

check-web: $(VENV)/.ok
	$(BUILD_WEB) check

format: $(VENV)/.ok
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The peers get environments of their own, in .bench, from requirements/bench-*.txt.
bench: $(VENV)/.ok
	$(BIN)/python -m benchmarks $(ARGS)
ifeq ($(strip $(ARGS)),)
	$(BIN)/python -m benchmarks agents
endif

# uv compiles the pins for every platform at once; no index line, address or hash may enter them.
UV_COMPILE := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
	--no-header --no-emit-index-url --no-emit-find-links --no-annotate --no-strip-extras
pins: $(VENV)/.run
	$(PIP) install uv
	$(UV_COMPILE) --extra mcp pyproject.toml -o requirements/base.txt
	for name in build dev web bench-mcp bench-fastmcp bench-noeta-sdk bench-openai-agents bench-pydantic-ai-slim \
		schemathesis; do \
		$(UV_COMPILE) requirements/$$name.in -o requirements/$$name.txt || exit 1; \
	done

clean:
	rm -rf src/toolwire/page web/node_modules
	rm -rf $(VENV) .bench .cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage* htmlcov dist build
