"""synchronous = pipelined: what waits for the disk keeps no transaction of others, and is answered when it is there."""

import contextlib
import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

import wire
from daemon import REPOSITORY, Daemon, eventually
from service import Stalls

sys.path.insert(0, str(REPOSITORY / "bench"))

from support import compiled
from support.faults import LIBRARY, FaultControl
from support.limits import SyncDelay

SYNC_MICROSECONDS = 300_000


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A daemon whose syncs take long once it has started, and what counts them."""
    delay = SyncDelay(tmp_path)
    with monkeypatch.context() as patch:
        for name, value in delay.environment.items():
            patch.setenv(name, value)
        daemon = Daemon(options=["--synchronous", "pipelined"])
    try:
        with daemon.client() as client:
            assert client.query("CREATE TABLE t(id INTEGER PRIMARY KEY)").tag == "CREATE TABLE"
        delay.lengthen(SYNC_MICROSECONDS)
        yield daemon, delay
    finally:
        delay.lengthen(0)
        daemon.close()


def test_commits_that_wait_keep_no_thread_and_share_a_sync(slow):
    """Far more of them than the daemon has threads, each begun while those before wait for the disk."""
    daemon, delay = slow
    clients = [daemon.client() for _ in range(40)]
    before = delay.syncs
    for number, client in enumerate(clients):
        assert client.query("BEGIN").status == "T"
        assert client.query(f"INSERT INTO t VALUES ({number})").tag == "INSERT 0 1"
        client.send(wire.query("COMMIT"))
    with daemon.client() as reader:
        # Visible before it is answered, which is what the mode is.
        eventually(lambda: reader.query("SELECT count(*) FROM t").value == "40")
    for client in clients:
        reply = client.reply()
        assert reply.tag == "COMMIT" and reply.status == "I"
    assert 0 < delay.syncs - before < len(clients)
    for client in clients:
        assert client.query("SELECT 1").value == "1"
        client.close()


ENDLESS = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def test_a_commit_does_not_wait_for_the_next_holders_statement(slow):
    """Whose thread is the one that has committed, and would see to the sync next.

        first           second
        BEGIN, INSERT
                        BEGIN, ENDLESS => waits for the writer
        COMMIT          runs, and does not end
        COMMIT
                        cancelled
    """
    daemon, _ = slow
    with daemon.client() as first, daemon.client() as second:
        first.query("BEGIN").check()
        assert first.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
        second.query("BEGIN").check()
        second.send(wire.query(ENDLESS))
        assert first.query("COMMIT").tag == "COMMIT"
        assert not second.has_reply()
        second.cancel()
        assert second.reply().error["C"] == "57014"


def test_what_follows_a_commit_in_the_same_message(slow):
    daemon, _ = slow
    with daemon.client() as client:
        reply = client.query("BEGIN; INSERT INTO t VALUES (1); COMMIT; SELECT count(*) FROM t; INSERT INTO t VALUES (2)")
        assert reply.tags == ["BEGIN", "INSERT 0 1", "COMMIT", "SELECT 1", "INSERT 0 1"] and reply.status == "I"
        # An interactive block whose end comes with more behind it.
        assert client.query("BEGIN").status == "T"
        assert client.query("INSERT INTO t VALUES (3)").status == "T"
        reply = client.query("COMMIT; SELECT max(id) FROM t")
        assert reply.tags == ["COMMIT", "SELECT 1"] and reply.status == "I"
        assert client.query("BEGIN").status == "T"
        assert client.query("INSERT INTO t VALUES (4)").status == "T"
        reply = client.query("INSERT INTO t VALUES (5); COMMIT AND CHAIN")
        assert reply.tags == ["INSERT 0 1", "COMMIT"] and reply.status == "T"
        assert client.query("ROLLBACK").status == "I"


def extended(*statements):
    return [part for sql in statements for part in (wire.parse(sql), wire.bind(), wire.execute())]


def test_pipelines(slow):
    daemon, _ = slow
    with daemon.client() as client:
        # The writer is held from before, so the COMMIT is no member of a group; behind it Sync, or another transaction.
        for number, behind in enumerate([[], ["SELECT 7"], ["BEGIN", "INSERT INTO t VALUES (100)", "COMMIT"], ["nonsense"]]):
            assert client.query("BEGIN").status == "T"
            assert client.query(f"INSERT INTO t VALUES ({number})").status == "T"
            client.send(*extended("COMMIT", *behind), wire.sync())
            reply = client.reply()
            assert reply.tags[0] == "COMMIT" and reply.status == "I"
            assert len(reply.tags) + len(reply.errors) == 1 + len(behind)
        # Two pipelines sent at once: the second one's answers come behind the first one's.
        assert client.query("BEGIN").status == "T"
        assert client.query("INSERT INTO t VALUES (50)").status == "T"
        client.send(*extended("COMMIT"), wire.sync(), *extended("SELECT count(*) FROM t"), wire.sync())
        assert client.reply().tag == "COMMIT"
        assert client.reply().value == "6"


def test_a_client_that_goes_while_its_commit_waits(slow):
    daemon, _ = slow
    client = daemon.client()
    assert client.query("BEGIN").status == "T"
    assert client.query("INSERT INTO t VALUES (1)").status == "T"
    client.send(wire.query("COMMIT"))
    client.close()
    with daemon.client() as other:
        assert other.query("INSERT INTO t VALUES (2)").tag == "INSERT 0 1"
        eventually(lambda: other.query("SELECT count(*) FROM t").value == "2")


def test_no_tag_of_a_commit_before_the_disk(start_service, tmp_path):
    """To a client that begins to read its rows only while the disk is at the COMMIT behind them."""
    stalls = Stalls(tmp_path)
    daemon = start_service(stalls=stalls, options=["--synchronous", "pipelined"])
    daemon.run("CREATE TABLE t(id INTEGER PRIMARY KEY)")
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT printf('%100d', i) FROM n"
    with daemon.client() as client:
        assert client.query("BEGIN").status == "T"
        assert client.query("INSERT INTO t VALUES (1)").status == "T"
        stalls.arm("sync")
        client.send(*extended(rows, "COMMIT"), wire.sync())
        eventually(lambda: stalls.calls > 0, "the sync")
        daemon.settle()
        # All that it is sent, which may end in the middle of a row.
        sent = b""
        while client.has_reply():
            sent += client.socket.recv(1 << 18)
            daemon.settle()
        assert sent and b"COMMIT" not in sent
        stalls.release()
        client.buffer += sent
        reply = client.reply()
        assert reply.tags == ["SELECT 20000", "COMMIT"] and reply.status == "I"


def test_commits_in_the_middle_of_messages_keep_nobody_from_being_heard(slow):
    """More of them than the daemon has threads, and each waits for the disk before its message goes on."""
    daemon, delay = slow
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(daemon.client()) for _ in range(30)]
        reader = stack.enter_context(daemon.client())
        # Longer than a slow machine takes for thirty reads.
        delay.lengthen(3_000_000)
        before = delay.syncs
        for number, client in enumerate(clients):
            client.send(wire.query(f"BEGIN; INSERT INTO t VALUES ({number}); COMMIT; SELECT 1"))
        for _ in range(30):
            assert reader.query("SELECT 1").value == "1"
        assert delay.syncs - before <= 1
        delay.lengthen(0)
        for client in clients:
            assert client.reply().tags == ["BEGIN", "INSERT 0 1", "COMMIT", "SELECT 1"]


@contextlib.contextmanager
def faulty_daemon(tmp_path, monkeypatch, environment=None, synchronous="pipelined", config=None, file="", once_started=lambda: None):
    control = FaultControl(tmp_path / "control")
    daemon = Daemon(options=["--synchronous", synchronous], config=config, start=False)
    # What it logs of the errors is expected.
    daemon.may_fail = True
    environment = environment or {}
    libraries = [environment.get("LD_PRELOAD"), os.fspath(compiled.library(LIBRARY))]
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setenv("LD_PRELOAD", " ".join(filter(None, libraries)))
        # With a file's name, only that one: its log is in the directory, too.
        patch.setenv("FAULTS_BELOW", os.fspath(daemon.directory.resolve() / file))
        patch.setenv("FAULTS_CONTROL", os.fspath(control.path))
        daemon.start()
    try:
        # It is synced, too, when the daemon has started, and no fault is meant for it.
        stamp = daemon.database.with_name(daemon.database.name + "-maintenance")
        eventually(stamp.exists, "the maintenance file")
        once_started()
        with daemon.client() as client:
            assert client.query("CREATE TABLE t(id INTEGER PRIMARY KEY)").tag == "CREATE TABLE"
        yield daemon, control
    finally:
        control.disarm()
        daemon.close()
        control.close()


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    """A daemon whose syncs can be made to fail."""
    with faulty_daemon(tmp_path, monkeypatch) as (daemon, control):
        yield daemon, control


@pytest.fixture
def slow_and_faulty(tmp_path, monkeypatch):
    """A daemon whose syncs take long and can be made to fail, and what counts them. They are so from its first commit: it goes by
    those it has seen."""
    delay = SyncDelay(tmp_path)
    with faulty_daemon(
            tmp_path, monkeypatch, delay.environment, once_started=lambda: delay.lengthen(600_000)) as (daemon, control):
        yield daemon, delay, control
        delay.lengthen(0)


@pytest.mark.parametrize("fails", [False, True])
def test_a_group_keeps_the_writer_for_a_sync_that_costs_more_than_running_the_others(slow_and_faulty, fails):
    """
    disk            | writer
    the first's     |
      …             | the next three, which are as many as share a commit: the last of them keeps the writer
      …             | the others queue
    these three's   |
      …             |
    the others'     | the others, in one commit
    """
    daemon, delay, control = slow_and_faulty
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(daemon.client()) for _ in range(10)]
        reader = stack.enter_context(daemon.client())
        before = delay.syncs
        for number, client in enumerate(clients):
            if number == 1:
                # The sync is made before the delay, so a fault is for the next one.
                eventually(lambda: delay.syncs > before)
                if fails:
                    control.arm("sync", 1, "EIO", 1)
            client.send(wire.query(f"INSERT INTO t VALUES ({number})"))
            if number < 4:
                eventually(lambda: reader.query("SELECT count(*) FROM t").value == str(number + 1))
        assert clients[0].reply().tag == "INSERT 0 1"
        assert reader.query("SELECT count(*) FROM t").value == "4"
        for client in clients[1:4]:
            reply = client.reply()
            assert (reply.state == "08007" and not reply.tags) if fails else reply.tag == "INSERT 0 1"
            assert reply.status == "I"
        if fails:
            # A recovery syncs often.
            delay.lengthen(0)
        for client in clients[4:]:
            assert client.reply().tag == "INSERT 0 1"
        assert fails or delay.syncs - before == 3


def test_the_sync_of_a_pipeline_that_came_in_parts_fails(faulty):
    """The error takes ReadyForQuery's place, also of a session that was a member of a group before."""
    daemon, control = faulty
    with daemon.client() as client:
        assert client.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
        client.send(*extended("INSERT INTO t VALUES (2)"), wire.flush())
        assert [client.receive().kind for _ in range(3)] == ["1", "2", "C"]
        control.arm("sync", 1, "EIO", 1)
        client.send(wire.sync())
        reply = client.reply()
        assert reply.state == "08007" and reply.status == "I"
        eventually(lambda: client.query("INSERT INTO t VALUES (3)").state is None)


