# Needs Python 3.11 or newer, make and git; everything else comes from PyPI into .venv.
#
#   make run        start Toolwire with the demo agent (ARGS="--port 9000 --json" is passed on)
#   make check      linters, types, layers, sizes, names
#   make test       all tests, the conformance scenarios among them (ARGS="-k follow" is passed to pytest)
#   make format     let ruff rewrite what it can
#   make bench      measure against the peers (ARGS is passed on)
#   make pins       recompile requirements/*.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check format conformance bench pins clean \
	check-ruff check-types check-layers check-sizes check-names

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
ARGS ?=

help:
	@sed -n 's/^#   //p' Makefile

# One stamp a layer: `run` needs the package alone, `test` and `check` the tools too, `bench` the peers.
$(VENV)/.run: pyproject.toml requirements/base.txt requirements/build.txt scripts/make_venv.sh
	@PYTHON="$(PYTHON)" sh scripts/make_venv.sh $(VENV)
	$(PIP) install -r requirements/base.txt -r requirements/build.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.ok: $(VENV)/.run requirements/dev.txt
	$(PIP) install -r requirements/dev.txt
	@touch $@

.venv-bench-%/.ok: requirements/bench-%.txt scripts/make_venv.sh
	@PYTHON="$(PYTHON)" sh scripts/make_venv.sh $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install -r $<
	@touch $@

run: $(VENV)/.run
	@exec $(BIN)/toolwire up --demo $(ARGS)

test: $(VENV)/.ok
	$(BIN)/python -m pytest $(ARGS)

conformance: $(VENV)/.ok
	$(BIN)/python -m tests.conformance.run $(ARGS)

check: check-ruff check-layers check-sizes check-names check-types

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

format: $(VENV)/.ok
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ok .venv-bench-mcp/.ok .venv-bench-fastmcp/.ok
	$(BIN)/python -m benchmarks $(ARGS)

# uv compiles the pins for every platform at once; no index line, address or hash may enter them.
UV_COMPILE := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
	--no-header --no-emit-index-url --no-emit-find-links --no-annotate --no-strip-extras
pins: $(VENV)/.run
	$(PIP) install uv
	$(UV_COMPILE) pyproject.toml -o requirements/base.txt
	for name in build dev bench-mcp bench-fastmcp; do \
		$(UV_COMPILE) requirements/$$name.in -o requirements/$$name.txt || exit 1; \
	done

clean:
	rm -rf $(VENV) .venv-bench-* .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage* htmlcov dist build
