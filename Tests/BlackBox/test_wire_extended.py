"""The simple and the extended query protocol, message by message."""

import pytest

import wire
from wire_fixtures import client, column, table  # noqa: F401 (fixtures)


# Simple queries


def test_simple_query(client):
    reply = client.query("SELECT 1 AS one, 'two' AS two, NULL AS three, 2.5 AS four")
    assert reply.kinds == "TDCZ"
    assert [c.name for c in reply.of("T")[0].columns] == ["one", "two", "three", "four"]
    assert all(c.format == 0 for c in reply.of("T")[0].columns)
    assert reply.texts == [("1", "two", None, "2.5")]
    assert reply.tag == "SELECT 1"


@pytest.mark.parametrize("sql", ["", ";", "  ", ";;;", "-- nothing", "/* nothing */ ;"])
def test_empty_query(client, sql):
    assert client.query(sql).kinds == "IZ"


def test_several_statements(client):
    reply = client.query("SELECT 1; SELECT 2 WHERE 1 = 0;; SELECT 3, 4;")
    assert reply.kinds == "TDCTCTDCZ"
    assert reply.tags == ["SELECT 1", "SELECT 0", "SELECT 1"]


def test_nothing_is_run_after_an_error(client, table):
    reply = client.query("SELECT 1; SELECT nope; INSERT INTO t VALUES (1, 'x')")
    assert reply.kinds == "TDCEZ"
    assert reply.state == "42703"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_no_rows(client):
    assert client.query("SELECT 1 WHERE 1 = 0").kinds == "TCZ"


def test_result_without_select(client, table):
    reply = client.query("INSERT INTO t VALUES (1, 'a'), (2, 'b') RETURNING id, v")
    assert reply.kinds == "TDDCZ"
    assert reply.tag == "INSERT 0 2"
    assert reply.texts == [("1", "a"), ("2", "b")]


def test_semicolons_inside(client):
    reply = client.query("SELECT ';' || \"a;b\" /* ; */ FROM (SELECT 'x;y' AS \"a;b\") -- ;\n; SELECT 2")
    assert reply.tags == ["SELECT 1", "SELECT 1"]
    assert reply.texts[0] == (";x;y",)


def test_trigger_is_one_statement(client, table):
    reply = client.query(
        "DROP TRIGGER IF EXISTS g; CREATE TRIGGER g AFTER INSERT ON t WHEN new.id > 0 BEGIN "
        "UPDATE t SET v = CASE WHEN v = 'x' THEN 'y' ELSE v END; SELECT 1; END; INSERT INTO t VALUES (1, 'x')")
    assert [m.kind for m in reply.messages].count("C") == 3
    assert client.value("SELECT v FROM t") == "y"


@pytest.mark.parametrize(
    "sql, state, position",
    [
        ("SELEC 1", "42601", 1),
        ("SELECT 1 +", "42601", None),
        ("SELECT nope", "42703", 8),
        ("SELECT 'é', nope", "42703", 13),
        ("\n\n  SELECT nope", "42703", 12),
        ("SELECT 1; SELECT nope", "42703", 18),
        ("SELECT * FROM nowhere", "42P01", None),
        ("SELECT nofunction(1)", "42883", None),
        ("SELECT 1 FROM t WHERE id = 1 GROUP BY sum(id)", "42803", None),
        ("SELECT 'open", "42601", None),
        ("INSERT INTO t (nope) VALUES (1)", "42703", None),
        ("INSERT INTO t VALUES (1, 2, 3)", "42601", None),
        ("CREATE TABLE t (x)", "42P07", None),
        ("DROP INDEX nope", "42704", None),
        ('SELECT "no_such_column"', "42703", None),
    ],
)
def test_errors(client, table, sql, state, position):
    reply = client.query(sql)
    assert reply.messages[-1].status == "I"
    assert reply.error["C"] == state
    assert reply.error["S"] == reply.error["V"] == "ERROR"
    if position:
        assert reply.error["P"] == str(position)


# The parts of an extended query


def test_extended_query(client):
    reply = client.extended("SELECT $1::int8 + 1 AS n, $2::text", [41, "x"])
    assert reply.kinds == "12TDCZ"
    assert reply.texts == [("42", "x")]
    assert reply.tag == "SELECT 1"


