# CogniLoad, reproduced. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# ---- variables that a user may set -------------------------------------------------------------------------------
GRID ?= paper
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
MAX_REJECTED ?= 0
VENV ?= .venv
PYTHON ?= python3
# SOURCE, FORMULA, FAMILY and DATA, when given, are checked and kept in the build folder for later calls; an empty one
# goes back to the default.

# ---- derived -----------------------------------------------------------------------------------------------------
BUILD := data/build$(if $(filter-out paper,$(GRID)),-$(GRID))

# ---- choices: given in this call, or kept by an earlier one (now: NAME,file) ------------------------------------------
GIVEN := $(strip $(foreach name,SOURCE FORMULA FAMILY DATA,$(if $(filter undefined default,$(origin $(name))),,$(name))))
# a reader's text: make must not expand it on its way into the environment (and this line defines what is not)
unexport SOURCE FORMULA FAMILY DATA
CHOICES := $(addprefix $(BUILD)/,source.txt formula.txt family.txt data.txt)
now = $(if $(filter $(1),$(GIVEN)),$(value $(1)),$(shell cat $(BUILD)/$(2).txt 2>/dev/null))
OWN_DATA := $(call now,DATA,data)
OWN_FIT := $(strip $(call now,FORMULA,formula)$(call now,FAMILY,family)$(OWN_DATA))