@pytest.mark.parametrize("before", ["nothing", "a member that left nothing"])
def test_the_sync_of_a_commit_fails(faulty, before):
    """What the block has set is undone, and the client hears of it before the error."""
    daemon, control = faulty
    with daemon.client(application_name="outer") as client:
        if before != "nothing":
            client.query("INSERT INTO t VALUES (2)").check()
            assert client.query("INSERT INTO t VALUES (2)").state == "23505"
        assert client.query("BEGIN").status == "T"
        assert client.query("SET application_name = 'inner'").status == "T"
        assert client.query("INSERT INTO t VALUES (1)").status == "T"
        assert client.parameters["application_name"] == "inner"
        control.arm("sync", 1, "EIO", 1)
        reply = client.query("COMMIT")
        assert reply.state == "08007" and reply.status == "I" and not reply.tags
        assert client.parameters["application_name"] == "outer"
        assert client.query("SHOW application_name").value == "outer"


@pytest.mark.parametrize("reads", ["nothing", "what was durable", "what is lost"])
def test_the_index_an_outsider_keeps_names_nothing_that_is_lost(faulty, tmp_path, reads):
    """
    a client            | an outsider
                        | opens the file, and so keeps the -shm from being made anew
    INSERT 1: durable   |
                        | (reads)
    INSERT 2: the sync fails, and what was written is gone once the kernel has dropped it
    INSERT 3: durable   |
                        | sees 1 and 3
    """
    daemon, control = faulty
    outsider = sqlite3.connect(daemon.database, isolation_level=None)
    with contextlib.closing(outsider), daemon.client() as client:
        assert client.query("INSERT INTO t VALUES (1)").tag == "INSERT 0 1"
        assert outsider.execute("SELECT id FROM t").fetchall() == [(1,)]
        if reads == "what was durable":
            outsider.execute("BEGIN")
            assert outsider.execute("SELECT id FROM t").fetchall() == [(1,)]
        control.arm("losing-sync", 1, "EIO", 1)
        assert client.query("INSERT INTO t VALUES (2)").state == "08007"
        if reads == "what is lost":
            outsider.execute("BEGIN")
            # Until the daemon has come to its recovery the index names frames that are gone: SQLite may find that out.
            with contextlib.suppress(sqlite3.DatabaseError):
                outsider.execute("SELECT id FROM t").fetchall()
        eventually(lambda: client.query("INSERT INTO t VALUES (3)").tag == "INSERT 0 1", "the daemon goes on")
        assert client.query("SELECT id FROM t").texts == [("1",), ("3",)]
        if reads == "what was durable":
            assert outsider.execute("SELECT id FROM t").fetchall() == [(1,)]
        if outsider.in_transaction:
            outsider.execute("ROLLBACK")
        assert outsider.execute("SELECT id FROM t").fetchall() == [(1,), (3,)]
        # What a power failure would leave: the index is made from what the -wal says.
        for suffix in ("", "-wal"):
            shutil.copy(f"{daemon.database}{suffix}", tmp_path / f"after{suffix}")
        with contextlib.closing(sqlite3.connect(tmp_path / "after")) as after:
            assert after.execute("SELECT id FROM t").fetchall() == [(1,), (3,)]
            assert after.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


