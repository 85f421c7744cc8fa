# Samsa: `make run` starts a broker, `make test` proves it. Each sets itself up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.run
DEV_STAMP := $(VENV)/.dev
SAM := $(VENV)/sam/bin/sam
BUILT := .aws-sam/build/template.yaml
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --requirement
# What their tables of dependencies say is in the lock already.
OURS := $(PIP) --no-deps --no-build-isolation
RUNS := --editable layers/samsa --editable websocket_api --editable broker
PROJECTS := $(wildcard layers/samsa/pyproject.toml */pyproject.toml)

# Bytecode is kept, also where the environment says otherwise: tests start some thousand processes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup run demo prepare quick test soak fuzz histories check audit format docs bench lock dist bundle deploy clean

help: ## List what there is to make
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Samsa needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements/run.txt $(PROJECTS) | $(BIN)/python
	@echo "Installing Samsa into $(VENV) (once) ..."
	@$(LOCKED) requirements/run.txt
	@$(OURS) $(RUNS)
	@touch $@

$(DEV_STAMP): requirements/dev.txt requirements/run.txt $(PROJECTS) | $(BIN)/python
	@echo "Installing Samsa and what its tests need into $(VENV) (once, some minutes: Spark is half a gigabyte) ..."
	@$(LOCKED) requirements/dev.txt
	@$(OURS) $(RUNS) --editable pipeline
	@touch $@ $(RUN_STAMP)

setup: $(RUN_STAMP) ## Make .venv with samsa in it
run: $(RUN_STAMP) ## Start a broker on 127.0.0.1:9092 (ARGS="--port 0" and so on)
	@exec $(BIN)/samsa up $(ARGS)

demo: $(RUN_STAMP) ## Try the serverless path on this machine, hop by hop (ARGS="--count 10")
	@exec $(BIN)/samsa demo serverless $(ARGS)

prepare: $(DEV_STAMP) ## Fetch and build what tests need beyond PyPI: servers, drivers, tools
	@$(BIN)/python tests/support/prepare.py

test: prepare ## Run every test
	$(BIN)/python -m pytest $(ARGS)

# Some of the seeds of the simulation: each test there plays fifty.
SCHEDULES := tests/simulation/test_schedules.py::test_every_schedule_holds_every_invariant
# Without schemathesis, which only thorough tests use: each process would import it for a second.
WITHOUT_SCHEMATHESIS := -p no:schemathesis --ignore tests/unit/http_api/test_schema.py
quick: $(DEV_STAMP) ## The tests of a minute: unit, property, a slice of the simulation
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not thorough and not waits" $(WITHOUT_SCHEMATHESIS) \
		tests/unit tests/property "$(SCHEDULES)[0-49]" "$(SCHEDULES)[50-99]" $(ARGS)

soak: $(DEV_STAMP) ## Ten minutes of mixed load, retention, merging, compaction
	SAMSA_SOAK_SECONDS=$${SAMSA_SOAK_SECONDS:-600} $(BIN)/python -m pytest -s tests/soak $(ARGS)

fuzz: $(DEV_STAMP) ## Mutated frames of every API (SECONDS=600 SEED=7; ARGS="--keep-going")
	$(BIN)/python tests/fuzz/play.py --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(ARGS)

histories: $(DEV_STAMP) ## Two processes under SIGKILL and SIGSTOP, judged (SECONDS=600 SEED=7; ARGS="--only transactions")
	$(BIN)/python tests/histories/play.py --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: $(DEV_STAMP) ## Format, lint, stubs, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m samsa.wire.stubs --check
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases functions
	$(BIN)/lint-imports

# In an environment of its own, as it is no part of a build. It asks PyPI's JSON API, which mirrors seldom have.
audit: $(BIN)/python ## Ask PyPI for known vulnerabilities of what is locked
	@$(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements/dev.txt

format: $(DEV_STAMP) ## Format and mend what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(DEV_STAMP) ## Build the pages as a site into build/site; dead links fail
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(DEV_STAMP) ## Side by side with Apache Kafka
	$(BIN)/python benchmarks/side_by_side.py $(ARGS)

lock: $(BIN)/python ## Write requirements/*.txt anew (ARGS=--upgrade for newer versions)
	@$(PYTHON) -m venv $(VENV)/uv
	@$(VENV)/uv/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
	@$(PYTHON) requirements/lock.py $(abspath $(VENV)/uv/bin/uv) $(ARGS)

dist: $(RUN_STAMP) ## Build a wheel of each distribution into dist/
	@rm -rf dist $(addsuffix build,$(dir $(PROJECTS)))  # setuptools would ship what is left there
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--wheel-dir dist ./layers/samsa ./websocket_api ./broker ./pipeline
	@ls dist

# In an environment of its own: its pins do not agree with those of the tests.
$(SAM):
	@echo "Installing the AWS SAM command line into $(VENV)/sam (once) ..."
	@$(PYTHON) -m venv $(VENV)/sam
	@$(VENV)/sam/bin/python -m pip install --quiet --disable-pip-version-check aws-sam-cli==1.170.0

# For the Python that builds, because only that one's bytecode can be made; what was built says so
# itself, so that `sam deploy` cannot choose another.
bundle: $(BIN)/python $(SAM) ## Check and build what runs on AWS (no Docker)
	$(SAM) validate --lint
	@version=$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	PYTHON=$(abspath $(BIN)/python) PYTHON_VERSION=$$version $(SAM) build \
		--parameter-overrides PythonVersion=$$version $(ARGS) && \
	sed -i.bak "/^  PythonVersion:/,/Default:/ s/Default: .*/Default: '$$version'/" $(BUILT) && rm $(BUILT).bak

deploy: bundle ## Deploy it (DEPLOY="--config-env prod" for production)
	$(SAM) deploy $(DEPLOY)

clean: ## Remove what was made
	rm -rf $(VENV) .aws-sam build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