NOTEBOOKS := $(wildcard notebooks/*.ipynb)
BOOK := $(shell find book -type f -not -path '*/_build/*' 2>/dev/null)
INDEX := $(BUILD)/book/_build/html/index.html
SRC := src/cogniload_repro
ALL_SRC := $(filter-out %/cli.py,$(wildcard $(SRC)/*.py $(SRC)/*/*.py))
# what outputs and scores are made with: foundation, four folders, and of the statistics what sums and counts are made of
CORE_SRC := $(filter-out %/cli.py,$(wildcard $(SRC)/*.py $(addprefix $(SRC)/,puzzles/*.py outputs/*.py scoring/*.py reconstruction/*.py \
	$(addprefix statistics/,design.py likelihood.py accuracy.py capacity.py))))
PUBLISHED := $(wildcard data/published/iclr2026/* data/puzzle_ids*.csv) data/reconstructed/cells.csv
COMMITTED := $(PUBLISHED) $(wildcard data/reconstructed/* data/companions/* data/published/companions/* data/published/submission2025/*) data/tokenizers.json
# prompts are counted with the models' tokenizers where `make tokens` has fetched them
VOCABULARIES := $(wildcard data/tokenizers/*)
PROMPTS := $(if $(and $(VOCABULARIES),$(filter paper,$(GRID))),$(BUILD)/prompt_tokens.parquet)

ifeq ($(VENV),)
PY := $(PYTHON)
ENV :=
LAB_ENV :=
else
PY := $(VENV)/bin/python
ENV := $(VENV)/.ready
LAB_ENV := $(VENV)-lab/.ready
endif
export PYTHONPATH := $(CURDIR)/src
export PYTHONHASHSEED := 0
# one thread a process: JOBS says how many there are
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
COGNILOAD := $(PY) -m cogniload_repro

ifeq ($(filter paper mini,$(GRID)),)
$(error GRID is '$(GRID)'; choose GRID=paper or GRID=mini)
endif
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(JOBS)
endif

# ---- choices that are inputs: a file each, touched only when the value changes -----------------------------------------
.PHONY: choices
choices: | $(ENV)
	@$(COGNILOAD) choose --build $(BUILD) $(foreach name,$(GIVEN),'$(name)=$(subst ','\'',$(value $(name)))')
$(CHOICES): $(if $(GIVEN)$(filter-out $(wildcard $(CHOICES)),$(CHOICES)),choices)
	@:

.PHONY: help env lab tokens feasible reproduce download-outputs score fit render smoke test test-slow lint format bench reconstruct clean distclean

help:  ## this list
	@echo "CogniLoad, reproduced: every table and figure of the paper as a Jupyter Book."
	@echo
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'
	@echo
	@echo "Variables:"
	@echo "  GRID=paper|mini    the paper's 140 cells, or 18 of them          (now $(GRID))"
	@echo "  JOBS=n             processes                                     (now $(JOBS))"
	@echo "  MAX_REJECTED=n     rows of SOURCE that may be unusable           (now $(MAX_REJECTED))"
	@echo "  VENV=dir           the environment; VENV= uses the python that is active"
	@echo
	@echo "Choices, kept for later calls; an empty one goes back to the paper's:"
	@echo "  SOURCE=...         real outputs: a folder, file, archive or address; SOURCE=reconstructed goes back"
	@echo "  FORMULA='...'      another regression, such as 'correct ~ d * log10_N + rho + I(rho**2)'"
	@echo "  FAMILY=...         logit, probit, cloglog or quasi-binomial"
	@echo "  DATA=...           another table of cells for the regressions, CSV or Parquet"

# ---- environment -------------------------------------------------------------------------------------------------
env: $(ENV)  ## the environment in .venv, from requirements.lock

ifneq ($(VENV),)
# into $(1): uv installs in half the time of pip, and compiles while it does; where it cannot be had, pip will do
install = if "$(PY)" -m uv --version >/dev/null 2>&1; then \
		UV_COMPILE_BYTECODE=1 "$(PY)" -m uv pip install --quiet --python "$(1)/bin/python" $(2); \
	else "$(PY)" -m pip --python "$(1)/bin/python" install --quiet --disable-pip-version-check $(2); fi

$(VENV)/.ready: requirements.lock requirements-uv.lock pyproject.toml
	@echo "== environment in $(@D) (about a minute)"
	$(PYTHON) -m venv $(@D)
	-@"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(call install,$(@D),-r requirements.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@touch $@

# an environment of its own, which sees the other: with JupyterLab beside them, the book's own steps would start 2 s later
$(VENV)-lab/.ready: requirements-lab.lock $(ENV)
	@echo "== JupyterLab in $(@D) (once)"
	$(PYTHON) -m venv --without-pip $(@D)
	@$(call install,$(@D),-r requirements-lab.lock)
	@"$(PY)" -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
		> "$$("$(@D)/bin/python" -c "import sysconfig; print(sysconfig.get_path('purelib'))")/cogniload.pth"
	@touch $@
endif

lab: $(LAB_ENV)  ## the chapters in JupyterLab, ready to run and to edit
	@$(if $(VENV),$(VENV)-lab/bin/python,$(PY)) -m cogniload_repro lab --build $(BUILD) $(LAB)

tokens: $(ENV)  ## fetch the models' tokenizers (once), for the chapter on lengths
	@$(COGNILOAD) fetch-tokenizers

SAY = @echo "Outputs: $$(cat $(BUILD)/source.txt)"

# ---- the chain ---------------------------------------------------------------------------------------------------
reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: $(BUILD)/outputs/.done  ## the models' outputs (reconstructed, or from SOURCE=)
	$(SAY)
score: $(BUILD)/cells.parquet  ## score the outputs and count them by cell
	$(SAY)
fit: $(BUILD)/fidelity.parquet $(if $(OWN_FIT),$(BUILD)/regression.csv)  ## the regressions, and printed against recomputed numbers
	$(SAY)
render: $(INDEX)  ## notebooks and book
	@echo "The book: $(INDEX)"
	$(SAY)

$(BUILD)/outputs/.done: $(BUILD)/source.txt $(CORE_SRC) $(PUBLISHED) | $(ENV)
	@echo "== outputs"
	@$(COGNILOAD) download-outputs --build $(BUILD) --grid $(GRID) --jobs $(JOBS) --source "$$(cat $(BUILD)/source.txt)" \
		--max-rejected $(MAX_REJECTED)
	@touch $@

$(BUILD)/cells.parquet: $(BUILD)/outputs/.done $(wildcard $(BUILD)/outputs/*.parquet) $(CORE_SRC) | $(ENV)
	@echo "== scores"
	@$(COGNILOAD) score --build $(BUILD) --jobs $(JOBS)

$(BUILD)/glm.parquet: $(BUILD)/cells.parquet $(CORE_SRC) | $(ENV)
	@echo "== regressions"
	@$(COGNILOAD) fit --build $(BUILD)

# what a reader has chosen, as options
FORMULA_DATA = --formula "$$(cat $(BUILD)/formula.txt)" --family "$$(cat $(BUILD)/family.txt)" $(DATA_ONLY)
DATA_ONLY = --data "$$(cat $(BUILD)/data.txt)"

$(BUILD)/regression.csv: $(BUILD)/glm.parquet $(CHOICES) $(wildcard $(OWN_DATA)) | $(ENV)
	@$(COGNILOAD) fit --build $(BUILD) $(FORMULA_DATA) --compare --out $@

$(BUILD)/fidelity.parquet: $(BUILD)/glm.parquet $(PROMPTS) $(ALL_SRC) $(COMMITTED) | $(ENV)
	@$(COGNILOAD) compare --build $(BUILD)

$(BUILD)/prompt_tokens.parquet: $(BUILD)/outputs/.done $(VOCABULARIES) | $(ENV)
	@$(COGNILOAD) count-tokens --build $(BUILD)

# one process for all notebooks: they share its imports, it knows which of them have changed, and Sphinx starts meanwhile
$(INDEX): $(NOTEBOOKS) $(BUILD)/fidelity.parquet $(CHOICES) $(wildcard $(OWN_DATA)) $(ALL_SRC) $(BOOK) | $(ENV)
	@echo "== notebooks"
	@$(COGNILOAD) render --build $(BUILD) --grid $(GRID) --jobs $(JOBS) $(BUILD)/fidelity.parquet $(ALL_SRC)

# ---- checks ------------------------------------------------------------------------------------------------------
smoke:  ## the whole chain on the mini-grid, under a minute
	@$(MAKE) --no-print-directory GRID=mini reproduce

lint: $(ENV)  ## ruff, lint and format; types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

format: $(ENV)  ## ruff, in place
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

test: lint  ## lint, smoke, unit and property tests, the book in a browser
	@$(MAKE) --no-print-directory smoke
	@$(PY) -m pytest -n $(JOBS) -m "not slow"

test-slow: $(LAB_ENV)  ## the tests that take longest: the whole reconstruction made again
	@$(PY) -m pytest -n $(JOBS) -m slow

bench: $(ENV)  ## measure; WRITE=1 keeps the figures in docs/benchmarks.md and the README
	@$(PY) benchmarks/run.py $(if $(WRITE),--write)

reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again from the printed tables
	@$(COGNILOAD) reconstruct

feasible: $(ENV)  ## make data/reconstructed/feasible.csv again: other tables that agree as well (10 minutes)
	@$(COGNILOAD) feasible --jobs $(JOBS)

clean:  ## remove everything built; .venv and downloads of yours stay
	rm -rf data/build data/build-mini

distclean: clean  ## clean, and remove .venv and JupyterLab's
	rm -rf .venv .venv-lab