def test_nothing_is_ready_before_sync(client, shared):
    client.send(wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.flush())
    assert "".join(client.receive().kind for _ in range(4)) == "12DC"
    shared.settle(client)
    assert not client.has_reply(), "ReadyForQuery comes at Sync"
    client.send(wire.sync())
    assert client.reply().kinds == "Z"


def test_flush(client):
    client.send(wire.parse("SELECT 1"), wire.flush())
    assert client.receive().kind == "1"
    client.send(wire.bind(), wire.flush())
    assert client.receive().kind == "2"
    client.send(wire.describe_portal(), wire.flush())
    assert client.receive().kind == "T"
    client.send(wire.execute(), wire.flush())
    assert [client.receive().kind, client.receive().kind] == ["D", "C"]
    client.send(wire.close_portal(), wire.flush())
    assert client.receive().kind == "3"
    client.send(wire.sync())
    assert client.receive().status == "I"


def test_sync_alone(client):
    assert client.ask().kinds == "Z"


def test_describe_statement(client, table):
    reply = client.ask(wire.parse("SELECT id, v FROM t WHERE id = $1", types=[wire.INT8]), wire.describe_statement())
    assert reply.kinds == "1tTZ"
    assert reply.of("t")[0].types == [wire.INT8]
    described = reply.of("T")[0].columns
    assert [(c.name, c.type, c.format) for c in described] == [("id", wire.INT8, 0), ("v", wire.TEXT, 0)]


def test_describe_statement_without_rows(client, table):
    reply = client.ask(wire.parse("INSERT INTO t VALUES ($1::int8, $2::text)"), wire.describe_statement())
    assert reply.kinds == "1tnZ"
    assert reply.of("t")[0].types == [wire.INT8, wire.TEXT]


def test_describe_portal_without_rows(client, table):
    reply = client.ask(wire.parse("DELETE FROM t"), wire.bind(), wire.describe_portal(), wire.execute())
    assert reply.kinds == "12nCZ"
    assert reply.tag == "DELETE 0"


def test_describe_returning(client, table):
    reply = client.ask(
        wire.parse("INSERT INTO t VALUES (1, 'x') RETURNING id, v"), wire.describe_statement(), wire.bind(),
        wire.describe_portal(), wire.execute())
    assert reply.kinds == "1tT2TDCZ"
    assert [c.type for c in reply.of("T")[1].columns] == [wire.INT8, wire.TEXT]
    assert client.value("SELECT count(*) FROM t") == "1", "describing it does not run it"


def test_describe_portal_has_its_formats(client):
    reply = client.ask(
        wire.parse("SELECT 1 AS a, 'x' AS b"), wire.bind(result_formats=[1, 0]), wire.describe_portal())
    assert [c.format for c in reply.of("T")[0].columns] == [1, 0]


@pytest.mark.parametrize("sql", ["", "-- nothing"])
def test_empty_statement(client, sql):
    reply = client.ask(wire.parse(sql), wire.describe_statement(), wire.bind(), wire.describe_portal(), wire.execute())
    assert reply.kinds == "1tn2nIZ"


def test_several_statements_cannot_be_parsed(client):
    reply = client.ask(wire.parse("SELECT 1; SELECT 2"))
    assert reply.kinds == "EZ" and reply.state == "42601"
    assert client.ask(wire.parse("SELECT 1; ; -- end")).kinds == "1Z"


def test_parse_error_has_a_position(client):
    assert client.ask(wire.parse("  SELECT nope")).error["P"] == "10"


# Names


def test_named_statement(client):
    assert client.ask(wire.parse("SELECT $1::int8", name="s")).kinds == "1Z"
    for number in (1, 2):
        reply = client.ask(wire.bind([number], statement="s"), wire.execute())
        assert reply.texts == [(str(number),)]
    assert client.ask(wire.parse("SELECT 2", name="s")).state == "42P05"
    assert client.ask(wire.close_statement("s")).kinds == "3Z"
    assert client.ask(wire.bind(statement="s")).state == "26000"
    assert client.ask(wire.parse("SELECT 2", name="s")).kinds == "1Z"


def test_unnamed_statement_is_replaced(client):
    assert client.ask(wire.parse("SELECT 1")).kinds == "1Z"
    assert client.ask(wire.parse("SELECT 2")).kinds == "1Z"
    assert client.ask(wire.bind(), wire.execute()).texts == [("2",)]