RELATIONS = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname NOT LIKE 'pg%' ORDER BY 1"


def test_the_catalogs_forget_a_definition_that_is_lost(faulty):
    """
    definer                     | holder                   | reader
    CREATE TABLE lost           |                          |
                                | has the writer           |
      the sync fails            |                          |
                                |                          | asks for the relations
                                | COMMIT: recovery         |
    CREATE TABLE other, which is the next definition again |
                                |                          | asks for the relations
    """
    daemon, control = faulty
    with daemon.client() as definer, daemon.client() as holder, daemon.client() as reader, \
            daemon.client(database="walpool") as console:
        # Whether a definition is lost is not known (08007): mostly it is.
        for attempt in range(20):
            definer.query(f"BEGIN; CREATE TABLE lost{attempt} (x)").check()
            holder.query("BEGIN").check()
            holder.send(wire.query(f"INSERT INTO t VALUES ({2 * attempt})"))
            eventually(lambda: len(console.query("SHOW WRITER").texts) == 2, "the holder waits for the writer")
            control.arm("losing-sync", 1, "EIO", 1)
            assert definer.query("COMMIT").state == "08007"
            holder.reply()
            lost = (reader.query(RELATIONS).texts, reader.value("PRAGMA schema_version"))
            holder.query("COMMIT")
            insert = f"INSERT INTO t VALUES ({2 * attempt + 1})"
            eventually(lambda: definer.query(insert).tag == "INSERT 0 1", "the daemon goes on")
            control.disarm()
            definer.query(f"CREATE TABLE other{attempt} (y)").check()
            tables = reader.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").texts
            assert (f"other{attempt}",) in tables and reader.query(RELATIONS).texts == tables
            # The reader had seen it, and its schema's number has come again.
            if (f"lost{attempt}",) in lost[0] and lost[1] == reader.value("PRAGMA schema_version"):
                return
    pytest.fail("no definition was lost")


