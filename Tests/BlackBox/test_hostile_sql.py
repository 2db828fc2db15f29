"""SQL and bytes from somebody who means harm: the deny list, what other servers' CVEs were, and statements that want all of
the time or all of the memory, always with a bystander beside them who must not notice.

`DENY_LIST` and `CVES` are complete: an item without a test is a failure.
"""

import os
import struct

import pytest

import wire
from daemon import Daemon, eventually
from identity import client_as

MEBIBYTE = 1 << 20
STATEMENT_LIMIT, TOTAL_LIMIT = 96 * MEBIBYTE, 192 * MEBIBYTE
READERS = 4
# What SQLite gives back stays with the thread's arena of malloc, so each thread may keep a statement's limit: as many threads
# as there are readers or cores, and more than these by two or three. Beside it: the debug build, buffers of the wire, stacks.
RESIDENT_LIMIT = STATEMENT_LIMIT * (max(READERS, os.cpu_count() + 1) + 3) + 320 * MEBIBYTE
CONFIG = f"""
statement_memory_limit_bytes = {STATEMENT_LIMIT}
sqlite_memory_limit_bytes = {TOTAL_LIMIT}
readers = {READERS}
"""


@pytest.fixture(scope="module")
def served():
    daemon = Daemon(config=CONFIG)
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)", "INSERT INTO t VALUES (1, 'x')",
               "CREATE TABLE log (n INTEGER)", "CREATE TABLE parent (id INTEGER PRIMARY KEY)",
               "CREATE VIRTUAL TABLE f USING fts5(a, b)", "CREATE VIRTUAL TABLE f4 USING fts4(a)",
               "INSERT INTO f SELECT 'some words ' || value, 'more' FROM json_each('[1,2,3,4,5,6,7,8,9]')",
               "INSERT INTO f4 SELECT a FROM f")
    yield daemon
    daemon.close()


@pytest.fixture
def bystander(served):
    """Somebody else, who reads and writes while the others do what they do, and after it."""
    client = served.client()

    def works():
        count = int(client.value("SELECT count(*) FROM log"))
        for step in range(5):
            assert client.query("SELECT v FROM t WHERE id = 1").value == "x"
            assert client.query(f"INSERT INTO log VALUES ({step})").tag == "INSERT 0 1"
        assert int(client.value("SELECT count(*) FROM log")) == count + 5

    works()
    yield works
    works()
    client.close()
    served.check_alive()


# The deny list of what a client may run

