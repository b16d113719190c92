# Every command a contributor needs. From a fresh clone, `make run` and `make test` do all the set-up;
# the second time they find it done.

PYTHON ?= python3
SCALE ?= small
JOBS ?= 2

export SCALE
export PATH := $(CURDIR)/.venv/bin:$(PATH)

BIN := .venv/bin
# What a change breaks most often, and one whole turn through a real server, model wire and MCP server.
QUICK := tests/core tests/test_layers.py tests/test_suite.py tests/test_makefile.py \
	tests/web/test_openapi.py tests/web/test_access.py \
	tests/e2e/test_seed.py::test_the_seeds_flow_ends_in_an_answer_without_approval
# Directories count too, so that a deleted file also rebuilds the page.
UI_SOURCES := $(shell [ ! -f ui/package.json ] || find ui -name node_modules -prune -o -print)

.PHONY: help setup page run test quick test-tools lint lint-code lint-page fmt bench figures proof steady dist docs golden types pictures pins clean

help:  ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1@/p' Makefile | awk -F@ '{printf "  make %-10s %s\n", $$1, $$2}'

setup: .venv/installed page  ## install everything into .venv and build the page

run: setup  ## start the server and print its URL
	@scripts/with-env .env $(BIN)/windlass serve

test: setup test-tools  ## run every test, the real browser included, then lint
	$(BIN)/pytest tests/core --cov=windlass.core --cov-fail-under=100
	$(BIN)/pytest --ignore=tests/core -n $(JOBS) --dist worksteal
	@[ ! -f ui/package.json ] || npm --prefix ui test
	@$(MAKE) --no-print-directory -j $(JOBS) lint

quick: setup  ## check lint and types of the Python code, core, API and one real turn, in under a minute
	@$(MAKE) --no-print-directory lint-code
	$(BIN)/pytest -q $(QUICK)

lint: lint-code lint-page  ## check format, lint and types

lint-code: setup  ## the same for the Python code alone
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

lint-page: setup  ## the same for the page alone
	@[ ! -f ui/package.json ] || npm --prefix ui run lint

fmt: setup  ## format everything
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	@[ ! -f ui/package.json ] || npm --prefix ui run fmt

bench: setup  ## print the speed table (ARGS='--quick s1' for less, PEERS=1 with others, AGAINST=REV beside a commit)
	$(BIN)/python -m $(if $(AGAINST),benchmarks.against $(AGAINST),benchmarks $(if $(PEERS),--peers)) $(ARGS)

figures: setup  ## write the section on speed in docs/figures.md and its picture from one run with peers
	$(BIN)/python -m benchmarks --peers --json .cache/figures.json --figures docs/figures.md --plot docs/pictures/speed.png $(ARGS)

proof: export SCALE := full
proof: setup test-tools  ## run the fault, kill and abuse matrix (PART=kills for one part, PART=? lists them)
	$(BIN)/python -m tests.proof $(if $(PART),--only '$(PART)')

steady: setup test-tools  ## run the tests that depend on time twenty times on a busy machine (ARGS='--times 3')
	$(BIN)/python -m tests.proof.steady $(ARGS)

dist: setup  ## build sdist, wheel and their SBOM into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python scripts/write-sbom dist/windlass-server.cdx.json

docs: types  ## write the pages that follow from the code again
	$(BIN)/python -m docs.generate

golden: setup  ## record the golden event logs anew
	$(BIN)/python -m tests.golden.record

types: setup  ## write the page's types from the server's schemas and events
	$(BIN)/python -m ui.generate_types

pictures: setup  ## take the pictures in docs/ anew
	$(BIN)/python scripts/take-pictures

pins:  ## resolve all dependencies again and pin them
	scripts/compile-pins

clean:  ## remove everything that set-up made
	rm -rf .venv .cache dist ui/node_modules tests/node/node_modules tests/conformance/node_modules tests/clients/node_modules src/windlass/web/static


.venv/installed: pyproject.toml requirements/dev.txt
	@echo "Installing into .venv; this takes a minute or two, once."
	@scripts/make-venv $(PYTHON) .venv
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip uninstall --quiet --yes windlass 2>/dev/null # its name before windlass-server
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

page: $(if $(UI_SOURCES),src/windlass/web/static/index.html)  ## build the page if its sources changed

src/windlass/web/static/index.html: $(UI_SOURCES) | .venv/installed
	@scripts/build-page

test-tools: .cache/servers/installed .cache/node/installed  ## install what the tests start: MCP servers, Chromium
test-tools: tests/node/node_modules/.package-lock.json tests/conformance/node_modules/.package-lock.json
test-tools: tests/clients/node_modules/.package-lock.json
	@scripts/install-test-programs

.cache/servers/installed: requirements/servers.txt
	@scripts/make-venv $(PYTHON) .cache/servers
	.cache/servers/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/servers.txt
	@touch $@

# The conformance suite needs a newer Node than the page does.
.cache/node/installed: requirements/node.txt | .venv/installed
	rm -rf .cache/node
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --target .cache/node -r requirements/node.txt
	@touch $@

tests/%/node_modules/.package-lock.json: tests/%/package-lock.json | .venv/installed
	@scripts/find-node "the tests cannot start their MCP servers"
	npm --prefix tests/$* ci --loglevel=error
	@touch $@
