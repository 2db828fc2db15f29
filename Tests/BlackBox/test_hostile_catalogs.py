"""Names, texts and numbers of clients in what the daemon itself makes of them for the catalogs, with which one client could hurt
all others."""

import re

import pytest

import wire

# To the eye and to Unicode one character with what follows it ("Prepend"), to SQLite two.
PREPEND = "\u0600"


@pytest.fixture
def client(daemon):
    daemon.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return daemon.client()


def answers(daemon):
    """The catalogs do, in a session of its own."""
    with daemon.client() as client:
        assert "t" in [name for name, in client.query("SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r'").check().texts]
        client.query("SELECT * FROM pg_catalog.pg_attrdef").check()
        client.query("SELECT * FROM pg_catalog.pg_attribute").check()


@pytest.mark.parametrize("mark", [PREPEND, "\u0301", "\u200d"])
def test_quotes_of_a_default_stay_in_it(daemon, client, tmp_path, mark):
    other = tmp_path / "other.db"
    attack = f"k{mark}'');COMMIT;ATTACH [{other}] AS a;CREATE TABLE a.pwned(x);BEGIN;--"
    for number in range(12):    # whatever the order of the columns is
        client.query(f"CREATE TABLE q{number} (a TEXT DEFAULT '{attack}', b TEXT DEFAULT '{mark}''')").check()
        answers(daemon)
    assert not other.exists()
    found = client.query("SELECT adbin FROM pg_catalog.pg_attrdef LIMIT 1").check().value
    assert "ATTACH" in found


@pytest.mark.parametrize("mark", [PREPEND, "\u0301"])
def test_quotes_of_names_stay_in_them(daemon, client, mark):
    for quote in "\"'":
        name = f"a{mark}{quote}b".replace('"', '""')
        client.query(f'CREATE TABLE "{name}" (id INTEGER PRIMARY KEY, "{name}" BOOLEAN)').check()
        client.query(f'INSERT INTO "{name}" ("{name}") VALUES (true)').check()
        client.query(f'CREATE INDEX "i{name}" ON "{name}" ("{name}")').check()
        client.send(wire.query(f'COPY "{name}" TO STDOUT'))
        assert [each.body for each in client.receive_until("Z") if each.kind == "d"] == [b"1\tt\n"]
        assert client.query(f'SELECT "{name}" FROM "{name}"').check().texts == [("t",)]
        answers(daemon)


