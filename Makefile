# A short door to CMake and Ninja.  `make demo` and `make test` install what is missing (Debian) first.
BUILD  ?= build
PREFIX ?= /usr/local
# Debian's own cmake first: one on the PATH may be a broken shim.  `make CMAKE=...` overrides.
CMAKE  ?= $(firstword $(wildcard /usr/bin/cmake) cmake)
CTEST  ?= $(firstword $(wildcard /usr/bin/ctest) ctest)
FLAGS  ?=

.PHONY: all everything configure setup demo test bench coverage install clean format
all: configure
	@$(CMAKE) --build $(BUILD) --target privet privet_cmd privet_texts
everything: configure
	@$(CMAKE) --build $(BUILD)
configure:
	@test -f $(BUILD)/build.ninja || $(CMAKE) -G Ninja -B $(BUILD) -S . $(FLAGS)
setup:
	@sh tools/bootstrap.sh
demo: setup
	@$(MAKE) --no-print-directory all
	@$(BUILD)/privet demo $(BUILD)/demo
test: setup
	@$(MAKE) --no-print-directory everything
	@$(CTEST) --test-dir $(BUILD) -LE long -j 2 --output-on-failure
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
install: all
	@$(CMAKE) --install $(BUILD) --prefix $(PREFIX)
clean:
	@rm -rf $(BUILD) build-coverage
format:
	@sh tools/bootstrap.sh clang-format
	@find include src cli tests bench examples -name '*.[ch]' | xargs clang-format -i
