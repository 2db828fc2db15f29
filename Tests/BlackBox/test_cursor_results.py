"""What a cursor or portal gives is fixed before its own transaction writes: later writes neither add to it nor take from it."""

import struct

import pytest

import wire
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)

IDS = "SELECT id FROM t ORDER BY id"


@pytest.fixture
def four(shared, table):
    shared.run("INSERT INTO t VALUES (1, 'i'), (2, 'i'), (3, 'i'), (4, 'i')")


def run(client, *statements):
    """The rows of the last one."""
    reply = None
    for sql in statements:
        reply = client.query(sql).check()
    return column(reply)


def extended(sql, portal=""):
    return [wire.parse(sql), wire.bind(portal=portal), wire.execute(portal)]


@pytest.mark.parametrize("kind", ["", "INSENSITIVE ", "ASENSITIVE ", "NO SCROLL "])
@pytest.mark.parametrize("before", [None, "UPDATE t SET v = 'x'", "BEGIN IMMEDIATE"])
@pytest.mark.parametrize("write", ["DELETE FROM t", "INSERT INTO t VALUES (9, 'n')", "UPDATE t SET id = id + 100"])
@pytest.mark.parametrize("begun", [False, True])
def test_writes_after_declare(client, four, before, kind, write, begun):
    client.query(before if before == "BEGIN IMMEDIATE" else "BEGIN").check()
    if before and before != "BEGIN IMMEDIATE":
        client.query(before).check()
    client.query(f"DECLARE c {kind}CURSOR FOR {IDS}").check()
    first = run(client, "FETCH 1 FROM c") if begun else []
    client.query(write).check()
    assert first + run(client, "FETCH ALL FROM c") == ["1", "2", "3", "4"]
    assert client.query("FETCH 1 FROM c").tag == "FETCH 0"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ"])
def test_all_in_one_query_string(client, four, level):
    reply = client.query(
        f"BEGIN ISOLATION LEVEL {level}; DECLARE c CURSOR FOR {IDS}; DELETE FROM t; FETCH ALL FROM c; "
        "SELECT count(*) FROM t; COMMIT").check()
    assert column(reply) == ["1", "2", "3", "4", "0"]


def test_all_in_one_query_string_after_a_write(client, four):
    """Such a string is a member of a group commit."""
    reply = client.query(
        f"BEGIN; UPDATE t SET v = 'x'; DECLARE c CURSOR FOR {IDS}; FETCH 1 FROM c; DELETE FROM t; FETCH ALL FROM c; "
        "COMMIT").check()
    assert column(reply) == ["1", "2", "3", "4"]


def test_a_portal_that_was_bound_before_a_write(client, four):
    reply = client.ask(
        wire.parse(IDS), wire.bind(portal="x"), *extended("DELETE FROM t WHERE id > 1"), wire.execute("x")).check()
    assert column(reply) == ["1", "2", "3", "4"] and reply.tags == ["DELETE 3", "SELECT 4"]


def test_the_unnamed_portal_that_was_bound_before_a_write(client, four):
    reply = client.ask(
        wire.parse(IDS), wire.bind(), wire.parse("DELETE FROM t", name="d"), wire.bind(portal="d", statement="d"),
        wire.execute("d"), wire.execute()).check()
    assert column(reply) == ["1", "2", "3", "4"]


def test_a_portal_of_a_pipeline_that_has_written(client, four):
    reply = client.ask(
        *extended("UPDATE t SET v = 'x'"), wire.parse(IDS), wire.bind(portal="x"), wire.execute("x", 1),
        *extended("DELETE FROM t"), wire.execute("x", 2), *extended("INSERT INTO t VALUES (7, 'n')"), wire.execute("x")).check()
    assert column(reply) == ["1", "2", "3", "4"]
    assert client.value("SELECT group_concat(id) FROM t") == "7"