# What is read for a checkpoint: something of the database, the -wal's header, those of its first frame and of its last.
@pytest.mark.parametrize("read", [2, 3, 4])
@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_wal_that_cannot_be_read_was_not_written_over(tmp_path, monkeypatch, synchronous, read):
    """The disk has failed once, and nobody has done anything to the file: nothing is lost, and the daemon goes on."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control):
        daemon.run("INSERT INTO t VALUES (1)")
        with daemon.client(database="walpool") as admin:
            control.arm("read", read, "EIO", 1)
            reply = admin.query("CHECKPOINT")
        assert control.failures == 1 and reply.state == "58030"
        assert "cannot be read" in reply.errors[-1]["M"] and "written over" not in daemon.errors
        eventually(lambda: daemon.value("SELECT count(*) FROM t") == "1", "the recovery")
        daemon.run("INSERT INTO t VALUES (2)")
        daemon.stop()

        with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_schema_that_cannot_be_read_when_a_transaction_begins(tmp_path, monkeypatch, synchronous):
    """SQLite ends the transaction over it. So it has not begun, and what would follow is not done on its own."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control):
        daemon.run(*[f"CREATE TABLE wide_{number} (a_column_with_a_long_name, another_one, '{'x' * 200}')" for number in range(60)])
        failed = 0
        for read in range(1, 12):
            with daemon.client() as client:
                client.query(f"INSERT INTO t VALUES ({read})").check()
                with contextlib.closing(sqlite3.connect(daemon.database, isolation_level=None)) as outsider:
                    outsider.execute(f"CREATE TABLE other_{read} (x)")
                control.arm("read", read, "EUCLEAN", 1)
                if client.query("BEGIN IMMEDIATE").errors:
                    failed += 1
                else:
                    client.query(f"INSERT INTO t VALUES ({read + 100})")
                    client.query("ROLLBACK")
                control.disarm()
                eventually(lambda: client.query("SELECT count(*) FROM t WHERE id > 100").value == "0", "readers that find nothing")
                eventually(lambda: not client.query("UPDATE t SET id = id WHERE id = 0").errors, "the writer")
        assert failed > 0


