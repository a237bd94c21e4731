# ctxlab: every target prepares .venv itself when it is missing or stale.
# A second call does no set-up work again: .venv/.ready is newer than the lock.

PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.ready

# A checkout that was moved has console scripts that point to the old place: set up again.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
  $(shell rm -f $(READY))
endif

# Imports are half of a short run: write their bytecode once, whatever the caller's shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help results baseline data lab test check bench lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

results: data  ## run the default batch and leave results/index.html
	$(BIN)/ctxlab batch notebooks/plan.toml
	@echo "Open results/index.html"

# What is accepted of other entries stays; `ctxlab baseline --drop ENTRY` removes one.
baseline: results  ## accept the runs of the default batch: what later runs are held against
	$(BIN)/ctxlab baseline --plan notebooks/plan.toml

# Exit code 1: an MCP server did not give its tools. It was named; the rest is there, so go on.
data: $(READY)  ## fetch vocabularies, source trees and tool lists into data/cache
	@$(BIN)/ctxlab data || test $$? -eq 1

# Checkpoints go to results/: nothing is written into notebooks/ but what is saved.
lab: LAB_ROOT ?= $(CURDIR)
lab: $(READY)  ## open JupyterLab on notebooks/
	$(BIN)/python -m jupyterlab --notebook-dir=$(LAB_ROOT) --LabApp.default_url=/lab/tree/notebooks \
	  --FileCheckpoints.checkpoint_dir=$(LAB_ROOT)/results/.checkpoints \
	  --Scheduler.execution_manager_class=ctxlab.workbench.jupyter_jobs.RunnerJobs $(LAB_ARGS)

test: data  ## the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(READY)  ## lint, types, import rules, notebook rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.notebook_rules

bench: data  ## speed and memory as ratios against a reference of the same run
	$(BIN)/python -m tests.bench $(BENCH_ARGS)

lock: $(READY)  ## resolve requirements.lock anew and bring environment.yml along
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --all-extras \
	  --no-emit-index-url --no-emit-find-links -q --upgrade -o requirements.lock pyproject.toml
	$(BIN)/python -m tests.environment_file

clean:  ## remove .venv and data/cache (results stay)
	rm -rf .venv data/cache

# uv itself comes from the lock, with its hash, through the pip that venv brings.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "ctxlab needs Python 3.11 or later; $(PYTHON) is older. Try: make PYTHON=python3.12 ..." >&2; exit 2; }
	@test -x $(BIN)/python && $(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@awk '/^uv==/{p=1} p{print} p&&!/\\$$/{exit}' requirements.lock > .venv/uv.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r .venv/uv.txt
	@$(BIN)/uv pip sync -q --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .
	@echo "$(CURDIR)" > $(READY)
