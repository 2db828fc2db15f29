"""What is counted, as metrics and as the console say it."""

import threading
import time

import psycopg
import pytest

import wire
from copy_fixtures import copy_data, copy_done
from daemon import eventually
from metrics import console, get, kind, moved, settled_values, statements, totals, values

# What moves


def test_reads_and_writes(daemon):
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    client = daemon.client()

    def work():
        for n in range(5):
            client.query(f"INSERT INTO t VALUES ({n}, 'x')").check()
        client.query("UPDATE t SET x = 'y' WHERE id < 3").check()
        client.query("DELETE FROM t WHERE id = 4").check()
        for _ in range(10):
            client.query("SELECT * FROM t").check()
        client.query("BEGIN; SELECT 1; COMMIT").check()
        client.query("SET application_name = 'x'").check()
        client.query("PRAGMA table_info(t)").check()
        client.query("EXPLAIN SELECT 1").check()
        assert client.query("SELECT nope FROM t").state == "42703"

    changes = moved(daemon, work)
    expected = {"insert": 5, "update": 1, "delete": 1, "select": 11, "transaction": 2, "session": 1, "pragma": 1, "explain": 1}
    assert {name: changes.get(kind(name), 0) for name in expected} == expected
    assert kind("definition") not in changes and kind("other") not in changes
    assert changes[("walpool_errors_total", ("sqlstate", "42703"))] == 1
    assert changes[("walpool_statement_duration_seconds_count",)] == 20
    assert changes[("walpool_writer_wait_seconds_count",)] == 7
    assert changes[("walpool_group_transactions_count",)] == changes[("walpool_group_transactions_sum",)] == 7
    assert changes[("walpool_writer_hold_seconds_count", ("holder", "group"))] == 7
    assert changes[("walpool_commit_seconds_count",)] == 7 and changes[("walpool_commit_seconds_sum",)] > 0
    # Five INSERTs, two changes, ten SELECTs, one block, PRAGMA and EXPLAIN.
    assert changes[("walpool_transactions_total",)] == 20
    assert changes[("walpool_rows_total",)] >= 40 + 1 + 2
    assert changes[("walpool_query_seconds_total",)] > 0
    assert changes[("walpool_wal_size_bytes",)] > 0 and changes[("walpool_wal_uncopied_bytes",)] > 0
    assert changes[("walpool_statement_cache_hits_total", ("connection", "reader"))] >= 9
    assert changes[("walpool_page_cache_hits_total", ("connection", "writer"))] > 0
    assert changes[("walpool_page_cache_writes_total", ("connection", "writer"))] > 0
    assert changes[("walpool_connections_total",)] == 1 and changes[("walpool_scrapes_total",)] == 1


def test_bytes(daemon):
    client = daemon.client()
    sent = wire.query("SELECT '" + "x" * 10_000 + "'")
    before = settled_values(daemon)
    client.send(sent)
    reply = client.reply().check()
    after = settled_values(daemon)
    received = after[("walpool_received_bytes_total",)] - before[("walpool_received_bytes_total",)]
    # And the request for the metrics.
    assert len(sent) <= received < len(sent) + 100
    assert reply.value == "x" * 10_000
    assert after[("walpool_sent_bytes_total",)] - before[("walpool_sent_bytes_total",)] >= 10_000


def test_waits(start_daemon):
    daemon = start_daemon(options=["--readers", "1"])
    daemon.run("CREATE TABLE t (x)")
    holder, waiter, reader, last = (daemon.client() for _ in range(4))
    before = settled_values(daemon)
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    waiter.send(wire.query("INSERT INTO t VALUES (2)"))
    # It has been analysed, which needs the one reader.
    daemon.settle(waiter)
    reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t").check()
    last.send(wire.query("SELECT * FROM t"))
    daemon.settle(waiter, last)
    now = values(daemon)
    assert now[("walpool_queue_length", ("connection", "writer"))] == 1
    assert now[("walpool_queue_length", ("connection", "reader"))] == 1
    assert now[("walpool_sessions", ("state", "waiting"))] == 2
    assert now[("walpool_snapshots",)] == 1 and now[("walpool_snapshot_oldest_age_seconds",)] > 0
    assert now[("walpool_readers", ("state", "active"))] == 1
    holder.query("COMMIT").check()
    reader.query("COMMIT").check()
    waiter.reply().check()
    last.reply().check()
    after = settled_values(daemon)
    key = ("walpool_writer_hold_seconds_count", ("holder", "transaction"))
    assert after[key] - before[key] == 1
    for name in ["walpool_writer_wait_seconds", "walpool_reader_wait_seconds"]:
        assert after[(name + "_sum",)] > before[(name + "_sum",)]
    assert after[("walpool_reader_wait_seconds_count",)] - before[("walpool_reader_wait_seconds_count",)] == 1
    assert after[("walpool_wait_seconds_total",)] > 0
    assert after[("walpool_queue_length", ("connection", "writer"))] == 0


