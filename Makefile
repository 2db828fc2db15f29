# make run    installs what is missing, builds, serves ./app.db
# make test   installs what is missing, builds, runs every test
SHELL := /bin/bash
SWIFT ?= swift
DATABASE ?= app.db
WALPOOLD := .build/release/walpoold

.PHONY: simulate wal-limit-test vacuum-test fault-test build run test unit-test blackbox-test thread-test address-test bench bench-data deps test-deps clean

deps:
	@bench/support/install libsqlite3-dev libsystemd-dev

test-deps: deps
	@bench/support/install sqlite3 python3-venv postgresql-client-15 gcc libc6-dev curl
	@bench/support/promtool >/dev/null

build: deps
	$(SWIFT) build -c release --static-swift-stdlib --product walpoold

run: build
	@echo "connect with:  psql -h <the socket's directory below> $(basename $(notdir $(DATABASE)))"
	exec $(WALPOOLD) $(DATABASE)

test: unit-test blackbox-test

unit-test: test-deps
	$(SWIFT) test

blackbox-test: test-deps build
	Tests/BlackBox/run

# Every system call on the daemon's files fails once and for ever: the short form is in blackbox-test.
fault-test: build
	@bench/support/install gcc libc6-dev
	bench/faults
	bench/faults --kinds sync,write --walpool-options "--synchronous pipelined"

# The unit tests under a sanitizer each, in build folders of their own.
thread-test: test-deps
	$(SWIFT) test --sanitize=thread --scratch-path .build-thread

address-test: test-deps
	$(SWIFT) test --sanitize=address --scratch-path .build-address

# Millions of steps of the scheduler from seeds; STEPS=, and SEED= to replay one.
STEPS ?= 10000000
simulate: deps
	WALPOOL_SIMULATION_STEPS=$(STEPS) $(if $(SEED),WALPOOL_SIMULATION_SEED=$(SEED)) \
		$(SWIFT) test --filter SchedulerSimulation

# Does the WAL stay under its limit beside snapshots and scans, and how long do writers wait?
wal-limit-test: build
	bench/wal-limit

# The long forms of proofs that blackbox-test runs in seconds.
.PHONY: crash-test cancel-test history-test power-test
CYCLES ?= 20
COUNT ?= 10000
SECONDS_OF_LOAD ?= 60

crash-test: build
	bench/crash --kills $(CYCLES)

cancel-test: build
	bench/cancels --count $(COUNT)

history-test: build
	bench/history --seconds $(SECONDS_OF_LOAD)

power-test: build
	bench/power-loss --cycles $(CYCLES)

# The daemon killed so many times while it runs VACUUM.
VACUUM_KILLS ?= 100
vacuum-test: build
	bench/vacuum-kills --kills $(VACUUM_KILLS)

bench: build
	bench/run

bench-data:
	bench/make-data

clean:
	rm -rf .build .build-thread .build-address
