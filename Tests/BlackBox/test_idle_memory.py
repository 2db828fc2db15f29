"""What a session keeps while its client does nothing: nothing of what is over."""

import pytest

import wire
from daemon import eventually


def test_values_of_portals_that_went_with_a_member_of_a_group(daemon):
    """One that was bound and not executed, and a transaction that then arrives whole."""
    daemon.run("CREATE TABLE t (n INTEGER)", "SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(3)]
    insert = "INSERT INTO t VALUES (length($1))"
    for client in clients:
        client.query("BEGIN").check()
        client.ask(wire.parse(insert), wire.bind(["x" * (40 << 20)], portal="large")).check()
        run = [message for sql, values in [(insert, ["small"]), ("COMMIT", [])]
               for message in (wire.parse(sql), wire.bind(values), wire.execute())]
        assert client.ask(*run).check().tags == ["INSERT 0 1", "COMMIT"]
    daemon.settle(*clients)
    assert daemon.memory() - before < 40 << 20
    assert daemon.value("SELECT count(*) FROM t") == "3"


@pytest.mark.optimised
@pytest.mark.parametrize("kind", ["a long one", "a call with many arguments"])
def test_the_last_query(daemon, kind):
    daemon.run("SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(80)]
    for number, client in enumerate(clients):
        if kind == "a long one":
            assert client.value(f"SELECT {number} --" + "x" * 1_000_000) == str(number)
        else:
            client.query("PREPARE p AS SELECT ?65535").check()
            assert client.query(f"EXECUTE p({','.join(['NULL'] * 65_535)})").texts == [(None,)]
            client.query("DEALLOCATE ALL").check()
    daemon.settle(*clients)
    # What malloc keeps for itself is not more with more sessions.
    assert daemon.memory() - before < 150 << 20


@pytest.mark.parametrize("expression", ["CASE WHEN ${0} IS NULL THEN c{0} ELSE ${0} END", "coalesce(${0}, c{0})", "CASE WHEN c{0} > ${0} THEN c{0} ELSE ${0} END"])
def test_what_a_statement_of_many_ways_is_analysed_with(daemon, expression):
    """What may be in each register at each of its jumps' targets: most of it is as it was at the one before."""
    daemon.run(f"CREATE TABLE wide ({', '.join(f'c{number} INT' for number in range(1, 401))})")
    sql = f"UPDATE wide SET {', '.join(f'c{number} = {expression.format(number)}' for number in range(1, 401))}"
    with daemon.client() as client:
        before = daemon.memory("VmHWM")
        assert set(client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types) == {wire.INT8}
        assert daemon.memory("VmHWM") - before < 20 << 20


def test_a_reply_that_waits_for_sync(daemon):
    """It is a few bytes behind a large result, whose memory it must not keep."""
    daemon.run("CREATE TABLE t (a)", "SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(5)]
    for client in clients:
        # What is made on the writer waits for no client.
        client.send(wire.query("BEGIN; INSERT INTO t VALUES (1); SELECT hex(zeroblob(15000000)) FROM generate_series(1, 2); COMMIT"),
                    wire.parse("SELECT 1"), wire.bind(), wire.execute())
        client.reply().check()
    eventually(lambda: daemon.memory() - before < 60 << 20, "the memory")
    for client in clients:
        client.send(wire.sync())
        assert client.reply().check().value == "1"


def test_what_statements_have_freed(daemon):
    """It lies between blocks that are in use, in the arenas of the threads that they ran on."""
    daemon.run("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    before = daemon.memory()
    numbers = ",".join(map(str, range(60)))
    with daemon.client() as client:
        client.query(f"SELECT {','.join([f'a IN ({numbers})'] * 1900)} FROM t").check()
        assert daemon.memory("VmHWM") - before > 150 << 20
        eventually(lambda: daemon.memory() - before < 100 << 20, "the memory to be given back")


@pytest.mark.optimised
def test_what_sessions_had_goes_back_when_they_have_ended(daemon):
    """Many small statements, none of which is long work."""
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INT, c REAL)")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(10)]
    for number, client in enumerate(clients):
        for first in range(0, 9_000, 5):
            client.ask(*[
                wire.parse(f"SELECT id, a, b, c FROM t WHERE id = $1 AND b = {number}{each} AND a LIKE $2", name=f"s{each}")
                for each in range(first, first + 5)]).check()
    assert daemon.memory() - before > 120 << 20
    for client in clients:
        client.close()
    # Less than 64 MiB is not worth it.
    eventually(lambda: daemon.memory() - before < 80 << 20, "memory that goes back")