def test_busy_retries_and_busy_waits(daemon, outsider):
    daemon.run("CREATE TABLE t (x)")
    other = outsider(daemon.database)
    other("BEGIN IMMEDIATE")
    client = daemon.client()
    client.send(wire.query("INSERT INTO t VALUES (17)"))
    eventually(lambda: values(daemon)[("walpool_busy_retries_total",)] >= 3, "waiting")
    other("ROLLBACK")
    client.reply().check()
    assert statements(daemon)["INSERT INTO t VALUES (?)"]["busy_waits"] >= 3


def test_evictions(start_daemon):
    daemon = start_daemon(config='writer_idle_limit = "50ms"\n')
    daemon.run("CREATE TABLE t (x)")
    holder = daemon.client()
    holder.query("BEGIN; INSERT INTO t VALUES (1)").check()
    daemon.run("INSERT INTO t VALUES (2)")
    assert values(daemon)[("walpool_writer_evictions_total",)] == 1
    assert values(daemon)[("walpool_errors_total", ("sqlstate", "25P03"))] == 1


def test_checkpoints_and_vacuum(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (randomblob(100000))", "DELETE FROM t")
    before = settled_values(daemon)
    admin = daemon.client(database="walpool")
    admin.query("CHECKPOINT").check()
    admin.query("VACUUM").check()
    eventually(lambda: values(daemon)[("walpool_vacuums_total", ("result", "succeeded"))] == 1, "VACUUM")
    eventually(lambda: values(daemon)[("walpool_vacuum_running",)] == 0, "its end")
    after = settled_values(daemon)
    key = ("walpool_checkpoints_total", ("result", "complete"))
    assert after[key] > before[key]
    assert after[("walpool_checkpoint_duration_seconds_count",)] > before[("walpool_checkpoint_duration_seconds_count",)]
    assert after[("walpool_vacuum_last_success_timestamp_seconds",)] > 1e9
    assert after[("walpool_vacuum_last_freed_bytes",)] > 0
    assert after[("walpool_database_size_bytes",)] == daemon.database.stat().st_size


# The console


def test_stats(daemon):
    daemon.run("CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", "SELECT * FROM t")
    all_time, (averages,), (both,) = totals(daemon), console(daemon, "STATS_AVERAGES"), console(daemon, "STATS")
    names = ["xact_count", "query_count", "bytes_received", "bytes_sent", "xact_time", "query_time", "wait_time"]
    assert list(all_time) == list(averages) == ["database", *names]
    assert list(both) == [
        "database", "total_xact_count", "total_query_count", "total_received", "total_sent", "total_xact_time",
        "total_query_time", "total_wait_time", "avg_xact_count", "avg_query_count", "avg_recv", "avg_sent",
        "avg_xact_time", "avg_query_time", "avg_wait_time", "total_requests"]
    assert all_time["database"] == averages["database"] == both["database"] == daemon.name
    assert (all_time["xact_count"], all_time["wait_time"]) == (3, 0) and both["total_xact_count"] == 3
    assert all_time["query_count"] >= 3 and all_time["query_time"] > 0 and all_time["xact_time"] > 0
    # Two writes and a read, in microseconds: nothing near a minute.
    assert averages["query_time"] < 60_000_000 and averages["bytes_sent"] > 0


def test_who_looks_is_not_counted_as_the_databases_client(daemon):
    daemon.run("CREATE TABLE t (x)")

    before = totals(daemon)
    scrapes = settled_values(daemon)
    for _ in range(20):
        console(daemon, "POOLS")
        get(daemon)
    # As drivers do that have transactions of their own.
    admin = daemon.client(database="walpool")
    for sql in ["BEGIN", "SHOW CLIENTS", "SET application_name = 'x'", "COMMIT"]:
        admin.query(sql).check()
    assert totals(daemon) == before
    # All bytes are in the metrics.
    assert settled_values(daemon)[("walpool_sent_bytes_total",)] > scrapes[("walpool_sent_bytes_total",)] + 20_000
    assert values(daemon)[kind("console")] > scrapes[kind("console")]


def test_statements(daemon):
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    with psycopg.connect(host=str(daemon.directory), dbname=daemon.name, autocommit=True) as connection:
        for n in range(7):
            connection.execute(f"INSERT INTO t VALUES ({n}, 'secret{n}'), ({n + 100}, 'secret')")
        connection.execute("SELECT x'5ec7e7', -12345")
        for n in range(20):
            connection.execute("SELECT x FROM t WHERE id = %s", [n], prepare=True)
        for _ in range(3):
            connection.execute("SELECT * FROM t ORDER BY x LIMIT 2")
        connection.execute("SELECT * FROM t a JOIN t b ON a.x = b.x").fetchall()
    found = statements(daemon)
    assert not any("secret" in text or "5ec7e7" in text or "12345" in text for text in found)
    insert = found["INSERT INTO t VALUES (?, ...), (?, ...)"]
    assert (insert["calls"], insert["rows"]) == (7, 14)
    point = found["SELECT x FROM t WHERE id = $1"]
    assert (point["calls"], point["rows"], point["full_scan_steps"], point["sorts"]) == (20, 7, 0, 0)
    ordered = found["SELECT * FROM t ORDER BY x LIMIT ?"]
    assert (ordered["calls"], ordered["rows"], ordered["sorts"]) == (3, 6, 3) and ordered["full_scan_steps"] >= 30
    joined = found["SELECT * FROM t a JOIN t b ON a.x = b.x"]
    assert joined["automatic_index_rows"] > 0 and joined["calls"] == 1 and joined["rows"] == 7 + 49
    for row in found.values():
        assert row["total_us"] >= row["max_us"] >= row["mean_us"] > 0
        assert row["mean_us"] == pytest.approx(row["total_us"] / row["calls"], abs=1)
    times = [row["total_us"] for row in console(daemon, "STATEMENTS")]
    assert times == sorted(times, reverse=True)


def test_statements_are_bounded(daemon):
    with daemon.client() as client:
        for n in range(1500):
            client.send(wire.query(f"SELECT 1 AS a{n}"))
        for n in range(1500):
            client.reply().check()
    assert 900 <= len(statements(daemon)) <= 1000


def test_cursors_and_streams_count_what_they_returned(daemon):
    daemon.run("CREATE TABLE t (x)", "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500) "
               "INSERT INTO t SELECT randomblob(1000) FROM c")
    client = daemon.client()
    client.query("BEGIN; DECLARE c CURSOR FOR SELECT x FROM t").check()
    for _ in range(3):
        client.query("FETCH 100 FROM c").check()
    client.query("COMMIT").check()
    client.query("SELECT length(x) FROM t").check()
    client.query("SELECT x FROM t WHERE x IS NOT NULL").check()
    found = statements(daemon)
    assert (found["SELECT x FROM t"]["calls"], found["SELECT x FROM t"]["rows"]) == (1, 300)
    assert found["SELECT length(x) FROM t"]["rows"] == found["SELECT x FROM t WHERE x IS NOT NULL"]["rows"] == 500


@pytest.mark.parametrize("options", ["", " WITH (BATCH 40)"])
def test_copy_from(daemon, options):
    daemon.run("CREATE TABLE t (x)")
    client = daemon.client()

    def work():
        client.send(wire.query(f"COPY t FROM STDIN{options}"), copy_data(b"some text\n" * 60), copy_data(b"more\n" * 40),
                    copy_done())
        assert client.reply().check().tag == "COPY 100"

    before = totals(daemon)
    changes = moved(daemon, work)
    after = totals(daemon)
    assert changes[("walpool_transactions_total",)] == (3 if options else 1)
    assert changes[kind("insert")] == changes[("walpool_statement_duration_seconds_count",)] == 1
    assert changes[("walpool_statement_duration_seconds_sum",)] > 0
    assert changes[("walpool_query_seconds_total",)] >= changes[("walpool_statement_duration_seconds_sum",)]
    assert after["xact_count"] - before["xact_count"] == (3 if options else 1) and after["xact_time"] > before["xact_time"]
    (row,) = [row for text, row in statements(daemon).items() if text.startswith("INSERT INTO")]
    assert (row["calls"], row["rows"]) == (1, 100) and row["total_us"] == row["max_us"] > 0


def test_copy_from_that_fails_and_in_a_block(daemon):
    daemon.run("CREATE TABLE t (x INTEGER NOT NULL)")
    client = daemon.client()

    def work():
        client.send(wire.query("COPY t FROM STDIN"), copy_data(b"1\n\\N\n"), copy_done())
        assert client.reply().state == "23502"
        client.query("BEGIN").check()
        client.send(wire.query("COPY t FROM STDIN"), copy_data(b"1\n2\n"), copy_done())
        client.reply().check()
        client.query("COMMIT").check()

    changes = moved(daemon, work)
    assert changes[("walpool_transactions_total",)] == 2
    assert changes[kind("insert")] == 2 and changes[kind("transaction")] == 2


def test_what_a_copys_client_takes_is_not_its_time(daemon):
    """But what the daemon did before each of its waits is."""
    daemon.run("CREATE TABLE t (x)", "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) "
               "INSERT INTO t SELECT n FROM c")
    plain, slow = daemon.client(), daemon.client()
    # All the work is in the rows.
    row = "length(hex(randomblob(x * 0 + 200000))) || hex(zeroblob(50000))"
    for number in range(3):
        plain.query(f"SELECT {row} AS plain{number} FROM t").check()
    began = time.monotonic()
    slow.send(wire.query(f"COPY (SELECT {row} AS slow FROM t) TO STDOUT"))
    daemon.settle(slow)
    # So long, at least, it takes nothing.
    plain.query("SELECT pg_sleep(1)").check()
    slow.reply().check()
    took = time.monotonic() - began
    found = statements(daemon)
    # The one that other programs have kept from the processor the least.
    one = min((row for text, row in found.items() if "AS plain" in text), key=lambda row: row["total_us"])
    (other,) = [row for text, row in found.items() if "AS slow" in text]
    assert other["rows"] == one["rows"] == 300
    assert one["total_us"] / 4 < other["total_us"] < (took - 1) * 1_000_000


# Beside others


def test_scrapes_disturb_nobody(start_daemon):
    """Readers and writers at work, and everybody looks at the counters meanwhile: all is answered, nothing miscounted."""
    daemon = start_daemon(options=["--readers", "2"])
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, x)", "INSERT INTO t VALUES (1, 0)")
    before = settled_values(daemon)
    each, errors, done = 300, [], threading.Event()

    def guarded(body):
        def run():
            try:
                body()
            except BaseException as error:
                errors.append(error)
        return threading.Thread(target=run)

    def read():
        with daemon.client() as client:
            for _ in range(each):
                assert client.value("SELECT count(*) FROM t WHERE id = 1") == "1"

    def write():
        with daemon.client() as client:
            for _ in range(each):
                client.query("UPDATE t SET x = x + 1 WHERE id = 1").check()

    def look():
        while not done.is_set():
            assert get(daemon).status == 200
            console(daemon, "STATEMENTS")

    workers = [guarded(read) for _ in range(4)] + [guarded(write) for _ in range(3)]
    lookers = [guarded(look) for _ in range(3)]
    for thread in workers + lookers:
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    for thread in lookers:
        thread.join()
    assert not errors
    assert daemon.value("SELECT x FROM t") == str(3 * each)
    after = settled_values(daemon)
    assert after[kind("select")] - before[kind("select")] == 4 * each + 1
    assert after[kind("update")] - before[kind("update")] == 3 * each
    found = statements(daemon)
    assert found["SELECT count(*) FROM t WHERE id = ?"]["calls"] == 4 * each
    update = found["UPDATE t SET x = x + ? WHERE id = ?"]
    assert (update["calls"], update["rows"]) == (3 * each, 3 * each)
    daemon.check_alive()


def test_while_the_daemon_stops(start_daemon):
    daemon = start_daemon(config='shutdown_timeout = "100ms"\n')
    daemon.run("CREATE TABLE t (x)")
    half = daemon.raw()
    half.send(b"GET /metrics HTTP/1.1\r\n")
    daemon.settle(half)
    daemon.stop()
    assert half.rest() == b""
