# CogniLoad, reproduced. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---- variables that a user may set -------------------------------------------------------------------------------
GRID ?= paper
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
VENV ?= .venv
PYTHON ?= python3
# SOURCE, MAX_REJECTED, SCORER, FORMULA, FAMILY and CELLS, when given, are checked and kept in the build folder for later
# calls; an empty one goes back to the default. MODEL names a model to add or to remove.

# ---- checked as they stand, before make expands them or a shell reads them ---------------------------------------------
digits = $(subst 9,,$(subst 8,,$(subst 7,,$(subst 6,,$(subst 5,,$(1))))))
not_digits = $(call digits,$(subst 4,,$(subst 3,,$(subst 2,,$(subst 1,,$(subst 0,,$(1)))))))
ifneq ($(filter-out paper mini,$(value GRID))$(words $(value GRID)),1)
$(error GRID is '$(value GRID)'; choose GRID=paper or GRID=mini)
endif
ifeq ($(filter file,$(origin JOBS)),)
ifneq ($(words $(value JOBS))$(call not_digits,$(value JOBS)),1)
$(error JOBS is '$(value JOBS)'; give the number of processes)
endif
endif
# what make or a shell would read into the name of a folder
unsafe := ; & | < > ' " ` * ? \ $$ ! ~ { } ( ) [ ] \# : %
ifneq ($(word 2,$(value VENV))$(strip $(foreach sign,$(unsafe),$(findstring $(sign),$(value VENV)))),)
$(error VENV is '$(value VENV)'; choose a folder without blanks and signs of the shell in its name)
endif
$(foreach name,source max_rejected scorer formula family cells model grid jobs venv,\
	$(if $(filter command,$(origin $(name))),$(error $(name)=... is not known; names of variables are in capitals)))

# ---- derived -----------------------------------------------------------------------------------------------------
BUILD := data/build$(if $(filter-out paper,$(GRID)),-$(GRID))

# a reader's text goes to the command in the environment, as it stands: make does not expand it, no shell reads it
CHOICES := SOURCE MAX_REJECTED SCORER FORMULA FAMILY CELLS MODEL
$(foreach name,$(CHOICES),$(if $(filter undefined default,$(origin $(name))),,\
	$(eval export COGNILOAD_CHOSEN_$(name) := $$(value $(name)))))
unexport $(CHOICES)

ifeq ($(VENV),)
PY := $(PYTHON)
ENV :=
LAB_ENV :=
EVALUATE_ENV :=
EVALUATE_PY := $(PY)
else
PY := $(VENV)/bin/python
ENV := $(VENV)/.ready
LAB_ENV := $(VENV)-lab/.ready
EVALUATE_ENV := $(VENV)-evaluate/.ready
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
COGNILOAD := "$(PY)" -m cogniload_repro
# the command tracks up-to-date steps by content hash; targets are phony
MADE := --build "$(BUILD)" --grid $(GRID) --jobs $(JOBS)

.NOTPARALLEL:

.PHONY: help env lab evaluate-env tokens feasible reproduce download-outputs score fit render add remove choices smoke test test-slow explore test-evaluate lint format bench reconstruct clean distclean

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
	@echo "Choices, kept for later calls; an empty one goes back to the paper's:"
	@echo "  SOURCE=...         real outputs: a folder, file, archive or address; SOURCE=reconstructed goes back"
	@echo "  MAX_REJECTED=n     rows of SOURCE that may be unusable; 0 by default"
	@echo "  SCORER=...         how responses are scored: answer_only looks at what follows the reasoning; see cogniload score -h"
	@echo "  FORMULA='...'      another regression, such as 'correct ~ d * log10_N + rho + I(rho**2)'"
	@echo "  FAMILY=...         logit, probit, cloglog or quasi-binomial"
	@echo "  CELLS=...          another table of cells for the regressions, CSV or Parquet"

# ---- environment -------------------------------------------------------------------------------------------------
env: $(ENV)  ## the environment in .venv, from requirements.lock