DENY_LIST = {
    "ATTACH": ["ATTACH ':memory:' AS x", "ATTACH '{directory}/stolen.db' AS x", "EXPLAIN ATTACH 'x' AS y"],
    "DETACH": ["DETACH main", "DETACH DATABASE x"],
    "VACUUM INTO": ["VACUUM INTO '{directory}/stolen.db'", "VACUUM main INTO '{directory}/stolen.db'"],
    "VACUUM": ["VACUUM", "VACUUM main"],
    "load_extension": ["SELECT load_extension('x')", "SELECT load_extension('x', 'y')",
                       "INSERT INTO t (v) VALUES (load_extension('x'))"],
    "fts3_tokenizer": ["SELECT fts3_tokenizer('simple')", "SELECT fts3_tokenizer('evil', x'4141414141414141')"],
    "any PRAGMA that is not listed": ["PRAGMA unheard_of", "PRAGMA unheard_of = 1", "PRAGMA shrink_memory",
                                      "PRAGMA case_sensitive_like = 1", "PRAGMA schema_version = 7", "PRAGMA key = 'x'",
                                      "PRAGMA legacy_alter_table = 1", "PRAGMA max_page_count = 1"],
    "journal_mode": ["PRAGMA journal_mode", "PRAGMA journal_mode = DELETE", "PRAGMA main.journal_mode(OFF)"],
    "locking_mode": ["PRAGMA locking_mode = EXCLUSIVE"],
    "synchronous": ["PRAGMA synchronous = OFF"],
    "wal_checkpoint": ["PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint(TRUNCATE)"],
    "wal_autocheckpoint": ["PRAGMA wal_autocheckpoint = 1"],
    "writable_schema": ["PRAGMA writable_schema = 1", "PRAGMA writable_schema = RESET"],
    "trusted_schema": ["PRAGMA trusted_schema = 1"],
    "query_only": ["PRAGMA query_only = 0", "PRAGMA query_only = 1"],
    "temp_store": ["PRAGMA temp_store = 2"],
    "temp_store_directory": ["PRAGMA temp_store_directory = '/tmp'"],
    "mmap_size": ["PRAGMA mmap_size = 1000000"],
    "cache_size": ["PRAGMA cache_size = 1000000"],
    "page_size": ["PRAGMA page_size = 512"],
    "auto_vacuum": ["PRAGMA auto_vacuum = 1"],
    "soft_heap_limit": ["PRAGMA soft_heap_limit = 1"],
    "hard_heap_limit": ["PRAGMA hard_heap_limit = 1000000"],
    "threads": ["PRAGMA threads = 8"],
    "busy_timeout": ["PRAGMA busy_timeout = 1"],
    "foreign_keys": ["PRAGMA foreign_keys = 0"],
    "recursive_triggers": ["PRAGMA recursive_triggers = 1"],
    "cell_size_check": ["PRAGMA cell_size_check = 1"],
    "optimize": ["PRAGMA optimize"],
    "CREATE TEMP": ["CREATE TEMP TABLE x (y)", "CREATE TEMP VIEW x AS SELECT 1", "CREATE TABLE temp.x (y)",
                    "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
                    "CREATE VIRTUAL TABLE temp.x USING fts5(a)"],
    "sqlite_dbpage": ["SELECT * FROM sqlite_dbpage", "UPDATE sqlite_dbpage SET data = x'00'",
                      "CREATE VIRTUAL TABLE x USING sqlite_dbpage"],
    "dbstat": ["SELECT * FROM dbstat", "CREATE VIRTUAL TABLE x USING dbstat"],
    "sqlite_stmt": ["SELECT * FROM sqlite_stmt", "SELECT sql FROM sqlite_stmt LIMIT 1"],
    "readfile": ["SELECT readfile('/etc/passwd')"],
    "writefile": ["SELECT writefile('{directory}/stolen.db', 'x')"],
    "edit": ["SELECT edit('x')"],
    "table-valued PRAGMAs": ["SELECT * FROM pragma_journal_mode('delete')", "SELECT * FROM pragma_hard_heap_limit(1)",
                             "SELECT * FROM PRAGMA_TRUSTED_SCHEMA(1)", "INSERT INTO t (v) SELECT * FROM pragma_query_only"],
    "EXPLAIN of what is denied": ["EXPLAIN PRAGMA journal_mode = DELETE", "EXPLAIN QUERY PLAN SELECT load_extension('x')",
                                  "EXPLAIN CREATE TEMP TABLE x (y)"],
}
# Not there at all in Debian's build, which is as good.
ABSENT = {"sqlite_dbpage": {"42P01"}, "readfile": {"42883"}, "writefile": {"42883"}, "edit": {"42883"}}


@pytest.mark.parametrize("item", DENY_LIST)
def test_deny_list(served, bystander, item):
    client = served.client()
    for sql in DENY_LIST[item]:
        sql = sql.format(directory=served.directory)
        for ask in [client.query, client.extended, lambda sql: client.query(f"SELECT 1; {sql}")]:
            reply = ask(sql)
            states = {"42501"} | ABSENT.get(item, set()) | ({"25001"} if sql.startswith("VACUUM") else set())
            assert reply.state in states and not reply.closed, (sql, reply.errors)
            bystander()
    assert not (served.directory / "stolen.db").exists()
    assert client.value("PRAGMA foreign_keys") == "1"


# Statements that want too much

