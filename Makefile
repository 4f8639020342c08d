# The whole life of the project. `make install` needs Python 3.11 or later and nothing else.
PYTHON ?= python3
BIN := .venv/bin
PIP := python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
export OPENBLAS_NUM_THREADS ?= 1
N ?= 100
SEED ?= 0
SINCE ?= $(shell cat .ci/landed 2>/dev/null)
TRIAL := out/empty
COMPILED := $(addprefix tests/,golden kernels models bamdp bapomdp beliefs bandits continuous)
COMPILED += $(addprefix tests/risk/test_,k_of_n.py scenario_max_min.py sigma_point_robust.py stationary.py value_samples.py)
COMPILED += tests/inverse/test_em_irl.py tests/multiagent/test_bayesian_marl.py tests/multitask/test_multitask_gptd_dp.py

.PHONY: install demo test soak soak-short figures bounds machines machines-short lowest evidence mutants mutants-changed
.PHONY: mutants-random check package bench docs clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/$(PIP) -e ".[lab,cone,dev]"
	@touch $@

demo: install  ## the main job: the methods so far on the Chain, beside reference figures
	$(BIN)/bayesrl demo

test: install  ## every test but the planted bugs and the long runs
	$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/mutation -m "not long and not soak"

soak: install  ## minutes of kills, full disks, flipped bits, threads, forks, and runs of up to 20,000 decisions
	$(BIN)/python -m pytest -n 0 -m soak tests/soak

soak-short: install  ## the part of it that CI runs, in less than 40 seconds
	BAYESRL_SOAK=short $(BIN)/python -m pytest -n 0 -m "soak and short" tests/soak

figures: install  ## the long runs, most of them beside published figures
	$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/mutation -m long

bounds: install  ## the suites of compiled code, with every index checked, those below zero too
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds PYTHONPATH=tests/helpers \
	$(BIN)/python -m pytest -n $(WORKERS) -p negative_indices -m "not long" $(COMPILED)

machines: install  ## every test under simulated processors; those that cannot run here are named
	$(BIN)/python tests/machines/machines.py --workers $(WORKERS)

machines-short: install  ## golden traces, docstrings, laws of beliefs and planners under two other kernels of BLAS
	$(BIN)/python tests/machines/machines.py --short --workers $(WORKERS)

lowest: install  ## a part of the tests with the lowest versions allowed, and with the newest on later Pythons
	$(BIN)/python tests/machines/lowest.py --workers $(WORKERS)

evidence: install  ## the evidence of one name, its laws and its planted bugs: make evidence NAME=psrl
	$(BIN)/python tests/evidence.py "$(NAME)"

mutants: install  ## planted bugs: each must make the tests named with it fail
	$(BIN)/python -m pytest -n $(WORKERS) tests/mutation

mutants-changed: install  ## those whose module or tests changed since SINCE; all, where the history does not tell
	$(BIN)/python -m pytest -n $(WORKERS) tests/mutation --since="$(SINCE)"

mutants-random: install  ## N random mutants (seed SEED): the share that the tests catch, with its interval
	$(BIN)/python tests/mutation/random_mutants.py map --workers $(WORKERS)
	$(BIN)/python tests/mutation/random_mutants.py run --n $(N) --seed $(SEED) --workers $(WORKERS)

check: install  ## lint, format, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/names.py
	$(BIN)/python tests/typing/any_share.py
	$(BIN)/lint-imports

package: install  ## sdist, the wheel built from it, and the demo from that wheel in an empty environment
	rm -rf dist $(TRIAL)
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv $(TRIAL)
	$(TRIAL)/bin/$(PIP) dist/*.whl
	cd $(TRIAL) && bin/bayesrl --version && bin/bayesrl demo

bench: install  ## speed, as ratios, beside peers that install
	$(BIN)/$(PIP) -e ".[bench]" || echo "bench: some peers did not install"
	$(BIN)/python -m benchmarks

docs: install  ## what is made from the registry: pages, and the types of names
	$(BIN)/python -m bayesrl.lab.catalogue docs/catalogue.md
	$(BIN)/python docs/methods.py
	$(BIN)/python tests/typing/by_name.py

clean:
	rm -rf .venv .bench-venv .mypy_cache .pytest_cache .ruff_cache build dist out
