# make run    installs what is missing, builds, serves ./app.db
# make test   installs what is missing, builds, checks the layout, runs every test
SHELL := /bin/bash
SWIFT ?= swift
DATABASE ?= app.db
WALPOOLD := .build/release/walpoold

.PHONY: lint simulate wal-limit-test vacuum-test fault-test build run test unit-test blackbox-test thread-test address-test bench bench-data deps test-deps clean

deps:
	@bench/support/install libsqlite3-dev libsystemd-dev

test-deps: deps
	@bench/support/install sqlite3 python3-venv postgresql-client-15 libpq-dev gcc libc6-dev groff man-db systemd strace curl btrfs-progs
	@bench/support/install python3-configargparse python3-pkg-resources python3-prometheus-client python3-psycopg2
	@bench/support/install python3-matplotlib
	@bench/support/extract prometheus-pgbouncer-exporter .build-debian/prometheus-pgbouncer-exporter
	@bench/support/promtool >/dev/null
	@Tests/BlackBox/install

build: deps
	$(SWIFT) build -c release --static-swift-stdlib --product walpoold

# The load generator, and the same on a GRDB DatabasePool.
.PHONY: load grdb
load: deps
	$(SWIFT) build -c release --static-swift-stdlib --product walpool-load

grdb: deps
	$(SWIFT) build -c release --static-swift-stdlib --package-path bench/grdb --scratch-path bench/grdb/.build-grdb

run: build
	@echo "connect with:  psql -h <the socket's directory below> $(basename $(notdir $(DATABASE)))"
	exec $(WALPOOLD) $(DATABASE)

# What only the tests need comes while the compiler is at work.
test: lint
	@$(MAKE) --no-print-directory --jobs 2 unit-test
	@$(MAKE) --no-print-directory blackbox-test

# The layout that .swift-format describes; `swift format --in-place --recursive .` makes it.
lint:
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests bench

# CI builds without debug information, a seventh of the time: functions keep their names in what is said of a trap.
DEBUG_OPTIONS ?=
.PHONY: built-tests
built-tests: deps
	$(SWIFT) build $(DEBUG_OPTIONS) --build-tests

# In two processes: each runs as many tests at a time as there are cores, and a third of them waits.
unit-test: test-deps built-tests
	@bin=$$($(SWIFT) build --show-bin-path) && \
	run="$$(echo $$bin/*PackageTests.xctest) --testing-library swift-testing" && \
	{ $$run --filter '^(Server|SQLite)Tests\.' & } && \
	{ $$run --skip '^(Server|SQLite)Tests\.'; others=$$?; wait $$! && exit $$others; }

# Half of the time goes into waiting for daemons and disks. The tests of a file share a daemon and stay together.
BLACKBOX := Tests/BlackBox/run --numprocesses 5 --dist loadfile --no-loadscope-reorder

# On what `unit-test` has built, which also checks exclusive access to memory. A release build takes four minutes more.
blackbox-test: test-deps
	$(SWIFT) build $(DEBUG_OPTIONS)
	WALPOOLD=$(CURDIR)/.build/debug/walpoold WALPOOL_LOAD=$(CURDIR)/.build/debug/walpool-load $(BLACKBOX)

# The same on what is installed, and those tests that take minutes in a debug build or have cheaper ones beside them.
.PHONY: release-test
release-test: test-deps build load
	WALPOOLD=$(CURDIR)/.build/release/walpoold WALPOOL_LOAD=$(CURDIR)/.build/release/walpool-load $(BLACKBOX)

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

# libFuzzer on the decoder and on whole sessions, so many seconds each; TARGET=decoder or TARGET=session for one of them.
# `make test` replays the seeds and what was once found (Tests/Fuzz).
.PHONY: fuzz
fuzz: SECONDS ?= 600
fuzz: deps
	@bench/support/install python3
	Tests/Fuzz/fuzz $(SECONDS) $(TARGET)

# Does the WAL stay under its limit beside snapshots and scans, and how long do writers wait?
wal-limit-test: build
	bench/wal-limit

# The long forms of proofs that blackbox-test runs in seconds.
.PHONY: crash-test cancel-test history-test liveness-test power-test
CYCLES ?= 20
COUNT ?= 10000
SECONDS_OF_LOAD ?= 60
SECONDS_OF_LIVENESS ?= 600

