"""psql's backslash commands, word for word as golden/ has them, and its tab completion.

`UPDATE_GOLDEN=1 Tests/BlackBox/run test_catalog_psql.py` writes the files anew; then look at what changed.
"""

import os
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from daemon import eventually

GOLDEN = Path(__file__).parent / "golden"

COMMANDS = {
    "d": r"\d", "dt": r"\dt", "dv": r"\dv", "di": r"\di", "ds": r"\ds", "dn": r"\dn", "du": r"\du", "df": r"\df", "l": r"\l",
    "d_author": r"\d author", "d_book": r"\d book", "d_tag": r"\d tag", "d_odd_name": r'\d "Odd Name"',
    "d_view": r"\d cheap", "d_plus_view": r"\d+ cheap", "d_plus_book": r"\d+ book", "d_index": r"\d book_title",
    "d_index_of_expressions": r"\d book_expr", "d_primary_key": r"\d author_pkey", "d_pattern": r"\dt *oo*",
    "d_nothing": r"\d nosuch", "dt_plus": r"\dt+", "encoding": r"\encoding", "dp": r"\dp", "dx": r"\dx", "dT": r"\dT",
    "sv": r"\sv cheap", "dn_plus": r"\dn+", "db": r"\db", "dtvs": r"\dtvsi",
}


def psql(daemon, *arguments, **keywords):
    environment = {**os.environ, "PGOPTIONS": "", "LC_ALL": "C.UTF-8", "PAGER": "cat"}
    return subprocess.run(
        ["psql", "-X", "-h", str(daemon.directory), "-U", "reader", *arguments, daemon.name],
        capture_output=True, text=True, env=environment, timeout=60, **keywords)


@pytest.mark.parametrize("name", COMMANDS)
def test_backslash_command(library, name):
    result = psql(library, "-c", COMMANDS[name])
    output = result.stdout + result.stderr
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(output)
    assert output == path.read_text()
    assert "ERROR" not in output


@pytest.mark.parametrize("command", [r"\dconfig max*", r"\dconfig+ max_index_keys", r"\db+", r"\deu", r"\dAo"])
def test_what_there_is_little_of(library, command):
    result = psql(library, "-c", command)
    assert not result.stderr and result.returncode == 0
    assert "config" not in command or re.search(r"max_index_keys +\| 32", result.stdout)


def test_conninfo(library):
    output = psql(library, "-c", r"\conninfo").stdout
    assert 'database "library" as user "reader" via socket' in output


def test_catalog_follows_the_schema(library):
    psql(library, "-c", "CREATE TABLE later (a INTEGER PRIMARY KEY, b TEXT)")
    assert "later" in psql(library, "-c", r"\dt").stdout
    psql(library, "-c", "ALTER TABLE later ADD COLUMN c REAL")
    assert re.search(r"^ c +\| double precision", psql(library, "-c", r"\d later").stdout, re.M)
    psql(library, "-c", "DROP TABLE later")
    assert "later" not in psql(library, "-c", r"\dt").stdout


def test_catalog_in_a_transaction_sees_its_own_tables(library):
    script = "BEGIN; CREATE TABLE mine (a INTEGER);\n\\dt mine\nROLLBACK;\n\\dt mine\n"
    result = psql(library, "-At", input=script)
    assert "main|mine|table|reader" in result.stdout
    assert result.stderr.strip() == 'Did not find any relation named "mine".'


def test_the_file_is_not_touched(library):
    """The catalogs are tables, but not the database's."""
    asked = psql(library, "-c", r"\d+ book", "-c", r"\di", "-c", "SELECT table_name FROM information_schema.tables")
    assert asked.returncode == 0 and not asked.stderr and "book_title" in asked.stdout and "cheap" in asked.stdout
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    with closing(sqlite3.connect(":memory:")) as made, closing(sqlite3.connect(library.database)) as served:
        made.executescript((GOLDEN / "schema.sql").read_text())
        assert served.execute(schema).fetchall() == made.execute(schema).fetchall()