# Each ended the daemon.
OVERFLOWS = {
    "the ends of a series": ("SELECT pg_series(-9223372036854775807, 9223372036854775807) FROM pg_catalog.pg_am", "22000"),
    "a series by the least": ("SELECT pg_series(-9223372036854775808, 9223372036854775807, -1) FROM pg_catalog.pg_am", None),
    "the least of numbers by -1": ("SELECT pg_series(0, -9223372036854775808, -1) FROM pg_catalog.pg_am", "22000"),
    "an element": ("SELECT pg_element('[1]', -9223372036854775808) FROM pg_catalog.pg_am", None),
    "an n-th": ("SELECT pg_nth('[1]', 9223372036854775807) FROM pg_catalog.pg_am", None),
    "a formatted type": ("SELECT format_type(1700, -9223372036854775808) FROM pg_catalog.pg_am", None),
    "a formatted length": ("SELECT format_type(1043, -9223372036854775808) FROM pg_catalog.pg_am", None),
    "a view's column": ("SELECT pg_get_indexdef(1, 9223372036854775807, 1) FROM pg_catalog.pg_am", None),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_sums_that_no_number_holds(daemon, client, name):
    sql, state = OVERFLOWS[name]
    reply = client.query(sql)
    assert (reply.state is None) == (state is None), reply.errors
    answers(daemon)


@pytest.mark.parametrize("declared", [
    "VARCHAR(9223372036854775807)", "VARCHAR(-9223372036854775808)", "NUMERIC(10,9223372036854775807)",
    "NUMERIC(-9223372036854775808,-9223372036854775808)", "NUMERIC(1000,-1000)", "CHAR(10485761)",
])
def test_a_length_that_no_type_has(daemon, client, declared):
    client.query(f"CREATE TABLE n (a {declared})").check()
    answers(daemon)
    client.query("SELECT pg_catalog.format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute").check()


@pytest.mark.optimised
def test_an_interval_of_too_many_years(daemon, client):
    for sign in ["", "-"]:
        value = f"{sign}999999999999y " * 770_000
        reply = client.extended("SELECT $1::interval", [value])
        assert reply.state == "22007", reply.errors
    answers(daemon)


@pytest.mark.parametrize("pattern", [
    "a" + "+" * 25, "(" * 12 + "a" + "+)" * 12, "a" + "+?" * 9, "a*" * 3 + "**", "(a+)" * 200,
    "[^^]" + "(" * 16 + "a" + "+)" * 16, "[[.].][]" + "(" * 16 + "a" + "+)" * 16, "[^^]a{30000}", "[^^]]?(a)\\1",
])
def test_patterns_that_would_grow_are_refused(daemon, client, pattern):
    assert client.query(f"SELECT 'x' ~ '{pattern}' FROM pg_catalog.pg_am").state == "54000"
    answers(daemon)


@pytest.mark.parametrize("pattern, found", [
    ("^(t)$", True), ("^(t.*)$", True), ("t+", True), (r"\+\+\+", False), ("^[^+]+$", True), ("^(pg_.+|t+)$", True), ("a?t?", True),
])
def test_patterns_that_people_write_are_not(client, pattern, found):
    names = client.query(f"SELECT relname FROM pg_catalog.pg_class WHERE relname ~ '{pattern}'").check().texts
    assert (("t",) in names) == found


LONG = {
    "arrays side by side": "SELECT count(*) FROM pg_am, unnest({})".format(", ".join(["1"] * 20_000)),
    "branches of branches": "SELECT CASE {} FROM pg_am".format("THEN " * 25_000),
    "elements of windows": "SELECT 1 FROM pg_am WHERE EXISTS (SELECT {})".format("over a[] " * 14_000),
    "CASE in CASE": "SELECT CASE {} FROM pg_am".format("THEN CASE " * 13_000),
}


@pytest.mark.parametrize("name", LONG)
def test_long_questions_take_no_time_of_their_square(daemon, client, name):
    """Each would take minutes, whatever the reply."""
    before = daemon.memory("VmHWM")
    client.query(LONG[name])
    assert client.value("SELECT 1") == "1"
    assert daemon.memory("VmHWM") - before < 200 << 20
    answers(daemon)


@pytest.mark.parametrize("begins, ends", [
    ("unnest(array(SELECT ", "))"), ("unnest((SELECT ", "))"), ("generate_series(1, (SELECT ", "))"), ("generate_subscripts((SELECT ", "), 1)"),
    ("x FROM generate_subscripts((SELECT ", "), 1) x")])
def test_sets_in_the_arguments_of_sets_are_not_doubled_again_and_again(daemon, client, begins, ends):
    """Each is asked for its number and for its values. 18 of them were half a second and 24 some gigabytes."""
    for depth in (8, 30):
        assert client.query("SELECT " + begins * depth + "1" + ends * depth + " FROM pg_class").errors
    answers(daemon)


def test_sets_in_the_arguments_of_sets(client):
    assert client.query("SELECT unnest(array(SELECT unnest(array(SELECT 7)))) FROM pg_class LIMIT 1").check().value == "7"


def test_questions_that_are_too_long(daemon, client):
    long = "SELECT relname FROM pg_class WHERE relname IN ({})"
    assert client.query(long.format(", ".join(f"'table{number}'" for number in range(8_000)))).check().texts == []
    reply = client.query(long.format(", ".join(f"'table{number}'" for number in range(12_000))))
    assert reply.state == "54000" and "131072" in reply.error["D"] and "ANY" in reply.error["H"]


@pytest.mark.parametrize("tables", [
    ["CREATE TABLE p ({})".format(", ".join(f"c{n} UNIQUE" for n in range(1000))),
     "CREATE TABLE c (a, {})".format(", ".join(["FOREIGN KEY (a) REFERENCES p (c999)"] * 10_000))],
    ["CREATE TABLE p ({}, {})".format(
        ", ".join(f"c{n}" for n in range(65)), ", ".join(f"UNIQUE (c{a}, c{b})" for a in range(65) for b in range(65) if a != b))]])
@pytest.mark.optimised("tables1")
def test_schemas_of_many_keys(daemon, client, tables):
    for sql in tables:
        client.query(sql).check()
    assert int(client.value("SELECT count(*) FROM pg_constraint")) > 0
    if len(tables) == 2:
        found = client.query("SELECT conname, confrelid::regclass, confkey FROM pg_constraint WHERE contype = 'f' ORDER BY oid").check().texts
        assert len({name for name, _, _ in found}) == 10_000 and {row[1:] for row in found} == {("p", "{1000}")}


@pytest.mark.optimised
def test_catalogs_of_a_large_schema_can_be_stopped(daemon, client):
    columns = ", ".join(f"c{n}" for n in range(1900))
    for number in range(30):
        client.query(f"CREATE TABLE t{number} ({columns})").check()
    client.query("SET statement_timeout = '50ms'").check()
    assert client.query("SELECT count(*) FROM pg_attribute").state == "57014"
    client.query("SET statement_timeout = 0").check()
    assert int(client.value("SELECT count(*) FROM pg_attribute WHERE attnum > 0")) >= 57_000


def test_aggregates_of_catalogs_stay_within_the_length_of_a_value(daemon, client):
    for sql in ["array_agg(repeat('x', 10000000))", "string_agg(repeat('x', 10000000), '' ORDER BY typname)"]:
        assert client.query(f"SELECT {sql} FROM pg_catalog.pg_type").state == "22001"
        assert daemon.memory() < 700 << 20
    answers(daemon)


@pytest.mark.optimised
def test_split_part_makes_nothing_that_it_does_not_give(daemon, client):
    before = daemon.memory()
    assert client.value("SELECT split_part(repeat(',', 30000000), ',', 1)") == ""
    assert client.value("SELECT split_part(repeat(',', 30000000) || 'x', ',', -1)") == "x"
    assert daemon.memory("VmHWM") - before < 400 << 20
    assert [client.value(f"SELECT split_part('a::b::c', '::', {n})") for n in (1, 2, 3, 4, -1, -2, -3, -4)] == [
        "a", "b", "c", "", "c", "b", "a", ""]
    assert client.value("SELECT split_part('abc', '', 1)") == "abc" and client.value("SELECT split_part('abc', '', 2)") == ""
    assert client.value("SELECT split_part('aaa', 'aa', 2)") == "a" and client.value("SELECT split_part('', ',', -1)") == ""


def test_like_takes_a_backslash_for_an_escape(client):
    client.query("CREATE TABLE my_table (a); CREATE TABLE mystable (a)").check()
    ask = "SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r' AND relname {} ORDER BY 1"
    assert client.query(ask.format(r"LIKE 'my\_t%'")).check().texts == [("my_table",)]
    assert client.query(ask.format("LIKE 'my_t%'")).check().texts == [("my_table",), ("mystable",)]
    assert client.query(ask.format(r"~~ 'my\_%'")).check().texts == [("my_table",)]
    assert client.query(ask.format("LIKE 'MY%'")).check().texts == []
    assert client.query(ask.format(r"NOT LIKE 'my\_t%'")).check().texts == [("mystable",), ("t",)]
    assert client.query(ask.format("LIKE 'my#_t%' ESCAPE '#'")).check().texts == [("my_table",)]


def test_a_long_decimal_of_no_column_is_a_number(client):
    for text in ["0.3333333333333333333333333333", "0.10000000000000000000"]:
        assert client.extended("SELECT 10.0 / 3 > $1::numeric", [text]).check().value == "t"
        assert client.extended("SELECT $1::numeric < 10.0 / 3", [text]).check().value == "t"


def test_a_literal_of_execute_is_what_its_place_makes_of_it(client):
    client.query("CREATE TABLE f (flag BOOLEAN, data BLOB, v TEXT)").check()
    client.query("PREPARE p AS INSERT INTO f VALUES ($1, $2, $3); EXECUTE p('t', '\\x00ff', 't')").check()
    assert client.query("SELECT flag, data, v, typeof(flag), typeof(data) FROM f").check().texts == [
        ("t", "\\x00ff", "t", "integer", "blob")]


@pytest.mark.parametrize("name", ["user_version", "application_id"])
def test_nothing_is_kept_in_the_temporary_schema(daemon, client, name):
    for sql in [f"PRAGMA temp.{name} = 7", f"PRAGMA TEMP.{name}(7)", f'PRAGMA "temp".{name} = 7']:
        assert client.query(sql).state == "42501"
    with daemon.client() as other:
        other.query("BEGIN IMMEDIATE").check()
        assert other.value(f"PRAGMA temp.{name}") == "0"
    client.query(f"PRAGMA main.{name} = 7").check()


@pytest.mark.parametrize("sql", [
    "SELECT repeat('ab', 5000) ~ '(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)c' FROM pg_catalog.pg_am",
    "SELECT repeat('a', 1000000) LIKE repeat('%a', 400) || 'b' FROM pg_catalog.pg_am",
    "SELECT repeat('a', 1000000) ILIKE repeat('%a', 400) || 'b' FROM pg_catalog.pg_am",
])
def test_matches_that_would_take_long_are_refused(daemon, client, sql):
    assert client.query(sql).state == "54000"
    answers(daemon)


def test_the_temporary_schema_can_be_asked(client):
    joined = "SELECT l.name, i.name FROM pragma_table_list l, pragma_table_info(l.name, l.schema) i"
    assert ("t", "v") in client.query(joined).check().texts


@pytest.mark.parametrize("sql", ["SELECT $1", "SELECT $1::numeric", "SELECT 10.0 / 3 > $1::numeric"])
def test_a_decimal_that_no_double_holds(client, sql):
    assert client.extended(sql, ["1e400"], types=[1700]).state == "22003"
    assert client.extended(sql, ["1e"], types=[1700]).state == "22P02"


QUESTIONS = [
    "SELECT array_agg(a.attname ORDER BY a.attnum ASC), string_agg(a.attname, ',' ORDER BY a.attnum) FROM pg_attribute a",
    "SELECT c.relname, (c.oid)::regclass::text, ARRAY[1, 2][1] FROM pg_catalog.pg_class c WHERE c.relkind = ANY (ARRAY['r'::\"char\", 'v'])"
    " AND c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default ORDER BY 1",
    "SELECT CASE WHEN a.attnotnull THEN trim(both ' ' from a.attname) ELSE substring(a.attname from 1 for 2) END, position('a' in a.attname)"
    " FROM pg_attribute a WHERE NOT a.attnum <> ALL ('{1,2}'::int2[]) LIMIT 3",
    "SELECT unnest(i.indkey), generate_series(1, 2) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid",
    "SELECT extract(epoch from interval '1 day'), CAST($1 AS oid), coalesce(n.nspname::text, 'x') FROM pg_namespace n",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_questions_that_are_not_complete(daemon, client, sql):
    """Each word left out, each said twice, and the text ending behind each: an answer or an error, and the daemon is there."""
    words = re.findall(r"'[^']*'|\w+|::|[^\s\w]", sql)
    for index in range(len(words)):
        for changed in [words[:index] + words[index + 1:], words[:index + 1] + words[index:], words[:index + 1]]:
            reply = client.query(" ".join(changed))
            assert not reply.closed and reply.status == "I", changed
            client.extended(" ".join(changed))
    answers(daemon)


@pytest.mark.parametrize("sql", [
    "SELECT array_agg(relname order) FROM pg_class", "SELECT string_agg(order) FROM pg_class",
    "SELECT array_agg(relname order by) FROM pg_class", "SELECT array_agg(relname order relname, oid) FROM pg_class"])
def test_an_order_without_a_key(daemon, client, sql):
    assert client.query(sql).state == "0A000"
    answers(daemon)


def test_many_checks_without_names(daemon, client):
    """Each was compared with all before it: 20,000 kept a reader for 17 seconds, and nothing stopped it."""
    count = 20_000
    client.query(f"CREATE TABLE checked (a, {', '.join(['CHECK (1)'] * count)})").check()
    client.query("SET statement_timeout = '60s'").check()
    names = [name for name, in client.query("SELECT conname FROM pg_catalog.pg_constraint WHERE contype = 'c'").check().texts]
    assert len(set(names)) == len(names) == count
    assert {"checked_check", "checked_check1", f"checked_check{count - 1}"} <= set(names)


# Two ways to write "é" in Unicode.
COMPOSED, APART = "\u00e9", "e\u0301"


def test_names_that_differ_in_composition_only(daemon, client):
    """SQLite has two tables, and Swift's strings are equal: the places of the one's columns were looked up in the other."""
    client.query(f'CREATE TABLE "{APART}" (z PRIMARY KEY); CREATE TABLE "{COMPOSED}" (x, y, z PRIMARY KEY, "{APART}", "{COMPOSED}")').check()
    client.query(f'CREATE INDEX "i{APART}" ON "{APART}" (z); CREATE INDEX "i{COMPOSED}" ON "{COMPOSED}" (z, x)').check()
    client.query(f'CREATE TABLE r (a REFERENCES "{APART}", b REFERENCES "{COMPOSED}" (z))').check()
    answers(daemon)
    columns = "SELECT attname FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relname = $1 AND attnum > 0 ORDER BY attnum"
    for table, found in [(APART, ["z"]), (COMPOSED, ["x", "y", "z", APART, COMPOSED]), ("i" + APART, ["z"]), ("i" + COMPOSED, ["z", "x"])]:
        assert [name for name, in client.extended(columns, [table]).check().texts] == found
    oids = client.query("SELECT oid, relname FROM pg_class WHERE relkind IN ('r', 'i') AND oid >= 16384").check().texts
    assert len({oid for oid, _ in oids}) == len(oids)
    keys = client.query("SELECT confrelid::regclass FROM pg_constraint WHERE contype = 'f' ORDER BY conkey").check().texts
    assert {name.strip('"') for name, in keys} == {APART, COMPOSED}
    client.query(f'CREATE TABLE s ("{COMPOSED}" INTEGER PRIMARY KEY, "{APART}" TEXT)').check()
    sequence = "SELECT pg_get_serial_sequence('s', $1) FROM pg_am LIMIT 1"
    assert [client.extended(sequence, [name]).check().texts[0][0] is None for name in (COMPOSED, APART)] == [False, True]
    # Where a column stands in its table.
    described = client.extended(f'SELECT "{COMPOSED}", "{APART}" FROM "{COMPOSED}"').check().of("T")[0].columns
    assert [column.attribute for column in described] == [5, 4]


def test_names_that_are_no_text(start_daemon, tmp_path):
    """Only another program makes these. To the catalogs they are repaired, and then alike."""
    import sqlite3
    database = tmp_path / "foreign.db"
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE aXX (x, y, z PRIMARY KEY)")
        other.execute("CREATE TABLE aYY (z PRIMARY KEY)")
        other.execute("CREATE TABLE t (a)")
        other.execute("PRAGMA writable_schema = ON")
        for old, new in [("XX", "FF"), ("YY", "FE")]:
            for column in ("name", "tbl_name", "sql"):
                other.execute(f"UPDATE sqlite_schema SET {column} = CAST(replace(CAST({column} AS BLOB), ?, x'{new}') AS TEXT) "
                              f"WHERE {column} LIKE ?", [old.encode(), f"%{old}%"])
    other.close()
    daemon = start_daemon(database)
    client = daemon.client()
    answers(daemon)
    names = [name for name, in client.query("SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r' ORDER BY 1").check().texts]
    assert names == ["a\ufffd", "a\ufffd", "t"]


def test_a_trigger_of_a_table_with_a_quote_in_its_name(daemon, client):
    client.query('CREATE TABLE "q""t" (a); CREATE TRIGGER g AFTER INSERT ON "q""t" BEGIN SELECT 1; END').check()
    assert client.query("SELECT relname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid WHERE tgname = 'g'").check().texts == [('q"t',)]
