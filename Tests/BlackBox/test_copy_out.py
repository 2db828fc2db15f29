"""What COPY TO writes is read back as the same values: what ends a value is quoted or escaped in it."""

import psycopg
import pytest


@pytest.fixture
def connection(shared):
    shared.run("DROP TABLE IF EXISTS truth", "CREATE TABLE truth (f BOOLEAN)", "INSERT INTO truth VALUES (1)")
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester") as connection:
        yield connection


def copied(connection, select, options):
    with connection.cursor().copy(f"COPY ({select}) TO STDOUT {options}") as copy:
        return b"".join(copy).decode()


def test_csv_out_quotes_what_needs_it(connection):
    for value, line in [("a", "a"), ("", '""'), (None, ""), ("a,b", '"a,b"'), ('"', '""""'), ("\n", '"\n"'), ("\r", '"\r"'),
                        ("\\.", '"\\."'), ("\\.x", "\\.x"), (" a ", " a ")]:
        select = "SELECT NULL" if value is None else f"SELECT '{value}'"
        assert copied(connection, select, "CSV") == line + "\n"


@pytest.mark.parametrize("select, options, line", [
    ("SELECT 1, -3, 1.5, NULL", "(DELIMITER '-')", "1-\\-3-1.5-\\N"), ("SELECT 1, NULL, 10", "(FORMAT csv, NULL '1')", '"1",1,10'),
    ("SELECT 1.5, 2", "(FORMAT csv, DELIMITER '.')", '"1.5".2'), ("SELECT 1e300, 9e999", "(FORMAT csv, DELIMITER '+')", '"1e+300"+Infinity'),
    ("SELECT 11, -1, 2", "(FORMAT csv, QUOTE '1')", "111111,1-111,2"), ("SELECT x'ab', 2", "(FORMAT csv, DELIMITER 'a')", '"\\xab"a2'),
    ("SELECT x'', NULL", "(FORMAT csv, NULL '\\x')", '"\\x",\\x'), ("SELECT x'', -1", "(DELIMITER '-')", "\\\\x-\\-1"),
    ("SELECT f, 'f', NULL FROM truth", "(FORMAT csv, NULL 't')", '"t",f,t'), ("SELECT -3, 'a'", "(FORMAT csv, DELIMITER '-', FORCE_QUOTE *)", '"-3"-"a"'),
    ("SELECT 1, NULL, x'00'", "(FORMAT csv, NULL 'NULL')", "1,NULL,\\x00"),
    ("SELECT x'00ff', 1, f FROM truth", "(FORMAT csv, FORCE_QUOTE *, ESCAPE '\\')", '"\\\\x00ff","1","t"'), ("SELECT x'00ff'", "(FORMAT csv, ESCAPE '\\')", "\\x00ff"),
    ("SELECT 1.5", "(FORMAT csv, FORCE_QUOTE *, ESCAPE '.')", '"1..5"')])
def test_what_stands_in_a_number(connection, select, options, line):
    assert copied(connection, select, options) == line + "\n"


@pytest.mark.parametrize("names", ["nosuch", "a, nosuch", "A, nosuch"])
def test_a_forced_column_that_the_query_does_not_have(connection, names):
    with pytest.raises(psycopg.errors.UndefinedColumn, match="nosuch"):
        copied(connection, "SELECT 1 AS a", f"(FORMAT csv, FORCE_QUOTE ({names}))")
    connection.rollback()
    assert copied(connection, "SELECT 1 AS a, 2 AS b", "(FORMAT csv, FORCE_QUOTE (A))") == '"1",2\n'


@pytest.mark.parametrize("names", ["a, a", "a, b, A", '"a", a', "b, b, nosuch"])
@pytest.mark.parametrize("source", ["(SELECT f AS a, f AS b FROM truth)", "named"])
def test_a_forced_column_is_named_once(connection, source, names):
    connection.execute("CREATE TABLE named (a, b)")
    for sql in [f"COPY {source} TO STDOUT (FORMAT csv, FORCE_QUOTE ({names}))", f"COPY named FROM STDIN (FORMAT csv, FORCE_NULL ({names}))"]:
        with pytest.raises(psycopg.errors.DuplicateColumn, match="specified more than once"), connection.transaction():
            with connection.cursor().copy(sql):
                pass
    connection.rollback()