ROWS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT {0})"
DOUBLING = ", ".join(f"c{n} AS (SELECT 1 FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 32))
UNIONS = ", ".join(f"c{n} AS (SELECT x FROM c{n - 1} UNION ALL SELECT x FROM c{n - 1})" for n in range(1, 32))

# What ends by the deadline and by nothing else.
ENDLESS = {
    "recursive CTE": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
    "recursive CTE in a write": "INSERT INTO t (v) SELECT n FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1"
                                " FROM c) SELECT n FROM c WHERE n < 0)",
    "recursive CTE with two steps": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c UNION ALL SELECT n + 2"
                                    " FROM c) SELECT sum(n) FROM c",
    "recursive CTE in order": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c ORDER BY 1 DESC)"
                              " SELECT count(*) FROM c",
    "cartesian join": f"{ROWS.format(1000)} SELECT count(*) FROM c a, c b, c d, c e, c f WHERE a.n + b.n + d.n + e.n + f.n = 0",
    "cartesian join of json": "SELECT count(*) FROM " + ", ".join(
        f"json_each('[1,2,3,4,5,6,7,8,9]') j{n}" for n in range(30)) + " WHERE " + " + ".join(f"j{n}.value" for n in range(30))
        + " < 0",
    "correlated subqueries": f"{ROWS.format(3000)} SELECT count(*) FROM c a WHERE (SELECT count(*) FROM c b WHERE (SELECT"
                             " count(*) FROM c d WHERE a.n + b.n + d.n < 0)) < 0",
    "window over all": f"{ROWS.format(200000)} SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED"
                       " FOLLOWING EXCLUDE CURRENT ROW) FROM c",
    "full text of everything": "SELECT count(*) FROM " + ", ".join(f"f f{n}" for n in range(12)) + " WHERE "
                               + " AND ".join(f"f{n}.a MATCH 'words'" for n in range(12)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_statements_end_by_the_deadline(served, bystander, name):
    client = served.client()
    client.query("SET statement_timeout = '700ms'").check()
    for ask in ["query", "extended"]:
        sql = ENDLESS[name]
        client.send(wire.query(sql)) if ask == "query" else client.send(
            wire.parse(sql), wire.bind(), wire.execute(), wire.sync())
        if not sql.startswith("INSERT"):  # writers take turns
            bystander()
        reply = client.reply()
        assert reply.state == "57014" and "timeout" in reply.error["M"], reply.errors
    assert client.query("SELECT v FROM t WHERE id = 1").value == "x"


@pytest.mark.parametrize("name", [name for name in ENDLESS if "write" not in name])
def test_endless_statements_can_be_cancelled(served, bystander, name):
    client = served.client()
    client.query("SET statement_timeout = '20s'").check()
    client.send(wire.query(ENDLESS[name]))
    bystander()

    def is_cancelled():
        client.cancel()
        return client.has_reply()

    eventually(is_cancelled, "the cancel")
    assert "user request" in client.reply().error["M"]


# What ends by a limit; the states say which. None: it may succeed, and then has not hurt anybody.
GREEDY = {
    "zeroblob": ("SELECT zeroblob(1000000000)", {"22001", "54000"}),
    "zeroblob to the limit, often": ("SELECT " + ", ".join(["zeroblob(60000000)"] * 1000), {"53200"}),
    "randomblob": ("SELECT randomblob(2000000000)", {"22001", "54000"}),
    "randomblob to the limit, often": ("SELECT " + ", ".join(["randomblob(60000000)"] * 1000), {"53200"}),
    # What does not fit is NULL, says SQLite.
    "printf width": ("SELECT printf('%1000000000d', 1) IS NULL", {None}),
    "printf precision": ("SELECT printf('%.*c', 100000000, 'x') IS NULL", {None}),
    "printf of a real": ("SELECT length(printf('%.100000000f', 1e308))", {"22001", "54000", None}),
    "printf widths, many": ("SELECT " + ", ".join(["printf('%60000000s', 'x')"] * 500), {"53200", "22001"}),
    "format": ("SELECT format('%-2000000000s|', 'x') IS NULL", {None}),
    "hex growth": ("SELECT hex(hex(hex(zeroblob(20000000))))", {"22001", "54000", "53200"}),
    "replace growth": ("SELECT replace(hex(zeroblob(5000000)), '0', hex(zeroblob(1000)))", {"22001", "54000", "53200"}),
    "doubled string": ("WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM c) SELECT max(length(s)) FROM c",
                       {"22001", "54000", "53200"}),
    "group_concat": (f"{ROWS.format(100000)} SELECT group_concat(hex(zeroblob(1000))) FROM c", {"22001", "54000", "53200"}),
    "json_group_array": (f"{ROWS.format(3000)} SELECT json_group_array(hex(zeroblob(20000))) FROM c", {"22001", "54000", "53200"}),
    "json of many values": ("SELECT json_array_length('[' || replace(hex(zeroblob(15000000)), '0', '1,') || '1]')", {"53200"}),
    "json nested deeply": ("SELECT json_valid(replace(hex(zeroblob(500000)), '0', '['))", {"22P02", None}),
    "json nested and closed": ("SELECT json(replace(hex(zeroblob(3000)), '0', '[') || replace(hex(zeroblob(3000)), '0', ']'))",
                               {"22P02", None}),
    "json path": ("SELECT json_extract('{}', '$' || replace(hex(zeroblob(100000)), '0', '.a'))", {None, "22P02", "42000"}),
    "LIKE pattern": ("SELECT 'aaaa' LIKE '" + "%a" * 300 + "'", {"54000"}),
    "LIKE pattern, computed": ("SELECT hex(zeroblob(100)) LIKE replace(hex(zeroblob(50000)), '0', '%0')", {"54000"}),
    "GLOB pattern": ("SELECT 'aaaa' GLOB '" + "*a" * 300 + "'", {"54000"}),
    "LIKE backtracking": ("SELECT replace(hex(zeroblob(50000)), '0', 'a') LIKE '" + "%a" * 200 + "b'", {None}),
    "GLOB sets": ("SELECT replace(hex(zeroblob(50000)), '0', 'a') GLOB '" + "*[a-z]" * 60 + "B'", {None}),
    "REGEXP": ("SELECT 'aaaa' REGEXP '(a+)+$'", {"42883"}),
    "MATCH without an index": ("SELECT 'a' MATCH 'b'", {"42883", "42000"}),
    "deep parentheses": ("SELECT " + "(" * 5000 + "1" + ")" * 5000, {"54001", "42601"}),
    "deep operators": ("SELECT " + "+".join(["1"] * 5000), {"54001"}),
    "deep NOT": ("SELECT " + "NOT " * 5000 + "1", {"54001", "42601"}),
    "deep subqueries": ("SELECT " + "(SELECT " * 300 + "1" + ")" * 300, {"54001", "42601", None}),
    "deep CASE": ("SELECT " + "CASE WHEN 1 THEN " * 2000 + "1" + " END" * 2000, {"54001", "42601"}),
    "deep functions": ("SELECT " + "abs(" * 3000 + "1" + ")" * 3000, {"54001", "42601"}),
    "doubling joins": (f"WITH c0 AS (SELECT 1 x), {DOUBLING} SELECT * FROM c31", {"53200"}),
    "doubling unions": (f"WITH c0 AS (SELECT 1 x), {UNIONS} SELECT * FROM c31", {"53200", "54000"}),
    "IN with many terms": ("SELECT 1 IN (" + ",".join(["1"] * 300_000) + ")", {None, "53200"}),
    "many unions": ("SELECT 1" + " UNION ALL SELECT 1" * 2000, {"54000"}),
    "many columns": ("SELECT " + ",".join(["1"] * 5000), {"54000"}),
    "many columns, allowed": ("SELECT " + ",".join(["1"] * 2000), {None}),
    "many tables": ("SELECT 1 FROM " + ",".join(f"t t{n}" for n in range(100)), {"54000"}),
    "many arguments": ("SELECT max(" + ",".join(["1"] * 1000) + ")", {"54000"}),
    "many bound values": ("SELECT ?70000", {"54000", "42P02", "42000", "42601"}),
    "a long statement": ("SELECT '" + "x" * (2 << 20) + "'", {"54000", "22001"}),
    "values in order": (f"{ROWS.format(400)} SELECT hex(zeroblob(500000)) || n AS x FROM c ORDER BY x LIMIT 1", {None, "53200"}),
    "distinct values": (f"{ROWS.format(300)} SELECT count(DISTINCT hex(zeroblob(200000)) || n) FROM c", {None, "53200"}),
    "FTS5 deep query": ("SELECT * FROM f('" + "(" * 3000 + "a" + ")" * 3000 + "')", {"42000", "42601", "54001", "53200", "XX000"}),
    "FTS5 many terms": ("SELECT count(*) FROM f('" + " OR ".join(f"a{n}*" for n in range(20_000)) + "')",
                        {None, "42000", "42601", "53200", "57014"}),
    "FTS5 NOT chain": ("SELECT count(*) FROM f('" + " NOT ".join(["words"] * 5000) + "')", {None, "42000", "42601", "53200"}),
    "FTS5 phrase": ("SELECT count(*) FROM f('\"" + "words " * 50_000 + "\"')", {None, "42000", "53200", "57014"}),
    "FTS5 NEAR": ("SELECT count(*) FROM f('NEAR(" + "words " * 5000 + ", 1000000)')", {None, "42000", "53200", "57014"}),
    "FTS4 deep query": ("SELECT count(*) FROM f4 WHERE f4 MATCH '" + "(" * 2000 + "a" + ")" * 2000 + "'", {None, "42000", "42601"}),
    "FTS4 many terms": ("SELECT count(*) FROM f4 WHERE f4 MATCH '" + " OR ".join(["some"] * 5000) + "'", {None, "42000", "42601"}),
    "a row larger than a value may be": ("INSERT INTO t (v) SELECT hex(zeroblob(40000000))", {"22001", "54000", "53200"}),
    "large numbers": ("SELECT sum(9223372036854775807) FROM (SELECT 1 UNION ALL SELECT 2)", {"22003", "42000"}),
    "substr beyond everything": ("SELECT substr('x', -9223372036854775808, 9223372036854775807)", {None}),
    "strftime": ("SELECT strftime(replace(hex(zeroblob(100000)), '0', '%f'), 9e999)", {None, "22001"}),
    "char of everything": ("SELECT char(" + ",".join(["1114111"] * 127) + ")", {None}),
    "quote of a large value": ("SELECT length(quote(zeroblob(60000000)))", {"22001", "54000", "53200"}),
}


@pytest.mark.parametrize("name", GREEDY)
def test_greedy_statements_end_by_a_limit(served, bystander, name):
    sql, states = GREEDY[name]
    client = served.client()
    client.query("SET statement_timeout = '10s'").check()
    for begin in ["", "BEGIN"]:
        if begin:
            client.query(begin).check()
        client.send(wire.query(sql))
        bystander()
        reply = client.reply()
        assert not reply.closed and reply.state in states, (reply.state, reply.errors)
        if reply.state == "53200":
            assert "memory_limit" in reply.error["H"]
        client.query("ROLLBACK")
        assert client.query("SELECT v FROM t WHERE id = 1").value == "x"
    assert served.memory("VmHWM") < RESIDENT_LIMIT


def test_results_that_are_kept_open_share_one_limit(served, bystander):
    """Each within its own limit, and together beyond all."""
    hoarders = [served.client() for _ in range(3)]
    for client in hoarders:
        client.query("BEGIN READ ONLY").check()
    kept, refused = 0, 0
    for round in range(20):
        for client in hoarders:
            if client is None:
                continue
            reply = client.ask(wire.parse("SELECT randomblob(6000000) AS x FROM (SELECT 1 UNION ALL SELECT 2)"),
                               wire.bind(portal=f"p{round}"), wire.execute(f"p{round}", 1))
            if reply.errors:
                assert reply.state == "53200", reply.errors
                refused += 1
                client.query("ROLLBACK").check()
                client.query("BEGIN READ ONLY").check()
            else:
                kept += 1
        bystander()
    assert kept >= 3 and refused
    assert served.memory("VmHWM") < RESIDENT_LIMIT


def test_memory_is_given_back(served, bystander):
    client = served.client()
    for _ in range(30):
        assert client.query("SELECT length(randomblob(20000000))").value == "20000000"
    bystander()


def test_one_long_call_keeps_nobody_waiting(served, bystander):
    """Nothing interrupts a function of SQLite: its client waits, the others do not."""
    clients = [served.client() for _ in range(2)]
    for client in clients:
        client.send(wire.query("SELECT length(ltrim(replace(hex(zeroblob(20000)), '00', 'a'), replace(hex(zeroblob(20000)), '00', "
                               "'b') || 'a'))"))
    bystander()
    for client in clients:
        assert client.reply().value == "0"


def test_foreign_schemas_of_a_client_hurt_nobody_else(served, bystander):
    """Triggers, views and generated columns that explode when they are used."""
    client = served.client()
    client.query("SET statement_timeout = '1s'").check()
    for create, use, states in [
        ("CREATE TABLE bomb (x); CREATE TRIGGER bomb1 AFTER INSERT ON bomb BEGIN INSERT INTO bomb SELECT x FROM bomb; END",
         "INSERT INTO bomb VALUES (1)", {None}),
        ("CREATE TABLE bomb (x, y AS (hex(zeroblob(x))))", "INSERT INTO bomb VALUES (40000000); SELECT y FROM bomb", {"22001", "54000", "53200"}),
        ("CREATE VIEW bomb AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c",
         "SELECT count(*) FROM bomb", {"57014"}),
        ("CREATE TABLE bomb (x CHECK (length(hex(zeroblob(x))) > 0))", "INSERT INTO bomb VALUES (60000000)", {"22001", "54000", "53200"}),
        ("CREATE TABLE bomb (x DEFAULT (hex(zeroblob(60000000))))", "INSERT INTO bomb DEFAULT VALUES", {"22001", "54000", "53200"}),
        ("CREATE TABLE bomb (x); CREATE INDEX bomb1 ON bomb (printf('%60000000d', x))", "INSERT INTO bomb VALUES (1)",
         {"22001", "54000", "53200", None}),
    ]:
        for statement in create.split("; CREATE"):
            client.query(statement if statement.startswith("CREATE") else "CREATE" + statement).check()
        assert client.query(use).state in states, use
        bystander()
        client.query("DROP TABLE IF EXISTS bomb" if "TABLE" in create else "DROP VIEW bomb").check()


# What went wrong in other servers

def refused(reply):
    return reply.closed and reply.errors and reply.errors[0]["S"] == "FATAL"


def encryption_requests_alternate(daemon):
    client = daemon.raw()
    for code in [wire.SSL_REQUEST, wire.GSSENC_REQUEST]:
        client.send(wire.packet(code))
        assert client.receive_bytes(1) == b"N"
    try:
        client.send(*[wire.packet(wire.SSL_REQUEST), wire.packet(wire.GSSENC_REQUEST)] * 5000)
    except OSError:
        pass
    assert client.rest().count(b"N\0") <= 1  # no further N; what is there is the error's


def encryption_after_the_startup(daemon):
    for code in [wire.SSL_REQUEST, wire.GSSENC_REQUEST]:
        client = daemon.client()
        client.send(wire.packet(code))
        assert refused(client.reply())


def bytes_behind_an_encryption_request(daemon):
    # Answered N, the rest is the cleartext startup it is; never SQL.
    client = daemon.raw()
    client.send(wire.packet(wire.SSL_REQUEST), wire.query("DROP TABLE t"))
    assert client.receive_bytes(1) == b"N"
    assert refused(client.reply())


def password_lengths(daemon):
    for length in [0, 1, 3, 5, 6, -1, 0x7FFFFFFF, -0x80000000]:
        for before in [b"", wire.startup({"user": "x", "database": daemon.name})]:
            client = daemon.raw()
            client.send(before, b"p" + struct.pack("!i", length) + b"x\0")
            client.half_close()
            client.rest()


def every_error_has_its_fields(daemon):
    client = daemon.client()
    for reply in [client.query("x"), client.query("SELECT nothing"), client.ask(wire.bind(statement="none")),
                  client.query("ROLLBACK TO x"), daemon.raw().start(database="none"), daemon.raw().start(version=2 << 16)]:
        for fields in reply.errors:
            assert {"S", "V", "C", "M"} <= fields.keys() and len(fields["C"]) == 5
        assert reply.errors


def console_commands_need_an_admin(daemon):
    """In test_access.py for every role; here: the database's session knows no command of the console."""
    client = daemon.client()
    for sql in ["CHECKPOINT", "SHUTDOWN", "KILL 1", "RELOAD", "PAUSE", "SHOW CLIENTS", "BACKUP TO 'x'"]:
        assert client.query(sql).state in ("42601", "42704", "42000"), sql


def startup_parameters_are_no_sql(daemon):
    for name in ["search_path", "application_name", "TimeZone", "a.b"]:
        client = daemon.raw()
        reply = client.start(database=daemon.name, **{name: "x'; DROP TABLE t; --"})
        assert not reply.errors and client.query("SELECT count(*) FROM t").value == "1"
    assert refused(daemon.raw().start(database=daemon.name, options="-cx=1"))


def no_password_is_ever_asked(daemon):
    reply = daemon.raw().start(database=daemon.name)
    assert reply.of("R")[0].body == struct.pack("!i", 0) and len(reply.of("R")) == 1
    client = daemon.client()
    client.send(wire.message("p", b"expired\0"))
    assert refused(client.reply())


def an_unknown_user_is_nobody(daemon):
    if os.getuid():
        pytest.skip("needs to become another user")
    os.chmod(daemon.socket_path, 0o666)
    try:
        for name in ["root", "tester", "walpool", "pgbouncer", ""]:
            for database in [daemon.name, "walpool", "none"]:
                reply = client_as(daemon, 70_001).start(user=name, database=database)
                assert refused(reply) and reply.state in ("28000", "08P01")
    finally:
        os.chmod(daemon.socket_path, 0o660)


def long_and_odd_names(daemon):
    for name in ["", "x", "x" * 63, "x" * 64, "x" * 255, "x" * 4900, "x" * 9_900, "../../etc/passwd", "/etc/passwd", "-h", "..",
                 "%s%n", "a\nb", "ü"]:
        for parameters in [{"database": name, "user": "x"}, {"user": name, "database": daemon.name}, {"user": name}]:
            daemon.raw().start(**parameters)
    client = daemon.raw()
    client.send(wire.packet(wire.PROTOCOL_3_0, b"user\0\xff\xfe\0database\0\xff\0\0"))
    client.half_close()
    client.rest()
    assert not list(daemon.directory.parent.glob("passwd*"))


def messages_before_the_startup(daemon):
    for first in range(256):
        client = daemon.raw()
        client.send(bytes([first]) + struct.pack("!i", 4))
        client.half_close()
        client.rest()


def pipelines_out_of_order(daemon):
    client = daemon.client()
    for _ in range(200):
        reply = client.ask(wire.parse("SELECT 1", name="a"), wire.close_statement("a"), wire.bind(statement="a"),
                           wire.execute(), wire.close_portal("none"), wire.describe_portal())
        assert reply.state == "26000" and reply.status == "I"
        reply = client.ask(wire.execute("none"), wire.parse("x"), wire.bind(), wire.flush())
        assert reply.state == "34000"
    assert client.value("SELECT 1") == "1"


def an_error_in_half_a_message(daemon):
    # What follows inside the message looks like messages, and is none.
    inner = wire.query("DROP TABLE t") * 2000
    client = daemon.client()
    body = wire.bind([inner], statement="none")
    client.send(body[:1000])
    daemon.settle(client)
    client.send(body[1000:], wire.sync())
    reply = client.reply()
    assert reply.state == "26000" and reply.status == "I"
    assert client.value("SELECT count(*) FROM t") == "1"


def promised_lengths_allocate_nothing(daemon):
    before = daemon.memory()
    clients = [daemon.raw() for _ in range(100)]
    for client in clients:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        client.half_close()
        client.rest()
    clients = [daemon.client() for _ in range(50)]
    for client in clients:
        client.send(b"Q" + struct.pack("!i", 70_000_000) + b"SELECT")
    daemon.settle(*clients)
    assert daemon.memory() - before < 64 * MEBIBYTE
    for client in clients:
        client.close()


def negative_lengths(daemon):
    for size in [-2, -1000, -0x80000000]:
        client = daemon.client()
        client.send(wire.parse("SELECT $1"), wire.message("B", b"\0\0" + struct.pack("!HHi", 0, 1, size) + b"\0\0"), wire.sync())
        reply = client.reply()
        assert reply.state == "08P01", reply.errors


def lengths_that_would_wrap(daemon):
    """Rows of more than a gigabyte are refused while they are made: the memory limit is far below. How a length that does not
    fit is refused by itself is in OutputBufferTests.swift."""
    reply = daemon.client().query("SELECT " + ", ".join(["zeroblob(60000000)"] * 100))
    assert reply.state == "53200" and not reply.rows


def keys_are_compared_whole(daemon):
    """That it takes the same time is in the code (`hasCancelKey`); here: no part of a key will do."""
    client = daemon.client(version=3 << 16 | 2)
    assert len(client.key) == 32
    client.query("SET statement_timeout = '2s'").check()
    client.send(wire.query(ENDLESS["recursive CTE"]))
    for key in [client.key[:4], client.key[:31], client.key + b"x", bytes(32), client.key[:-1] + bytes([client.key[-1] ^ 1])]:
        client.cancel(key)
    assert "timeout" in client.reply().error["M"]


def refusals_are_alike(daemon):
    """A user that a rule rejects and one that no rule knows are told the same (test_access.py), and before authentication
    nobody learns which databases there are."""
    if os.getuid():
        pytest.skip("needs to become another user")
    os.chmod(daemon.socket_path, 0o666)
    try:
        replies = [client_as(daemon, 70_001).start(user="x", database=name) for name in (daemon.name, "none", "walpool")]
        assert len({tuple(sorted(reply.errors[0].items())) for reply in replies}) == 1
    finally:
        os.chmod(daemon.socket_path, 0o660)


def text_that_is_no_utf8(daemon):
    client = daemon.client()
    for text in [b"SELECT '\xff'", b"SELECT '\xc0\xa7; DROP TABLE t; --'", b"SELECT '\xe2\x28\xa1'", b"SELECT '\xed\xa0\x80'",
                 b"SELECT '\xf4\x90\x80\x80'", b"SELECT '\xc2"]:
        assert client.query(text).state == "22021"
        assert client.ask(wire.parse(text)).state == "22021"
        assert client.ask(wire.parse("SELECT 1", name=b"\xff")).state == "22021"
        assert client.ask(wire.parse("SELECT $1", types=[wire.TEXT]), wire.bind([text[8:]]), wire.execute()).state == "22021"
    assert client.value("SELECT count(*) FROM t") == "1"


def errors_before_the_startup_say_little(daemon):
    """It is clients that trusted such errors; ours have one message, with nothing of the server's but what it was sent."""
    for hello in [b"\0\0\0\x08\0\0\0\0", b"\0\0\0\x09\0\x03\0\0\0", wire.packet(2 << 16)]:
        client = daemon.raw()
        client.send(hello)
        client.half_close()
        rest = client.rest()
        assert len(rest) < 500 and str(daemon.directory).encode() not in rest


CVES = {
    "CVE-2026-6479": encryption_requests_alternate,
    "CVE-2026-14681": encryption_after_the_startup,
    "CVE-2021-23214, CVE-2021-3935": bytes_behind_an_encryption_request,
    "CVE-2026-6664": password_lengths,
    "CVE-2026-6666": every_error_has_its_fields,
    "CVE-2026-6667": console_commands_need_an_admin,
    "CVE-2025-12819": startup_parameters_are_no_sql,
    "CVE-2025-2291": no_password_is_ever_asked,
    "CVE-2015-6817": an_unknown_user_is_nobody,
    "CVE-2012-4575, CVE-2013-1899": long_and_odd_names,
    "CVE-2015-4054": messages_before_the_startup,
    "PgBouncer's bad packets": pipelines_out_of_order,
    "CVE-2015-0244": an_error_in_half_a_message,
    "pggat issue 11": promised_lengths_allocate_nothing,
    "CVE-2026-4427": negative_lengths,
    "CVE-2024-27304": lengths_that_would_wrap,
    "CVE-2026-6478": keys_are_compared_whole,
    "CVE-2026-14672": refusals_are_alike,
    "CVE-2025-1094, CVE-2025-4207, CVE-2026-2006": text_that_is_no_utf8,
    "CVE-2024-10977": errors_before_the_startup_say_little,
}


@pytest.mark.parametrize("name", CVES)
def test_what_went_wrong_elsewhere(served, bystander, name):
    CVES[name](served)