# What psql 15 asks when the tab key is pressed behind `SELECT * FROM b` and `UPDATE book SET t`.
TABLE_COMPLETION = """
SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND substring(pg_catalog.quote_ident(c.relname),1,1)='b'
AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION
SELECT pg_catalog.quote_ident(n.nspname) || '.' FROM pg_catalog.pg_namespace n
WHERE substring(pg_catalog.quote_ident(n.nspname) || '.',1,1)='b'
AND (SELECT pg_catalog.count(*) FROM pg_catalog.pg_namespace
WHERE substring(pg_catalog.quote_ident(nspname) || '.',1,1) = substring('b',1,pg_catalog.length(pg_catalog.quote_ident(nspname))+1)) > 1
UNION
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v')
AND substring(pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),1,1)='b'
LIMIT 1000"""
COLUMN_COMPLETION = """
SELECT pg_catalog.quote_ident(attname) FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c
WHERE c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
AND substring(pg_catalog.quote_ident(attname),1,1)='t'
AND (pg_catalog.quote_ident(relname)='book' OR '"' || relname || '"'='book') AND pg_catalog.pg_table_is_visible(c.oid)
LIMIT 1000"""


def test_tab_completion_queries(library):
    assert psql(library, "-At", "-c", TABLE_COMPLETION).stdout.split() == ["book"]
    assert psql(library, "-At", "-c", COLUMN_COMPLETION).stdout.split() == ["title"]


def test_tab_completion_in_psql_itself(library):
    """A terminal, and the tab key."""
    import pexpect

    child = pexpect.spawn(
        "psql", ["-X", "-h", str(library.directory), "-U", "reader", library.name], timeout=30, encoding="utf-8",
        env={**os.environ, "PAGER": "cat", "TERM": "dumb"})
    child.expect("library=[>#] ")
    child.send("SELECT count(*) FROM boo\t")
    child.expect("book")
    child.send("\x15\\q\n")
    child.expect(pexpect.EOF)


def test_gdesc(library):
    shown = psql(library, "-At", input="SELECT id, title, price * 2 AS \"twice\" FROM book \\gdesc\n")
    assert shown.stdout.splitlines() == ["id|bigint", "title|text", "twice|double precision"], shown.stderr


INFORMATION_SCHEMA = {
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1": [
        "Odd Name|BASE TABLE", "author|BASE TABLE", "book|BASE TABLE", "cheap|VIEW", "tag|BASE TABLE"],
    "SELECT column_name, data_type, is_nullable, character_maximum_length FROM information_schema.columns "
    "WHERE table_name = 'book' AND ordinal_position < 5 ORDER BY ordinal_position": [
        "id|bigint|NO|", "author_id|bigint|NO|", "title|character varying|NO|100", "price|numeric|YES|"],
    "SELECT constraint_name, column_name FROM information_schema.key_column_usage WHERE table_name = 'tag' ORDER BY 1, ordinal_position": [
        "tag_book_id_fkey|book_id", "tag_key|book_id", "tag_key|word"],
}


@pytest.mark.parametrize("sql", INFORMATION_SCHEMA)
def test_information_schema(library, sql):
    result = psql(library, "-At", "-c", sql)
    assert result.stdout.splitlines() == INFORMATION_SCHEMA[sql], result.stderr


NOT_UNDERSTOOD = [
    "SELECT * FROM pg_catalog.pg_class c, LATERAL (SELECT 1) x",
    "SELECT relname FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.@@) 'x'",
    "SELECT * FROM pg_catalog.pg_stat_replication",
    "SELECT pg_catalog.pg_no_such_function()",
    "SELECT relname::pg_catalog.tsvector FROM pg_catalog.pg_class",
]


@pytest.mark.parametrize("sql", NOT_UNDERSTOOD)
def test_what_is_not_understood_is_loud(library, sql):
    states = ("0A000", "42P01", "42883", "42703")
    with library.client() as client:
        error = client.query(sql).error
        assert error["C"] in states, error
    eventually(lambda: sql[:40] in library.errors, "the statement in the log")


def test_pg_dump_is_told_at_once(library):
    result = subprocess.run(
        ["pg_dump", "-h", str(library.directory), "-U", "reader", library.name], capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and "pg_dump does not work here" in result.stderr
    assert "BACKUP" in result.stderr


def test_pgbench_initialisation_says_how(library):
    result = subprocess.run(
        ["pgbench", "-i", "-h", str(library.directory), "-U", "reader", library.name], capture_output=True, text=True, timeout=60)
    assert result.returncode != 0 and "bench-data" in result.stderr
