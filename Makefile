# Two commands on a fresh machine: `make demo` and `make test`.
#
# PYTHON      the interpreter that makes the virtual environment (3.11 or newer)
# TORCH_ARGS  extra arguments of the one `pip install` that brings torch, such as an index
#             of CPU-only or CUDA builds; the version itself is pinned in constraints.txt
# ONLY, SCALE passed on to the benchmarks: make bench ONLY="data search/faiss-single" SCALE=full
PYTHON     ?= python3
VENV       ?= .venv
TORCH_ARGS ?=
OUT        ?= demo
BIN         = $(VENV)/bin
PIP         = $(BIN)/python -m pip --disable-pip-version-check
TORCH       = $(shell grep '^torch==' constraints.txt)

# Modules are compiled when they are first used, not all when they are installed, and kept even where
# the caller's environment says otherwise: tests start Python a hundred times.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test check bench docs build clean

demo: $(VENV)/.demo
	$(BIN)/trope demo --out $(OUT)

# A thread for each worker: with more, they wait for each other most of the time. Three workers for
# two cores, because one of them mostly waits for Milvus's server.
test: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist loadgroup $(ARGS)

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

bench: $(VENV)/.bench
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE))

docs: $(VENV)/.check
	$(BIN)/mkdocs serve

build: $(VENV)/.test
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) demo dist site

# One stamp per set of extras: installed again only when the pins or the package's metadata change.
$(VENV)/.%: $(VENV)/.torch
	$(PIP) install --quiet --no-compile -c constraints.txt -e '.[$*]'
	@touch $@

$(VENV)/.torch: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("trope needs Python 3.11 or newer, this is %d.%d: make PYTHON=python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-compile $(TORCH_ARGS) '$(TORCH)'
	@touch $@
