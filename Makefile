# A short door to CMake and Ninja.  `make demo` and `make test` install what is missing (Debian) first.
BUILD  ?= build
PREFIX ?= /usr/local
# Debian's own cmake first: one on the PATH may be a broken shim.  `make CMAKE=...` overrides.
CMAKE  ?= $(firstword $(wildcard /usr/bin/cmake) cmake)
CTEST  ?= $(firstword $(wildcard /usr/bin/ctest) ctest)
# FLAGS=... (options of CMake) belongs to a build folder: without it the folder stays as it was configured, with another
# one it is configured afresh.
FLAGS  ?=
GIVEN  := $(if $(filter file,$(origin FLAGS)),,yes)
SETUP  := \`make setup\` installs what privet is built with (Debian; as root or through sudo)

.PHONY: all everything configure setup static demo test check scripts formatted clang sanitizers sanitize tsan fuzzers replay fuzz bench coverage wheel install clean format
all: configure
	@$(CMAKE) --build $(BUILD) --target privet privet_static privet_cmd privet_texts
everything: configure
	@$(CMAKE) --build $(BUILD)
configure:
	@for tool in $(CMAKE) ninja $(if $(findstring COMPILER,$(FLAGS)),,$(CC)); do \
	    command -v $$tool >/dev/null || { echo "privet: there is no $$tool; $(SETUP)" >&2; exit 1; }; done
	@if [ ! -f $(BUILD)/build.ninja ] || { [ -n "$(GIVEN)" ] && [ "$$(cat $(BUILD)/flags 2>/dev/null)" != '$(FLAGS)' ]; }; then \
	    $(CMAKE) --fresh -G Ninja -B $(BUILD) -S . $(FLAGS) && printf '%s\n' '$(FLAGS)' >$(BUILD)/flags; fi
setup:
	@sh tools/bootstrap.sh
# One file that needs nothing of the machine it runs on but the kernel.
static: setup
	@$(MAKE) --no-print-directory configure
	@$(CMAKE) --build $(BUILD) --target privet_static_cmd
	@mkdir -p build-static && cp $(BUILD)/static/privet build-static/privet
	@echo "build-static/privet: $$(du -h build-static/privet | cut -f1), statically linked"
demo: setup
	@$(MAKE) --no-print-directory all
	@$(BUILD)/privet demo $(BUILD)/demo
test: setup
	@$(MAKE) --no-print-directory everything
	@$(CTEST) --test-dir $(BUILD) -LE long -j 2 --output-on-failure
# What .ci/run does, on the machine of a developer; its parts below can be called one by one.
check:
	@bash .ci/run
scripts:
	@sh tools/bootstrap.sh shellcheck
	@sh tools/check_scripts.sh
formatted:
	@sh tools/bootstrap.sh clang-format
	@sh tools/check_format.sh
clang:
	@sh tools/bootstrap.sh clang
	@$(MAKE) --no-print-directory everything BUILD=build-clang FLAGS="-DCMAKE_C_COMPILER=clang -DPRIVET_WERROR=ON"
	@$(CMAKE) --build build-clang --target benches
# The sanitizers' build is the fuzzers' as well.
CHECKED = BUILD=build-asan FLAGS="-DCMAKE_C_COMPILER=clang -DPRIVET_FUZZ=ON -DPRIVET_SANITIZE=fuzzer-no-link,address,undefined"
FUZZ_SECONDS ?= 60
sanitizers:
	@sh tools/bootstrap.sh clang llvm
	@sh tools/bootstrap.sh libclang-rt-$$(clang -dumpversion | sed 's/\..*//')-dev
# Left out: checker and stat, arithmetic on code that other tests reach too; tests that are about the tree, the Makefile, a
# browser or the installation, to which it makes no difference; and tests of minutes each, run by `make sanitize UNCHECKED=none`.
UNCHECKED = contract/test_(tree|headers|symbols|globals|replay|nets)$$|cli/test_(bootstrap|make|browser|install|examples_c|readme|reproduce|contributing|real_data)|property/test_(extremes|mutants|utility)|unit/acct/test_(acct_loops|pld)$$
sanitize: sanitizers
	@$(MAKE) --no-print-directory everything $(CHECKED)
	@$(CTEST) --test-dir build-asan -LE 'long|checker|stat' -E '$(UNCHECKED)' -j 2 --output-on-failure
# Tests whose first lines say "label: tsan": threads, forks, callbacks.
tsan:
	@$(MAKE) --no-print-directory configure BUILD=build-tsan FLAGS="-DPRIVET_SANITIZE=thread"
	@$(CMAKE) --build build-tsan --target privet_cmd tsan_tests
	@TSAN_OPTIONS="die_after_fork=0 $$TSAN_OPTIONS" $(CTEST) --test-dir build-tsan -L tsan --output-on-failure
fuzzers: sanitizers
	@$(MAKE) --no-print-directory configure $(CHECKED)
	@$(CMAKE) --build build-asan --target fuzzers
replay: fuzzers
	@sh tools/fuzz.sh replay 10 build-asan
fuzz: fuzzers
	@sh tools/fuzz.sh grow $(FUZZ_SECONDS) build-asan
bench: setup
	@$(MAKE) --no-print-directory all
	@$(CMAKE) --build $(BUILD) --target benches
	@for b in $(BUILD)/bench/bench_*; do if [ -x $$b ]; then echo "== $${b##*/}"; $$b || exit 1; fi; done
coverage:
	@sh tools/bootstrap.sh gcovr
	@$(MAKE) --no-print-directory everything BUILD=build-coverage FLAGS="-DPRIVET_COVERAGE=ON -DCMAKE_BUILD_TYPE=Debug"
	-@$(CTEST) --test-dir build-coverage -LE long -j 2 # instrumentation slows some tests past their limit
	@gcovr -r . --object-directory build-coverage -f src/ -f cli/ --branches --txt --csv build-coverage/coverage.csv
	@awk -F, 'NR > 1 { split($$1, p, "/"); f = p[1] (p[3] ? "/" p[2] : ""); all[f] += $$5; hit[f] += $$6 } \
	    END { for (f in all) printf "%-10s %6d of %6d branches %7.2f %%\n", f, hit[f], all[f], 100 * hit[f] / (all[f] + !all[f]) }' \
	    build-coverage/coverage.csv | sort
# The Python package for machines without a compiler: build-wheel/dist.
wheel: setup
	@sh tools/wheel.sh build-wheel
install: all
	@$(CMAKE) --install $(BUILD) --prefix $(PREFIX)
clean:
	@rm -rf $(BUILD) build-coverage build-clang build-asan build-tsan build-static build-wheel
format:
	@sh tools/bootstrap.sh clang-format
	@find include src cli tests bench examples python/src -name '*.[ch]' | xargs clang-format -i