ifneq ($(VENV),)
# into $(1): uv installs in half the time of pip, and compiles while it does; where it cannot be had, pip will do
install = if "$(PY)" -m uv --version >/dev/null 2>&1; then \
		UV_COMPILE_BYTECODE=1 "$(PY)" -m uv pip install --quiet --python "$(1)/bin/python" $(2); \
	else "$(PY)" -m pip --python "$(1)/bin/python" install --quiet --disable-pip-version-check $(2); fi

$(VENV)/.ready: requirements.lock requirements-uv.lock pyproject.toml
	@echo "== environment in $(@D) (about a minute)"
	"$(PYTHON)" -m venv $(@D)
	-@"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(call install,$(@D),-r requirements.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@touch $@

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
endif

lab: $(LAB_ENV)  ## the chapters in JupyterLab, ready to run and to edit
	@"$(if $(VENV),$(VENV)-lab/bin/python,$(PY))" -m cogniload_repro lab --build "$(BUILD)" $(LAB)

evaluate-env: $(EVALUATE_ENV)  ## Inspect and the task cogniload_repro/cogniload, in .venv-evaluate

tokens: $(ENV)  ## fetch the models' tokenizers (once), for the chapter on lengths
	@$(COGNILOAD) fetch-tokenizers

# ---- the chain ---------------------------------------------------------------------------------------------------
reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: $(ENV)  ## the models' outputs (reconstructed, or from SOURCE=)
	@$(COGNILOAD) reproduce outputs $(MADE)
score: $(ENV)  ## score the outputs and count them by cell
	@$(COGNILOAD) reproduce scores $(MADE)
fit: $(ENV)  ## the regressions, and printed numbers compared with recomputed ones
	@$(COGNILOAD) reproduce regression $(MADE)
render: $(ENV)  ## notebooks and book
	@$(COGNILOAD) reproduce book $(MADE)
add: $(ENV)  ## add the models of SOURCE= to those that are there
	@$(COGNILOAD) add $(MADE)
remove: $(ENV)  ## remove MODEL=, or every model of SOURCE=
	@$(COGNILOAD) remove $(MADE)
choices: $(ENV)  ## what is chosen for the build
	@$(COGNILOAD) choose --build "$(BUILD)"

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
	@"$(PY)" -m pytest -n $(JOBS) -m "not slow"

test-slow: $(LAB_ENV) $(EVALUATE_ENV)  ## the tests that take longest: the whole reconstruction made again, every page, servers
	@"$(PY)" -m pytest -n $(JOBS) -m slow
	@$(if $(VENV),"$(EVALUATE_PY)" -m pytest -n $(JOBS) -m slow $(EVALUATE_TESTS))

explore: $(ENV)  ## the property tests on random examples (make test takes the same ones every time)
	@"$(PY)" -m pytest -n $(JOBS) -m "hypothesis and not slow" --hypothesis-profile=explore

test-evaluate: $(EVALUATE_ENV)  ## the tests that need Inspect
	@"$(EVALUATE_PY)" -m pytest -n $(JOBS) -m "not slow" $(EVALUATE_TESTS)

bench: $(ENV)  ## measure; WRITE=1 keeps the figures in docs/benchmarks.md and the README
	@"$(PY)" benchmarks/run.py $(if $(WRITE),--write)

reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again from the printed tables
	@$(COGNILOAD) reconstruct

feasible: $(ENV)  ## resample the tables consistent with the paper (15 minutes)
	@$(COGNILOAD) feasible --jobs $(JOBS)

clean:  ## remove everything built, your choices with it; .venv and downloads stay
	@for build in data/build data/build-mini; do \
		if [ -d $$build ]; then find $$build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} +; fi; \
	done
	@rmdir data/build data/build-mini 2>/dev/null || true

distclean: clean  ## clean, and remove .venv, JupyterLab's and Inspect's
	rm -rf .venv .venv-lab .venv-evaluate
