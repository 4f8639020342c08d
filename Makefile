# The whole life of the project. `make install` needs Python 3.11 or later and nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test check bench docs clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[lab,dev]"
	@touch $@

demo: install  ## the main job: the methods so far on the Chain, beside reference figures
	$(BIN)/bayesrl demo

test: install  ## every test
	$(BIN)/python -m pytest -n 2

check: install  ## lint, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: install  ## speed, as ratios, beside peers that install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]" || echo "bench: some peers did not install"
	$(BIN)/python -m benchmarks

docs: install  ## the catalogue, made from the registry
	$(BIN)/python -m bayesrl.lab.catalogue docs/catalogue.md

clean:
	rm -rf .venv .bench-venv .mypy_cache .pytest_cache .ruff_cache out
