# gawah: two commands do all the set-up. `make demo` runs the main job, `make test` passes the tests.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
LOCKED := --no-deps --require-hashes

.PHONY: demo test system check bench bench-cost screenshots claims bench-kill bench-migrate bench-load bench-mutations bench-qdrant test-ray bench-scale calibrate experiment lock clean help

help:
	@echo "make demo        install, then ingest examples/, three cited answers, two refusals, one verification"
	@echo "make test        install (also Debian's tesseract, poppler, espeak-ng, ffmpeg and chromium, where that needs no password), then lint, types and tests"
	@echo "make check       lint and types only"
	@echo "make bench       one table of speeds and sizes (minutes)"
	@echo "make screenshots  the page in pictures: writes docs/screenshots/"
	@echo "make bench-cost  bytes, time and recall of rerankers over the development sets; writes docs/reranking.md (minutes)"
	@echo "make bench-kill  kill -9 an ingest twenty times and compare fingerprints (minutes)"
	@echo "make bench-migrate  migrate to another model under questions and kill -9; the way back (minutes)"
	@echo "make bench-load  a server under load: askers, large uploads, slow and aborted clients, kill -9 (minutes)"
	@echo "make test-ray    the tests that start a Ray cluster of two nodes on this machine (a minute)"
	@echo "make bench-qdrant  the Qdrant index beside the local one (minutes)"
	@echo "make bench-mutations  a thousand damaged files in one folder: none may end without a state and a code (minutes)"
	@echo "make bench-scale  one store from 1,000 to 1,000,000 chunks: rates, sizes, times, memory, recall (ten minutes, 6 GB)"
	@echo "make claims      precision and recall of unsupported claims; writes docs/claims.md"
	@echo "make calibrate   the gate over the development sets; writes docs/gate.md and the calibration that ships"
	@echo "make experiment  strategies A-F times systems over the development sets; writes docs/experiment.md (minutes)"
	@echo "make lock        write the lock files anew (needs uv)"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "gawah needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "the venv module is missing; on Debian and Ubuntu: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.runtime: requirements/runtime.lock requirements/models.lock requirements/build.lock pyproject.toml | $(BIN)/python
	$(PIP) install $(LOCKED) -r requirements/runtime.lock -r requirements/models.lock -r requirements/build.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.develop: requirements/develop.lock requirements/speech.lock requirements/local.lock $(VENV)/.runtime
	$(PIP) install $(LOCKED) -r requirements/develop.lock -r requirements/speech.lock -r requirements/local.lock
	@touch $@

$(VENV)/.ray: requirements/ray.lock $(VENV)/.develop
	$(PIP) install $(LOCKED) -r requirements/ray.lock
	@touch $@

demo: $(VENV)/.runtime
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

system:
	@sh requirements/system.sh

test: $(VENV)/.develop system
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

check: $(VENV)/.develop
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.develop
	$(BIN)/python -m bench.run

screenshots: $(VENV)/.develop system
	$(BIN)/python -m bench.screenshots

calibrate: $(VENV)/.develop
	$(BIN)/python -m bench.calibrate

experiment: $(VENV)/.develop
	$(BIN)/python -m bench.experiment

claims: $(VENV)/.develop
	$(BIN)/python -m bench.claims

bench-cost: $(VENV)/.develop
	$(BIN)/python -m bench.cost

bench-kill: $(VENV)/.develop
	$(BIN)/python -m bench.kill

bench-migrate: $(VENV)/.develop
	$(BIN)/python -m bench.migrate

bench-load: $(VENV)/.develop
	$(BIN)/python -m bench.load

bench-mutations: $(VENV)/.develop system
	$(BIN)/python -m bench.mutations

test-ray: $(VENV)/.ray
	$(BIN)/python -m pytest -m ray

bench-qdrant: $(VENV)/.develop
	$(BIN)/python -m bench.qdrant

bench-scale: $(VENV)/.develop
	$(BIN)/python -m bench.scale

lock:
	uv pip compile pyproject.toml --extra audio --extra hnsw --extra local --extra mcp --extra postgres --extra qdrant --extra report --extra server --group test --group check --group bench $(LOCKFLAGS) -o requirements/develop.lock
	uv pip compile pyproject.toml -c requirements/develop.lock $(LOCKFLAGS) -o requirements/runtime.lock
	uv pip compile pyproject.toml --extra server --extra mcp --extra postgres --extra hnsw --extra qdrant -c requirements/develop.lock $(LOCKFLAGS) -o requirements/server.lock
	uv pip compile pyproject.toml --extra ray -c requirements/develop.lock $(LOCKFLAGS) -o requirements/ray.lock
	uv pip compile --group build -c requirements/develop.lock $(LOCKFLAGS) -o requirements/build.lock
	uv pip compile requirements/models.in --no-deps $(LOCKFLAGS) -o requirements/models.lock
	uv pip compile requirements/speech.in --no-deps $(LOCKFLAGS) -o requirements/speech.lock
	uv pip compile requirements/local.in --no-deps $(LOCKFLAGS) -o requirements/local.lock

LOCKFLAGS := --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links -q

clean:
	rm -rf .demo dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
