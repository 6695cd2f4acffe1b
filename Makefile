# The same door for people and for CI. `make demo` and `make test` need Python 3.11+ and git; the rest comes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := .make/installed

# Short numeric calls are 5-80 times slower with two OpenMP threads on a busy machine (docs/decisions, 9).
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export OMP_WAIT_POLICY = passive

.PHONY: demo up test check bench drill docs format clean

demo: $(READY)          ## play a recorded run over MQTT and show the packet that waited for each step
	$(BIN)/beforehand demo

up: $(READY)            ## start the daemon (and a broker, when none is configured)
	$(BIN)/beforehand up

test: $(READY)          ## the whole test suite
	$(BIN)/python -m pytest

check: $(READY)         ## style, types, floors, rule packs, generated pages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/beforehand rules check
	$(BIN)/python -m beforehand.cli.reference docs/reference --check

bench: $(READY)         ## measurements; writes docs/reference/benchmarks.md
	$(BIN)/python -m tests.bench

drill: $(READY)         ## kill, cut and fill everything on real processes; DRILL="--events N --kills N NAME ..." chooses
	$(BIN)/python -m tests.drills $(DRILL)

docs: $(READY)          ## write docs/reference/ from the code
	$(BIN)/python -m beforehand.cli.reference docs/reference

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .make .venv build dist

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@mkdir -p .make && touch $@
