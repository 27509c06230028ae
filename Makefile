# Each target works as the first and only command on a machine with Python 3.11+, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_ARGS ?=
ROOMS := app github loops k8s
DEMO_LOCK := app/demo/requirements.lock
CLIENTS := tests/github/contract/clients
REQUIRED := loops/evidence/recognise/required.json

.PHONY: demo test test-cluster test-github chaos check fmt bench bench-evidence bench-workflows lock clean

demo: $(VENV)/$(if $(findstring native,$(DEMO_ARGS)),.dev,.runtime)
	$(BIN)/greenloop demo $(if $(KEEP),--keep) $(DEMO_ARGS)

# The long end-to-end tests run in CI and with LONG=1. Tests start our programs hundreds of times: compiled modules are
# kept, also where the environment says not to.
test: $(VENV)/.dev
	PYTHONDONTWRITEBYTECODE= GREENLOOP_TEST_SHORT=$(if $(or $(CI),$(LONG)),,1) $(BIN)/python -m pytest -n auto --dist worksteal $(TEST_ARGS)

# What we know of Kubernetes, boxes, and the loop with them, on a real cluster: make test-cluster KUBECONFIG=… IMAGE=…
# [HOST=address of this machine]. The quick ones come first; what fails stops no other, and its namespaces go in the end.
test-cluster: $(VENV)/.dev
	@test -n "$(KUBECONFIG)" -a -n "$(IMAGE)" || { echo "usage: make test-cluster KUBECONFIG=FILE IMAGE=NAME-OF-THE-BOX-IMAGE" >&2; exit 2; }
	export GREENLOOP_TEST_RUN=$$(date +%s); trap '$(BIN)/python -m tests.k8s.namespaces "$(KUBECONFIG)"' EXIT; \
	  GREENLOOP_TEST_KUBECONFIG="$(KUBECONFIG)" GREENLOOP_TEST_IMAGE="$(IMAGE)" GREENLOOP_TEST_HOST="$(HOST)" \
	  $(BIN)/python -m pytest -m cluster -v -n 4 --dist load --timeout 600 $(or $(TEST_ARGS),tests/k8s/apiserver tests/k8s/cluster tests/e2e/service)

# What is known of GitHub, held against GitHub itself: make test-github TOKEN_FILE=… REPOSITORY=owner/name [API_URL=…]
test-github: $(VENV)/.dev
	@test -n "$(TOKEN_FILE)" -a -n "$(REPOSITORY)" || { echo "$$TEST_GITHUB_USAGE" >&2; exit 2; }
	@test -s "$(TOKEN_FILE)" || { echo "TOKEN_FILE=$(TOKEN_FILE): there is no such file, or it is empty" >&2; exit 2; }
	GREENLOOP_TEST_GITHUB_TOKEN_FILE="$(abspath $(TOKEN_FILE))" GREENLOOP_TEST_GITHUB_REPOSITORY="$(REPOSITORY)" $(if $(API_URL),GREENLOOP_TEST_GITHUB_API_URL="$(API_URL)") \
	  $(BIN)/python -m pytest -n 0 -v -rs --timeout 1200 tests/github/contract $(TEST_ARGS)

define TEST_GITHUB_USAGE
usage: make test-github TOKEN_FILE=FILE REPOSITORY=OWNER/NAME [API_URL=https://HOST/api/v3] [TEST_ARGS=…]

  TOKEN_FILE   a file with a token: a person's (classic with `repo` and `workflow`, or fine-grained), or an installation's
  REPOSITORY   a scratch repository with at least one commit, which that token may write

Branches contract-…/… are made and deleted there; pull requests and issues that are opened are closed. The default
branch is never written. docs/local-github.md says more.
endef
export TEST_GITHUB_USAGE

# Everything is killed and paused at random, and what must hold is held: make chaos [SEED=…] [ROUNDS=…] [DATABASE=sqlite|postgres]
chaos: $(VENV)/.dev
	$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(DATABASE),--database $(DATABASE))

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.loops.store.frozen
	@$(BIN)/python -m loops.evidence.recognise.derive | cmp -s - $(REQUIRED) || { echo "$(REQUIRED) is not up to date: make fmt" >&2; exit 1; }

fmt: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m loops.evidence.recognise.derive > $(REQUIRED).new && mv $(REQUIRED).new $(REQUIRED)

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench

bench-evidence: $(VENV)/.dev
	$(BIN)/python -m tests.bench.evidence

bench-workflows: $(VENV)/.dev
	$(BIN)/python -m tests.bench.workflows

# what an extra adds, at the versions that are tested: $(call lock_extra,NAME,FILE)
define lock_extra
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$(1)"], sep="\n")' \
	  | $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header --no-annotate -c requirements-dev.lock -q - -o $(2)
endef

lock: $(VENV)/.dev
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header -q pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header -q pyproject.toml --all-extras --group dev -o requirements-dev.lock
	$(call lock_extra,native,k8s/images/native.lock)
	$(call lock_extra,demo,$(DEMO_LOCK))
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header --no-annotate -q $(CLIENTS)/requirements.in -o $(CLIENTS)/requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Greenloop needs Python 3.11 or newer, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock $(DEMO_LOCK) pyproject.toml | $(BIN)/python
	test -e $(VENV)/.dev || $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements.lock -r $(DEMO_LOCK)
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	touch $@ $(VENV)/.runtime
