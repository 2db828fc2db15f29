import collections
import contextlib
import shutil
import subprocess

import pytest

# Everything that asserts and is no test: what fails there says what was compared, too.
pytest.register_assert_rewrite(
    "access", "console", "daemon", "files_fixtures", "groups_fixtures", "hostile", "identity", "interleaving", "journal",
    "lifecycle_fixtures", "load_fixtures", "logs", "metrics", "service", "timeouts_fixtures", "wire", "wire_fixtures", "wire_replies")

from daemon import REPOSITORY, Daemon, Outsider, binary
from service import Service

SAMPLES = REPOSITORY.parent / "shared" / "samples"
GOLDEN = REPOSITORY / "Tests" / "BlackBox" / "golden"
# While sessions gather behind a holder it idles, and with the default of 5 s a slow machine would have it ended.
PATIENT = 'writer_idle_limit = "1min"\n'


def pytest_report_header(config):
    return f"walpoold: {binary()}"


# The files that take longest, in this order (`--durations 0`), which begin first: the other workers have something to do until they end.
LONGEST = [
    "test_service", "test_files_wal_in_use", "test_files_replaced", "test_vacuum", "test_files_wal", "test_pipelined",
    "test_load", "test_files_disks", "test_files", "test_faults", "test_hostile_sql", "test_load_ends", "test_preparing",
    "test_files_wal_ends", "test_load_waits", "test_liveness", "test_console_shutdown", "test_wire_streams", "test_schema_size",
    "test_hostile_catalogs", "test_sent_descriptors", "test_bench_results", "test_bench_compare", "test_pgbench", "test_backup",
    "test_lost_transactions", "test_stuck_turns", "test_bench_pairs", "test_late_interrupts", "test_wire_unread_replies",
    "test_long_wal", "test_bench", "test_access_limits", "test_writer_snapshot"]


def takes_long(item):
    """`optimised` marks a parameter or all of a test, or, with arguments, those of its cases whose id has one of them in it."""
    return any(
        not mark.args or any(part in item.callspec.id for part in mark.args) for mark in item.iter_markers("optimised"))


def pytest_collection_modifyitems(items):
    """Whole files are given to workers in this order (`--dist loadfile --no-loadscope-reorder`): after those the ones with most tests."""
    count = collections.Counter(item.path for item in items)
    rank = {f"{name}.py": index for index, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (rank.get(item.path.name, len(rank)), -count[item.path], item.path))
    if binary().parent.name != "debug":
        return
    for item in items:
        if takes_long(item):
            item.add_marker(pytest.mark.skip(reason="takes long in a debug build: make release-test"))


@pytest.fixture
def start_daemon():
    """Starts daemons, which are stopped and checked at the end."""
    daemons = []

    def start(*arguments, **keywords):
        daemons.append(Daemon(*arguments, **keywords))
        return daemons[-1]

    yield start
    errors = []
    for daemon in daemons:
        try:
            daemon.close()
        except BaseException as error:  # the others have to be stopped, too
            errors.append(error)
    if errors:
        raise errors[0]


@pytest.fixture
def daemon(start_daemon):
    """A daemon of the test's own, with an empty database."""
    return start_daemon(config=PATIENT)


@pytest.fixture
def serve(start_daemon):
    """Starts a daemon with these access rules behind a socket that everybody may open."""

    def serve(rules, *options):
        return start_daemon(config=rules, options=["--socket-mode", "0666", *options])

    return serve


@pytest.fixture
def start_service():
    """Starts daemons with a service manager, which are stopped and checked at the end."""
    services = []

    def start(*arguments, cls=Service, **keywords):
        services.append(cls(*arguments, **keywords))
        return services[-1]

    with contextlib.ExitStack() as ends:
        yield start
        for service in services:
            ends.callback(service.close)


@pytest.fixture(scope="module")
def module_daemon():
    daemon = Daemon(config=PATIENT)
    yield daemon
    daemon.close()


@pytest.fixture
def shared(module_daemon):
    """One daemon for all tests of a file; it has to be well after each of them."""
    yield module_daemon
    clients, module_daemon._clients[:] = module_daemon._clients[:], []
    for client in clients:
        client.close()
    module_daemon.check_alive()


@pytest.fixture
def outsider(request):
    """Opens databases as another process does."""
    opened = []

    def open_database(path):
        opened.append(Outsider(path))
        return opened[-1]

    yield open_database
    for each in opened:
        each.close()


def build_sample(name, directory):
    script = SAMPLES / f"{name}.sql"
    if not script.exists():
        pytest.skip(f"{script} is not there")
    path = directory / f"{name}.db"
    with open(script) as sql:
        # Thousands of statements, each of which would wait for the disk.
        subprocess.run(
            ["sqlite3", "-cmd", "PRAGMA synchronous = OFF", path], stdin=sql, stdout=subprocess.DEVNULL, check=True)
    return path


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """Chinook and Northwind, built once; tests work on copies."""
    directory = tmp_path_factory.mktemp("samples")
    return {name: build_sample(name, directory) for name in ("chinook", "northwind")}


@pytest.fixture(scope="module")
def sample_daemons(samples, tmp_path_factory):
    """A daemon on a copy of each sample."""
    directory = tmp_path_factory.mktemp("served")
    daemons = {name: Daemon(shutil.copy(path, directory)) for name, path in samples.items()}
    yield daemons
    for daemon in daemons.values():
        daemon.close()


@pytest.fixture(scope="module")
def library():
    """A daemon that serves the database of golden/schema.sql, as the sqlite3 shell makes it."""
    daemon = Daemon(start=False)
    daemon.database = daemon.directory / "library.db"
    with open(GOLDEN / "schema.sql") as sql:
        subprocess.run(["sqlite3", daemon.database], stdin=sql, check=True)
    daemon.start()
    yield daemon
    daemon.close()
