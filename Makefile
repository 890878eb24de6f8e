# Every target sets up .venv by itself; nothing else is needed but Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORDNET := $(VENV)/share/wordnet
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint bench docs clean

demo: $(VENV)/core.stamp
	$(BIN)/rote demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/dev.stamp
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/dev.stamp
	$(BIN)/python -m pytest README.md docs

clean:
	rm -rf $(VENV) demo build *.egg-info src/*.egg-info

$(VENV)/core.stamp: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev]"
	touch $@