crash-test: build
	bench/crash --kills $(CYCLES)

cancel-test: build
	bench/cancels --count $(COUNT)

history-test: build
	bench/history --seconds $(SECONDS_OF_LOAD)

liveness-test: build
	bench/liveness --seconds $(SECONDS_OF_LIVENESS)

power-test: build
	bench/power-loss --cycles $(CYCLES)

# The daemon killed so many times while it runs VACUUM.
VACUUM_KILLS ?= 100
vacuum-test: build
	bench/vacuum-kills --kills $(VACUUM_KILLS)

# The manual pages and the example configuration come from the lists that --help and the parser have too.
MAN := .build/man
.PHONY: man example

man: build
	mkdir -p $(MAN)
	for page in walpoold.8 walpoold.toml.5; do $(WALPOOLD) --print $$page > $(MAN)/$$page || exit 1; done

example: build
	mkdir -p systemd
	$(WALPOOLD) --print example > systemd/walpoold.toml.example

# PREFIX says where the program goes; configuration, user and directories are where systemd looks in any case.
PREFIX ?= /usr
UNITDIR ?= $(PREFIX)/lib/systemd/system
DOCUMENTS := $(PREFIX)/share/doc/walpool
.PHONY: install install-files deb package-test boot-test

# One after the other, also with -j.
install: build man
	@$(MAKE) --no-print-directory install-files

install-files:
	install -D --mode=755 $(WALPOOLD) $(DESTDIR)$(PREFIX)/sbin/walpoold
	install -d --mode=755 $(DESTDIR)$(UNITDIR) $(DESTDIR)/etc/walpool
	for unit in systemd/*.service systemd/*.socket; do \
		sed 's|/usr/sbin/walpoold|$(PREFIX)/sbin/walpoold|' "$$unit" | \
			install --mode=644 /dev/stdin "$(DESTDIR)$(UNITDIR)/$${unit##*/}" || exit 1; \
	done
	install -D --mode=644 systemd/sysusers.d/walpool.conf $(DESTDIR)/usr/lib/sysusers.d/walpool.conf
	install -D --mode=644 systemd/tmpfiles.d/walpool.conf $(DESTDIR)/usr/lib/tmpfiles.d/walpool.conf
	install -D --mode=644 $(MAN)/walpoold.8 $(DESTDIR)$(PREFIX)/share/man/man8/walpoold.8
	install -D --mode=644 $(MAN)/walpoold.toml.5 $(DESTDIR)$(PREFIX)/share/man/man5/walpoold.toml.5
	install -D --mode=644 systemd/walpoold.toml.example $(DESTDIR)$(DOCUMENTS)/examples/walpoold.toml
	install --mode=644 systemd/examples/walpool-backup.* $(DESTDIR)$(DOCUMENTS)/examples
	install -D --mode=644 systemd/prometheus/walpool.rules.yml $(DESTDIR)$(DOCUMENTS)/examples/prometheus/walpool.rules.yml
	install -D --mode=644 systemd/grafana/walpool.json $(DESTDIR)$(DOCUMENTS)/examples/grafana/walpool.json
# With a database and a directory for backups named, it works as it is. One that is there is its owner's. It says little, so that
# no release changes it: an upgrade would ask whoever has changed a key, and fail where nobody can answer.
	[ -e $(DESTDIR)/etc/walpool/walpoold.toml ] || \
		install --mode=644 systemd/walpoold.toml $(DESTDIR)/etc/walpool/walpoold.toml

deb: build man
	@bench/support/install debhelper dpkg-dev
	@WALPOOLD=$(WALPOOLD) systemd/build-deb

# What is in the package, and lintian.
package-test: deb
	@bench/support/install lintian
	Tests/Package/check .build-deb/walpool_*.deb

# A Debian with systemd as PID 1, in QEMU, installs the package, and everything that happens to a service happens to it.
boot-test: deb
	Tests/Boot/run .build-deb/walpool_*.deb

# bench/run builds what is missing or old itself. OPTIONS="--quick"
bench:
	bench/run $(OPTIONS)

bench-data:
	bench/make-data

# Instructions of the hot paths. OPTIONS="--compare OLD.json"
.PHONY: micro
micro: deps
	bench/micro $(OPTIONS)

clean:
	rm -rf bench/grdb/.build-grdb .build .build-thread .build-address .build-debian .build-deb .build-boot .build-fuzz