def test_failed_parse_leaves_no_unnamed_statement(client):
    client.ask(wire.parse("SELECT 1"))
    client.ask(wire.parse("SELECT nope"))
    assert client.ask(wire.bind()).state == "26000"


def test_simple_query_ends_the_unnamed_statement(client):
    client.ask(wire.parse("SELECT 1"))
    client.query("SELECT 2").check()
    assert client.ask(wire.bind()).state == "26000"


def test_unnamed_portal_is_replaced(client):
    reply = client.ask(
        wire.parse("SELECT $1::int8"), wire.bind([1]), wire.bind([2]), wire.execute(), wire.bind([3]), wire.execute())
    assert reply.kinds == "122DC2DCZ"
    assert column(reply) == ["2", "3"]


def test_named_portal_is_not(client):
    reply = client.ask(wire.parse("SELECT 1"), wire.bind(portal="p"), wire.bind(portal="p"))
    assert reply.kinds == "12EZ" and reply.state == "42P03"


@pytest.mark.parametrize(
    "messages, state",
    [
        ([wire.bind(statement="nope")], "26000"),
        ([wire.describe_statement("nope")], "26000"),
        ([wire.bind()], "26000"),
        ([wire.describe_statement()], "26000"),
        ([wire.describe_portal("nope")], "34000"),
        ([wire.execute("nope")], "34000"),
        ([wire.describe_portal()], "34000"),
        ([wire.execute()], "34000"),
    ],
)
def test_unknown_names(client, messages, state):
    reply = client.ask(*messages)
    assert reply.kinds == "EZ" and reply.state == state


def test_closing_what_is_not_there(client):
    reply = client.ask(
        wire.close_statement("nope"), wire.close_portal("nope"), wire.close_statement(), wire.close_portal())
    assert reply.kinds == "3333Z"


def test_deallocate(client):
    client.ask(wire.parse("SELECT 1", name="s1"), wire.parse("SELECT 1", name="s2")).check()
    assert client.query("DEALLOCATE s1").tag == "DEALLOCATE"
    assert client.ask(wire.bind(statement="s1")).state == "26000"
    assert client.query("DEALLOCATE s1").state == "26000"
    assert client.query("DEALLOCATE ALL").tag == "DEALLOCATE ALL"
    assert client.ask(wire.bind(statement="s2")).state == "26000"


def test_names_are_any_text(client):
    for name in ["ü", "a b", '"', "'", "x" * 1000]:
        reply = client.ask(
            wire.parse("SELECT 1", name=name), wire.bind(portal=name, statement=name), wire.execute(name))
        assert reply.kinds == "12DCZ"


# Errors and Sync


def test_after_an_error_all_is_skipped_up_to_sync(client, table):
    client.send(
        wire.parse("SELECT nope"), wire.bind(), wire.execute(), wire.query("INSERT INTO t VALUES (1, 'x')"),
        wire.parse("INSERT INTO t VALUES (2, 'x')"), wire.bind(), wire.execute(), wire.flush(), wire.sync())
    assert client.reply().kinds == "EZ"
    assert client.value("SELECT count(*) FROM t") == "0"


def test_each_sync_is_answered(client):
    client.send(wire.parse("SELECT nope"), wire.sync(), wire.parse("SELECT 1"), wire.bind(), wire.execute(), wire.sync())
    assert client.reply().kinds == "EZ"
    assert client.reply().kinds == "12DCZ"


def test_error_at_execute(client, table):
    client.query("INSERT INTO t VALUES (1, 'x')").check()
    reply = client.extended("INSERT INTO t VALUES ($1, 'y')", [1], types=[wire.INT8])
    assert reply.kinds == "12nEZ"
    assert reply.state == "23505"


def test_query_may_end_a_pipeline(client, table):
    client.send(
        wire.parse("INSERT INTO t VALUES (1, 'x')"), wire.bind(), wire.execute(), wire.query("SELECT count(*) FROM t"))
    reply = client.reply()
    assert reply.kinds == "12CTDCZ"
    assert reply.texts == [("1",)]


@pytest.mark.parametrize("parameters", [[], [1, 2]])
def test_wrong_number_of_parameters(client, parameters):
    reply = client.ask(wire.parse("SELECT $1::int8"), wire.bind(parameters))
    assert reply.kinds == "1EZ" and reply.state == "08P01"


