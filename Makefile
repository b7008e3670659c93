# Everything a newcomer needs: `make demo` and `make test`. Each target does all that it depends on.
.PHONY: setup build all demo test test-fast test-sanitize bench format format-check lint clean
JOBS ?= $(shell nproc)
BUILD ?= build
SANITIZE_BUILD ?= build-sanitize

setup:
	@scripts/setup.sh

$(BUILD)/build.ninja: | setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release

# The program alone; `all` adds tests and benchmarks.
build: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target cgpo

all: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

demo: build
	@scripts/demo.sh $(BUILD)/bin/cgpo

# The optimised build runs every test; the sanitizer build, made with the other compiler, all but the slow ones.
test: test-fast test-sanitize

test-fast: all
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure

test-sanitize: setup
	@cmake -S . -B $(SANITIZE_BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
	  "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -gline-tables-only" -DCGPO_SANITIZE=ON -DCGPO_BENCHMARKS=OFF > /dev/null
	@cmake --build $(SANITIZE_BUILD) -j $(JOBS)
	@ctest --test-dir $(SANITIZE_BUILD) -j $(JOBS) -LE slow --output-on-failure

bench: all
	@scripts/bench.sh $(BUILD)

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

format: setup
	@clang-format -i $(SOURCES)

format-check: setup
	@clang-format --dry-run -Werror $(SOURCES)

lint: all format-check
	@run-clang-tidy -quiet -p $(BUILD) -j $(JOBS) '/(src|apps|tests|bench)/'

clean:
	@rm -rf $(BUILD) $(SANITIZE_BUILD)