def test_a_loop_that_inserts_what_follows_ends(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'seen' WHERE id = 1", f"DECLARE c CURSOR FOR {IDS}")
    seen = 0
    while run(client, "FETCH 1 FROM c"):
        seen += 1
        assert seen <= 4
        client.query(f"INSERT INTO t VALUES ({1000 + seen}, 'follows')").check()
    assert seen == 4
    client.query("ROLLBACK").check()


def test_a_row_that_moves_is_not_fetched_again(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'", f"DECLARE c CURSOR FOR {IDS}")
    assert run(client, "FETCH 2 FROM c") == ["1", "2"]
    client.query("UPDATE t SET id = id + 100 WHERE id = 2").check()
    assert run(client, "FETCH ALL FROM c") == ["3", "4"]
    client.query("ROLLBACK").check()


def test_definitions_and_copy_are_writes(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'", f"DECLARE c CURSOR FOR {IDS}", "FETCH 1 FROM c")
    client.send(wire.query("COPY t FROM STDIN"))
    client.receive_until("G")
    client.send(wire.message("d", b"9\tcopied\n"), wire.message("c"))
    assert client.reply().tag == "COPY 1"
    assert run(client, "FETCH 1 FROM c") == ["2"]
    run(client, "DROP TABLE t", "CREATE TABLE t (other)")
    assert run(client, "FETCH ALL FROM c") == ["3", "4"]
    client.query("ROLLBACK").check()


def test_copy_before_the_first_fetch(client, four):
    run(client, "BEGIN", f"DECLARE c CURSOR FOR {IDS}")
    client.send(wire.query("COPY t FROM STDIN"))
    client.receive_until("G")
    client.send(wire.message("d", b"9\tcopied\n"), wire.message("c"))
    assert client.reply().tag == "COPY 1"
    assert run(client, "FETCH ALL FROM c") == ["1", "2", "3", "4"]
    client.query("ROLLBACK").check()


def test_nothing_is_begun_without_a_write(shared, client, four):
    """READ COMMITTED keeps no reader between statements; so DECLARE's moment is that of the first FETCH."""
    run(client, "BEGIN", f"DECLARE c CURSOR FOR {IDS}", "SELECT 1")
    shared.run("DELETE FROM t WHERE id = 1")
    assert run(client, "FETCH ALL FROM c") == ["2", "3", "4"]
    client.query("COMMIT").check()


def test_every_kind_of_value(client, table):
    """Formats and types may be asked for after the rows are kept."""
    values = [
        "1", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "-0.0", "1e300", "'text'", "''",
        "'a' || char(0) || 'b'", "x'00ff'", "x''", "NULL", "cast(x'c3a9' AS text)"]
    query = "SELECT " + ", ".join(f"{value} AS c{index}" for index, value in enumerate(values))
    two = f"{query} UNION ALL {query}"
    for formats in [[0], [1]]:
        run(client, "BEGIN", "INSERT INTO t VALUES (1, 'a')")
        client.ask(wire.parse(two), wire.bind(portal="p", result_formats=formats), wire.describe_portal("p")).check()
        client.query("DELETE FROM t").check()
        kept = client.ask(wire.describe_portal("p"), wire.execute("p", 1), wire.execute("p")).check()
        live = client.ask(
            wire.parse(two), wire.bind(result_formats=formats), wire.describe_portal(), wire.execute("", 1), wire.execute()).check()
        assert kept.rows == live.rows and len(kept.rows) == 2
        assert [c.type for c in kept.of("T")[0].columns] == [c.type for c in live.of("T")[0].columns]
        client.query("ROLLBACK").check()


def test_formats_of_each_fetch(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'", f"DECLARE c CURSOR FOR {IDS}", "DELETE FROM t")
    assert run(client, "FETCH 1 FROM c") == ["1"]
    for formats, row in [([1], struct.pack("!q", 2)), ([0], b"3")]:
        reply = client.ask(wire.parse("FETCH 1 FROM c"), wire.bind(result_formats=formats), wire.describe_portal(), wire.execute())
        assert reply.rows == [[row]]
    assert client.query("MOVE ALL IN c").tag == "MOVE 1"
    client.query("ROLLBACK").check()


def test_formats_of_a_portal_that_is_fetched_from(client):
    """Execute sends what Bind has asked for, whatever a FETCH in between wants."""
    client.query("BEGIN").check()
    sql = "SELECT value FROM generate_series(1, 4)"
    client.ask(wire.parse(sql), wire.bind(portal="c", result_formats=[1]), wire.describe_portal("c"), wire.execute("c", rows=1)).check()
    assert client.ask(wire.parse("FETCH 1 FROM c"), wire.bind(), wire.execute()).check().texts == [("2",)]
    assert client.ask(wire.execute("c")).check().rows == [[struct.pack("!q", n)] for n in (3, 4)]


@pytest.mark.parametrize("query", ["FETCH 1 FROM c", "FETCH ALL FROM c"])
def test_a_query_string_that_fetches_from_a_binary_portal(client, query):
    """Only what was DECLAREd BINARY comes so."""
    client.query("BEGIN").check()
    sql = "SELECT value FROM generate_series(1, 4)"
    client.ask(wire.parse(sql), wire.bind(portal="c", result_formats=[1]), wire.describe_portal("c"), wire.execute("c", rows=1)).check()
    assert client.query(query).check().texts[0] == ("2",)
    client.query("ROLLBACK").check()


def test_moving_over_kept_rows(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'", f"DECLARE c CURSOR FOR {IDS}", "DELETE FROM t")
    assert client.query("MOVE 2 IN c").tag == "MOVE 2"
    assert run(client, "FETCH 1 FROM c") == ["3"]
    assert client.query("MOVE 0 FROM c").tag == "MOVE 1"
    assert run(client, "FETCH ALL FROM c") == ["4"]
    client.query("ROLLBACK").check()


def test_declared_types(client):
    client.query("DROP TABLE IF EXISTS d; CREATE TABLE d (j JSON, n NUMERIC(10, 2), u UUID, w TIMESTAMP)").check()
    client.query(
        "INSERT INTO d VALUES (7, 1.5, '00000000-0000-0000-0000-000000000001', '2020-01-02 03:04:05'), "
        "('[1]', 2, '00000000-0000-0000-0000-000000000002', '2020-01-02 03:04:06')").check()
    client.query("SET result_typing = declared").check()
    for formats in [[0], [1]]:
        live = client.extended("SELECT * FROM d ORDER BY n", result_formats=formats).check()
        run(client, "BEGIN", "UPDATE d SET n = n")
        client.ask(wire.parse("SELECT * FROM d ORDER BY n"), wire.bind(portal="p", result_formats=formats)).check()
        run(client, "DELETE FROM d")
        kept = client.ask(wire.execute("p")).check()
        assert len(kept.rows) == 2 and kept.rows == live.rows
        client.query("ROLLBACK").check()


@pytest.mark.parametrize("before", ["SELECT 1", "UPDATE t SET v = 'z'"])
def test_an_error_of_the_query_is_its_own(client, four, before):
    """The statement that writes is not to blame, and neither are the rows before."""
    run(client, "BEGIN", before, "DECLARE c CURSOR FOR SELECT abs(id - 3 + (id = 3) * -9223372036854775808) FROM t ORDER BY id")
    run(client, "SAVEPOINT s", "INSERT INTO t VALUES (9, 'n')")
    assert client.query("FETCH 1 FROM c").texts == [("2",)]
    reply = client.query("FETCH ALL FROM c")
    assert reply.texts == [("1",)] and reply.state == "22003"
    client.query("ROLLBACK TO s").check()
    assert client.query("FETCH 1 FROM c").state == "55000"
    client.query("ROLLBACK").check()


def test_an_error_at_once_is_the_querys_own(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'", "DECLARE c CURSOR FOR SELECT abs(-9223372036854775808) FROM t")
    run(client, "INSERT INTO t VALUES (9, 'n')")
    assert client.query("FETCH 1 FROM c").state == "22003"
    client.query("ROLLBACK").check()


def test_too_much_to_keep(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'z'")
    client.query("DECLARE c CURSOR FOR SELECT value, zeroblob(1000000) FROM generate_series(1, 100)").check()
    reply = client.query("DELETE FROM t")
    assert reply.state == "54000" and "before the transaction's first write" in reply.error["H"]
    client.query("ROLLBACK").check()
    # On a reader it stands where it is, and nothing is kept.
    run(client, "BEGIN", "DECLARE c CURSOR FOR SELECT value, zeroblob(1000000) FROM generate_series(1, 100)", "DELETE FROM t")
    assert client.query("MOVE ALL IN c").tag == "MOVE 100"
    client.query("ROLLBACK").check()


def test_a_cancel_while_rows_are_kept(client, four):
    """It ends the statement that writes, as the one that takes the time."""
    run(client, "SET statement_timeout = 300", "BEGIN", "UPDATE t SET v = 'z'")
    client.query("DECLARE c CURSOR FOR SELECT count(*) FROM generate_series(1, 100000000000)").check()
    assert client.query("DELETE FROM t").state == "57014"
    client.query("ROLLBACK").check()
    assert client.value("SELECT count(*) FROM t") == "4"


def test_suspended_returning(client, four):
    run(client, "BEGIN")
    client.ask(
        wire.parse("INSERT INTO t VALUES (7, 'a'), (8, 'b'), (9, 'c') RETURNING id"), wire.bind(portal="p"),
        wire.execute("p", 1)).check()
    run(client, "DELETE FROM t")
    reply = client.ask(wire.execute("p")).check()
    assert column(reply) == ["8", "9"] and reply.tag == "INSERT 0 3"
    client.query("ROLLBACK").check()


# Savepoints


@pytest.mark.parametrize("before", [["UPDATE t SET v = 'x'"], []])
@pytest.mark.parametrize("fetch", ["FETCH 1 FROM c", "FETCH 0 FROM c", "MOVE 1 FROM c"])
def test_a_cursor_that_failed_at_once_cannot_be_run_after_rollback_to(client, four, before, fetch):
    """It would have no rows then, which is a wrong answer. Its name is taken until it is closed: psycopg closes what it has declared."""
    run(client, "BEGIN", *before, "DECLARE c CURSOR FOR SELECT json_extract('{', '$') FROM t", "SAVEPOINT s")
    assert client.query(fetch).errors
    for again in ["FETCH 1 FROM c", "MOVE 1 FROM c"]:
        run(client, "ROLLBACK TO s")
        assert client.query(again).state == "55000"
    run(client, "ROLLBACK TO s")
    assert client.query("DECLARE c CURSOR FOR SELECT 1").state == "42P03"
    run(client, "ROLLBACK TO s", "CLOSE c", "DECLARE c CURSOR FOR SELECT 1")
    assert column(client.query("FETCH 1 FROM c")) == ["1"]
    client.query("COMMIT").check()


@pytest.mark.parametrize("sql", ["INSERT INTO t VALUES (1, 'again')", "INSERT INTO t VALUES (1, 'again') RETURNING id", "UPDATE t SET id = 2 WHERE id = 1"])
def test_a_write_that_failed_cannot_be_run_after_rollback_to(client, four, sql):
    run(client, "BEGIN")
    client.ask(wire.parse(sql), wire.bind(portal="p")).check()
    run(client, "SAVEPOINT s")
    assert client.ask(wire.execute("p")).state == "23505"
    run(client, "ROLLBACK TO s")
    assert client.ask(wire.execute("p")).state == "55000"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("commands", [["SAVEPOINT b"], ["RELEASE a"], ["RELEASE a", "SAVEPOINT b"], ["SAVEPOINT b", "ROLLBACK TO b"]])
@pytest.mark.parametrize("rows", [0, 1])
def test_savepoints_beside_suspended_returning(client, four, commands, rows):
    """SQLite makes and ends none while a statement that writes has rows left; pgjdbc's autosave makes one before each statement."""
    run(client, "BEGIN", "SAVEPOINT a")
    bound = [wire.parse("INSERT INTO t VALUES (7, 'a'), (8, 'b'), (9, 'c') RETURNING id"), wire.bind(portal="p")]
    seen = column(client.ask(*bound, *([wire.execute("p", rows)] if rows else [])).check())
    if rows == 0:
        run(client, "FETCH 0 FROM p")
    run(client, *commands)
    reply = client.ask(wire.execute("p")).check()
    assert seen + column(reply) == ["7", "8", "9"] and reply.tag == "INSERT 0 3"
    client.query("COMMIT").check()
    assert client.value("SELECT count(*) FROM t") == "7"


def test_a_portal_whose_columns_have_changed_cannot_be_run_after_rollback_to(client, shared):
    """Nothing would compare its columns a second time, and more were announced than there are: that was the end of the daemon."""
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER, a INTEGER, b INTEGER, c INTEGER)",
               "INSERT INTO t VALUES (1, 2, 3, 4), (5, 6, 7, 8)")
    run(client, "BEGIN")
    client.ask(wire.parse("DELETE FROM t RETURNING *"), wire.bind(portal="p"), wire.describe_portal("p")).check()
    run(client, "ALTER TABLE t DROP COLUMN a", "SAVEPOINT s")
    assert client.ask(wire.execute("p")).state == "0A000"
    run(client, "ROLLBACK TO s")
    assert client.ask(wire.execute("p")).state == "55000"
    client.query("ROLLBACK").check()
    assert client.value("SELECT count(*) FROM t") == "2"


@pytest.mark.parametrize("sql", ["DELETE FROM t RETURNING id", "SELECT id FROM t"])
def test_a_portal_whose_first_row_failed_cannot_be_run_after_rollback_to(client, shared, sql):
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER, v)", "INSERT INTO t VALUES ('abc', 1), (5, 2), (6, 3)")
    client.query("BEGIN").check()
    client.ask(wire.parse(sql), wire.bind(portal="p", result_formats=[1]), wire.describe_portal("p")).check()
    run(client, "SAVEPOINT s")
    assert client.ask(wire.execute("p")).state == "42804"
    run(client, "ROLLBACK TO s")
    assert client.query("MOVE 1 FROM p").state == "55000"
    client.query("ROLLBACK").check()


@pytest.mark.parametrize("before", [["UPDATE t SET v = 'x'"], []])
def test_a_cursor_without_rows_outlives_rollback_to(client, four, before):
    run(client, "BEGIN", *before, f"DECLARE c CURSOR FOR {IDS} LIMIT 0", "FETCH 0 FROM c")
    open_columns = "SELECT max(id) + 1 FROM t GROUP BY v HAVING false"
    client.ask(wire.parse(open_columns), wire.bind(portal="p"), wire.describe_portal("p")).check()
    run(client, "SAVEPOINT s", "ROLLBACK TO s")
    assert client.query("FETCH 1 FROM c").tag == "FETCH 0"
    assert client.ask(wire.execute("p")).tag == "SELECT 0"
    assert client.query("COMMIT").tag == "COMMIT"


@pytest.mark.parametrize("inside", [[], ["UPDATE t SET v = 'y'"], ["DELETE FROM t"], ["FETCH 1 FROM c"]])
@pytest.mark.parametrize("before", [["UPDATE t SET v = 'x'"], []])
def test_a_cursor_outlives_rollback_to(client, four, before, inside):
    run(client, "BEGIN", *before, f"DECLARE c CURSOR FOR {IDS}")
    seen = run(client, "FETCH 1 FROM c") + run(client, "SAVEPOINT a")
    for sql in inside:
        seen += run(client, sql)
    client.query("ROLLBACK TO a").check()
    seen += run(client, "FETCH 1 FROM c")
    client.query("ROLLBACK TO a").check()
    assert seen + run(client, "FETCH ALL FROM c") == ["1", "2", "3", "4"]
    assert client.query("COMMIT").tag == "COMMIT"
    assert client.value("SELECT count(*) FROM t") == "4"


def test_a_cursor_outlives_an_error_behind_a_savepoint(client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'x'", f"DECLARE c CURSOR FOR {IDS}", "FETCH 1 FROM c", "SAVEPOINT a")
    assert client.query("INSERT INTO t VALUES (1, 'again')").state == "23505"
    client.query("ROLLBACK TO a").check()
    assert run(client, "FETCH ALL FROM c") == ["2", "3", "4"]
    client.query("COMMIT").check()


@pytest.mark.parametrize("end", ["ROLLBACK", "COMMIT"])
def test_an_error_behind_a_savepoint_and_the_end(shared, client, four, end):
    """Nothing may stand on the writer when it is another's."""
    run(client, "BEGIN", "UPDATE t SET v = 'x'", f"DECLARE c CURSOR FOR {IDS}", "SAVEPOINT a", "FETCH 1 FROM c")
    assert client.query("SELECT nope").state == "42703"
    assert client.query(end).tag == "ROLLBACK"
    shared.run("DELETE FROM t")


def test_a_transaction_that_sqlite_ends_takes_its_cursors(shared, client, four):
    run(client, "BEGIN", "UPDATE t SET v = 'x'", f"DECLARE c CURSOR FOR {IDS}", "FETCH 1 FROM c", "SAVEPOINT a")
    assert client.query("INSERT OR ROLLBACK INTO t VALUES (1, 'again')").state == "23505"
    shared.run("DELETE FROM t WHERE id = 4")
    assert client.query("ROLLBACK TO a").state == "3B001"
    assert client.query("ROLLBACK").tag == "ROLLBACK"
    assert client.value("SELECT count(*) FROM t") == "3"


def test_scroll_is_refused_when_it_is_asked_for(client):
    client.query("BEGIN").check()
    assert client.query("DECLARE c SCROLL CURSOR FOR SELECT 1").state == "0A000"
    client.query("ROLLBACK").check()
