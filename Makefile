# The project's targets; `make` alone lists them. Set-up is part of each: nothing needs to be installed before but
# git, make, curl and cargo.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

BED := $(CURDIR)/tests/bed
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
export NBCTL_BED_DIR ?= $(CURDIR)/.bed
export CARGO_TERM_PROGRESS_WHEN ?= auto

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: cargo ## the whole job on four test hosts: deploy, monitor, import, stress, report, teardown
	@$(BED)/setup.sh build bed
	@$(BED)/demo.sh

.PHONY: test
test: cargo ## every test, those on test hosts included
	@$(BED)/setup.sh build bed tests
	@$(BED)/test.sh

.PHONY: panels
panels: cargo ## every query of every dashboard, against real servers with the data of a run
	@$(BED)/setup.sh build bed tests
	@$(BED)/test.sh pipeline

.PHONY: check
check: cargo ## formatting, clippy, documentation, shell scripts
	@$(BED)/setup.sh build check
	@$(BED)/check.sh

.PHONY: bed
bed: ## four test hosts that stay up, and their inventory
	@$(BED)/setup.sh bed
	@$(BED)/engine.sh start
	@$(BED)/images.sh build
	@$(BED)/images.sh save
	@$(BED)/hosts.sh up 4

.PHONY: bed-down
bed-down: ## removes them, and stops the Docker engine if it was started for them
	@$(BED)/hosts.sh down
	@$(BED)/engine.sh stop

# Seconds per target of `make fuzz`.
FUZZ_SECONDS ?= 600

.PHONY: fuzz
fuzz: cargo ## hostile input for FUZZ_SECONDS (600) per target: the decoders, the statement parser
	@$(BED)/setup.sh build
	@NBCTL_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BED)/long-test.sh nebula-wire decoders_survive_mutants_for_a_while
	@NBCTL_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BED)/long-test.sh nebula-sandbox statements_survive_mutants_for_a_while

.PHONY: faults
faults: cargo ## a million edges through thirty SIGKILLs, nbctl killed after every step, hosts lost: up to an hour
	@$(BED)/setup.sh build bed tests
	@$(BED)/long-test.sh nebula-sandbox acknowledged_edges_survive_thirty_kills
	@$(BED)/test.sh faults

.PHONY: bench-deploy
bench-deploy: cargo ## deploy and status against Ansible with a playbook of the same steps, on four test hosts
	@$(BED)/setup.sh build bed tests
	@$(BED)/bench-deploy.sh

.PHONY: bench-scale
bench-scale: cargo ## deploy, status and teardown on a hundred test hosts: time, memory, refused connections
	@$(BED)/setup.sh build bed
	@$(BED)/bench-scale.sh

.PHONY: bench-sandbox
bench-sandbox: cargo ## how fast the stand-in is with a client beside it, and what scale factor 1 needs in memory
	@$(BED)/setup.sh build
	@cargo bench --quiet --locked --profile dev --package nebula-sandbox --bench sandbox

.PHONY: bench-report
bench-report: cargo ## how long a report takes and how large it gets
	@$(BED)/setup.sh build
	@cargo bench --quiet --locked --profile dev --bench report

.PHONY: cargo
cargo:
	@have=$$(cargo --version 2>/dev/null | cut -d' ' -f2 || true); \
	if [ -z "$$have" ] || [ "$$(printf '%s\n' "$(RUST_VERSION)" "$$have" | sort -V | head -1)" != "$(RUST_VERSION)" ]; then \
	  echo "error: nbctl needs cargo $(RUST_VERSION) or newer; $${have:-none} is installed" >&2; \
	  echo "hint: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default && . ~/.cargo/env" >&2; \
	  exit 1; \
	fi