def test_parameter_used_twice(client):
    assert client.extended("SELECT $2::int8, $1::int8, $2::int8", [1, 2]).texts == [("2", "1", "2")]


def test_parameters_out_of_order(client, table):
    client.extended("INSERT INTO t (v, id) VALUES ($2, $1)", [7, "seven"], types=[wire.INT8, wire.TEXT]).check()
    assert client.query("SELECT id, v FROM t").texts == [("7", "seven")]


@pytest.mark.parametrize("sql", ["SELECT :name", "SELECT @name", "SELECT $name", "SELECT $0", "SELECT $65536"])
def test_other_parameters(client, sql):
    reply = client.ask(wire.parse(sql))
    assert reply.kinds == "EZ" and reply.state in ("42P02", "42601", "54000"), reply.error


def test_most_parameters(client):
    sql = "SELECT " + "+".join(f"${n}::int8" for n in range(1, 501))
    assert client.extended(sql, range(1, 501)).texts == [(str(sum(range(1, 501))),)]
    count = 30_000
    sql = "SELECT count(*) FROM (VALUES " + ",".join(f"(${n})" for n in range(1, count + 1)) + ")"
    assert client.extended(sql, ["x"] * count, types=[wire.TEXT] * count).check().texts == [(str(count),)]


# Pipelines


def test_long_pipeline(client, table):
    import threading

    count = 5_000
    statement = wire.parse("INSERT INTO t VALUES ($1::int8, $2::text)", name="i")
    work = b"".join(wire.bind([n, f"row {n}"], statement="i") + wire.execute() for n in range(count))
    sender = threading.Thread(target=client.send, args=(statement, work, wire.sync()))
    sender.start()
    reply = client.reply()
    sender.join()
    assert reply.kinds == "1" + "2C" * count + "Z"
    assert client.value("SELECT count(*) FROM t") == str(count)


def test_pipeline_of_syncs(client, table):
    client.send(*[wire.query(f"INSERT INTO t VALUES ({n}, 'x')") for n in range(100)])
    for _ in range(100):
        assert client.reply().tag == "INSERT 0 1"
    client.send(*[wire.parse("SELECT $1::int8") + wire.bind([n]) + wire.execute() + wire.sync() for n in range(100)])
    assert [client.reply().value for _ in range(100)] == [str(n) for n in range(100)]


def test_pipeline_byte_by_byte(client):
    for byte in wire.parse("SELECT $1::text") + wire.bind(["x"]) + wire.describe_portal() + wire.execute() + wire.sync():
        client.send(bytes([byte]))
    assert client.reply().kinds == "12TDCZ"


@pytest.mark.parametrize("before", [";", " ;;; ", "/*x*/;--y\n;", "\ufeff;"])
def test_empty_statements_before_the_one_of_parse(client, before):
    """They hid its first word, by which it is told what it is."""
    reply = client.extended(before + "SELECT 1")
    assert reply.check().tags == ["SELECT 1"]
    assert client.extended(before + "BEGIN").check().status == "T"
    assert client.extended(before + "ROLLBACK").check().status == "I"
    assert client.extended(before + "CREATE TABLE serial (id SERIAL)").state == client.query("CREATE TABLE serial (id SERIAL)").state
    assert client.extended("; SELECT 1; SELECT 2").state == "42601"


def test_names_that_differ_in_composition_only(shared):
    """They are two to PostgreSQL, and to SQLite; Swift's strings are equal."""
    composed, apart = "\u00e9", "e\u0301"
    with shared.client() as client:
        messages = [wire.parse(f"SELECT '{which}'", name=name) + wire.bind(statement=name, portal=name)
                    for which, name in [("first", composed), ("second", apart)]]
        reply = client.ask(*messages, wire.execute(composed), wire.execute(apart), wire.close_statement(composed), wire.bind(statement=apart),
                           wire.execute()).check()
        assert reply.texts == [("first",), ("second",), ("second",)]
        client.query("DROP TABLE IF EXISTS n; CREATE TABLE n (i)").check()
        client.query(f'BEGIN; SAVEPOINT "{composed}"; INSERT INTO n VALUES (1); SAVEPOINT "{apart}"; INSERT INTO n VALUES (2)').check()
        assert client.value(f'ROLLBACK TO "{composed}"; SELECT count(*) FROM n') == "0"
        client.query("COMMIT").check()