@pytest.mark.parametrize("end", ["ROLLBACK", "COMMIT"])
def test_a_schema_that_cannot_be_read_within_a_transaction(tmp_path, monkeypatch, end):
    """SQLite ends the transaction over what the daemon asks of a new statement, and does not do the statement by itself then."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous="full", config="cache_size_kib = 16\n") as (daemon, control):
        columns = ", ".join(f"a_column_with_a_long_name_{number} TEXT" for number in range(80))
        daemon.run("; ".join(["BEGIN", *[f"CREATE TABLE wide_{number} ({columns})" for number in range(100)], "CREATE TABLE large (x)", "COMMIT"]))
        fill = "INSERT INTO large SELECT randomblob(3000) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i FROM n)"
        failed = 0
        for read in range(1, 20):
            with daemon.client() as client:
                before = client.value("SELECT count(*) FROM t")
                # Its pages of the schema are not in the cache any more.
                client.query(f"BEGIN; INSERT INTO t VALUES ({1000 * read}); CREATE TABLE own_{read} (x); {fill}").check()
                control.arm("read", read, "EUCLEAN", 1)
                reply = client.extended(f"INSERT INTO t VALUES ($1) RETURNING id, lower('{read}')", [str(1000 * read + 1)])
                control.disarm()
                ended = client.query(end)
                failed += bool(reply.errors)
                eventually(lambda: not client.query("UPDATE t SET id = id WHERE id = 0").errors, "the writer")
                lasts = end == "COMMIT" and not reply.errors and not ended.errors
                assert int(client.value("SELECT count(*) FROM t")) == int(before) + (2 if lasts else 0), (read, reply.state, ended.state)
        assert failed > 0


@pytest.mark.parametrize("read", [2, 3])
def test_an_earlier_wal_that_cannot_be_read_at_first(tmp_path, monkeypatch, read):
    """Its own, as it was before it was last begun anew. What has been committed since is not taken back without a word."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous="full") as (daemon, control), daemon.client(database="walpool") as admin:
        daemon.run("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
        wal = Path(f"{daemon.database}-wal")
        earlier = wal.read_bytes()
        admin.query("CHECKPOINT").check()
        daemon.run(*[f"INSERT INTO t VALUES ({number})" for number in range(3, 9)])
        control.arm("read", read, "EIO", 1)
        with open(wal, "r+b") as file:
            file.write(earlier)
        admin.send(wire.query("CHECKPOINT"))
        assert daemon.process.wait(30) == 74
        assert control.failures == 1 and "-wal was written over" in daemon.errors and "is whole" not in daemon.errors


@pytest.mark.parametrize("read", [2, 3, 4])
@pytest.mark.parametrize("synchronous", ["full", "pipelined"])
def test_a_wal_of_another_that_cannot_be_read_at_first(tmp_path, monkeypatch, synchronous, read):
    """Its rows are not served, and that this one's are lost is told."""
    other = sqlite3.connect(tmp_path / "other.db", isolation_level=None)
    with contextlib.closing(other), faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control):
        other.executescript("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (id INTEGER PRIMARY KEY)")
        for number in range(20):
            other.execute("INSERT INTO t VALUES (?)", [100 + number])
        for number in range(5):
            daemon.run(f"INSERT INTO t VALUES ({number})")
        with daemon.client(database="walpool") as admin:
            control.arm("read", read, "EIO", 1)
            with open(f"{daemon.database}-wal", "r+b") as file:
                file.write((tmp_path / "other.db-wal").read_bytes())
            admin.send(wire.query("CHECKPOINT"))
            assert daemon.process.wait(30) == 74
        assert control.failures == 1 and "-wal was written over by one of another database" in daemon.errors
        control.disarm()
        files = [file for file in os.listdir(daemon.directory) if ".lost" in file or file.endswith("-wal")]
        assert files and all(".lost" in file for file in files)


@pytest.mark.parametrize("synchronous, kind", [("full", "sync"), ("full", "losing-sync"), ("pipelined", "sync"), ("pipelined", "losing-sync")])
@pytest.mark.parametrize("sql", ["INSERT INTO t VALUES ({})", "BEGIN; INSERT INTO t VALUES ({}); COMMIT", "a block"])
def test_who_looks_sees_what_will_be(tmp_path, monkeypatch, synchronous, kind, sql):
    """The outcome is unknown, and the hint is to look: what the disk has, and not what the index says until the daemon has recovered."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control), daemon.client() as client, daemon.client() as other:
        for number in range(4):
            if sql == "a block":
                client.query(f"BEGIN; INSERT INTO t VALUES ({number})").check()
            control.arm(kind, 1, "EIO", 1)
            assert client.query("COMMIT" if sql == "a block" else sql.format(number)).errors[-1]["C"] == "08007"
            count = f"SELECT count(*) FROM t WHERE id = {number}"
            seen = [client.value(count), other.value(count)]
            control.disarm()
            eventually(lambda: daemon.errors.count("was opened again") == number + 1, "the recovery")
            assert seen == [client.value(count)] * 2


@pytest.mark.parametrize("synchronous, outcome", [("full", "23505"), ("pipelined", "40001")])
@pytest.mark.parametrize("sql", [
    "INSERT INTO t VALUES (1)", "BEGIN; INSERT INTO t VALUES (10); INSERT INTO t VALUES (1); COMMIT", "INSERT OR ROLLBACK INTO t VALUES (1)"])
def test_who_failed_in_a_group_whose_commit_fails(tmp_path, monkeypatch, synchronous, outcome, sql):
    """Nothing of it is left, whatever becomes of the others: it is not told that this is unknown."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous=synchronous) as (daemon, control), daemon.client(database="walpool") as console:
        holder, failing, other = daemon.client(), daemon.client(), daemon.client()
        holder.query("INSERT INTO t VALUES (1)").check()
        holder.query("BEGIN IMMEDIATE").check()
        failing.send(wire.query(sql))
        eventually(lambda: len(console.query("SHOW WRITER").texts) == 2, "it waits for the writer")
        other.send(wire.query("INSERT INTO t VALUES (11)"))
        eventually(lambda: len(console.query("SHOW WRITER").texts) == 3, "so does the other")
        control.arm("sync", 1, "EIO", 1)
        holder.query("ROLLBACK").check()
        assert other.reply().state == "08007"
        reply = failing.reply()
        # A block whose COMMIT was skipped is still to be ended, and nothing that its client has sent ahead runs without it.
        assert (reply.state, reply.status) == (outcome, "E" if sql.startswith("BEGIN") else "I")
        assert failing.query("SELECT 1").state == ("25P02" if sql.startswith("BEGIN") else None)
        failing.query("ROLLBACK").check()
        assert failing.query(sql).state == "23505"
        assert holder.value("SELECT count(*) FROM t WHERE id = 10") == "0"


@pytest.mark.parametrize("sql", ["INSERT INTO t VALUES (11)", "INSERT OR ROLLBACK INTO t VALUES (11)"])
def test_who_failed_on_a_row_that_is_lost(tmp_path, monkeypatch, sql):
    """With the commit of its group that row has gone; so it is tried again, when the database has been opened anew."""
    with faulty_daemon(tmp_path, monkeypatch, synchronous="full") as (daemon, control), daemon.client(database="walpool") as console:
        holder, first, second = daemon.client(), daemon.client(), daemon.client()
        holder.query("BEGIN IMMEDIATE").check()
        first.send(wire.query("INSERT INTO t VALUES (11)"))
        eventually(lambda: len(console.query("SHOW WRITER").texts) == 2, "it waits for the writer")
        second.send(wire.query(sql))
        eventually(lambda: len(console.query("SHOW WRITER").texts) == 3, "so does the other")
        control.arm("losing-sync", 1, "EIO", 1)
        holder.query("ROLLBACK").check()
        assert first.reply().state == "08007"
        assert second.reply().tag == "INSERT 0 1"
        assert holder.value("SELECT count(*) FROM t WHERE id = 11") == "1"
