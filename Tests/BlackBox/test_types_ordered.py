"""What rows are ordered by, grouped by, and taken from others by: a parameter there is what it is compared with, from row to row."""

import pytest

from types_fixtures import client, parameter_types  # noqa: F401 (fixtures)
from wire import BOOL, FLOAT8, INT8, TEXT

TABLE = """
    DROP TABLE IF EXISTS t;
    CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, r REAL, s TEXT, f BOOLEAN, u);
    INSERT INTO t VALUES (1, 3, 1.5, 'x', 1, 5), (2, NULL, 2.5, 'y', 0, '5'), (3, 10, NULL, '5', 1, NULL), (4, 7, 0.5, NULL, NULL, 5.5)
"""


@pytest.fixture
def db(shared):
    shared.run(*TABLE.split(";"))
    return shared


# With a value for each parameter, as it is written in SQL.
ROWS = [
    ("SELECT id FROM t ORDER BY coalesce(a, $1)", [INT8], ["5"]), ("SELECT id FROM t ORDER BY coalesce(a, $1) DESC LIMIT 2", [INT8], ["5"]),
    ("SELECT id FROM t ORDER BY CASE WHEN id = 2 THEN $1 ELSE a END", [INT8], ["5"]), ("SELECT id FROM t ORDER BY iif(id = 2, $1, a), s", [INT8], ["5"]),
    ("SELECT id FROM t ORDER BY coalesce(r, $1)", [FLOAT8], ["1.75"]), ("SELECT id FROM t ORDER BY coalesce(s, $1), id", [TEXT], ["'x'"]),
    ("SELECT id FROM (SELECT id FROM t ORDER BY coalesce(a, $1) LIMIT 1)", [INT8], ["5"]),
    ("SELECT id FROM t ORDER BY (SELECT coalesce(a, $1) FROM t o WHERE o.id = t.id)", [INT8], ["5"]),
    ("SELECT coalesce(a, $1), count(*) FROM t GROUP BY coalesce(a, $2)", [INT8, INT8], ["7", "7"]),
    ("SELECT count(*) FROM t GROUP BY ifnull(r, $1)", [FLOAT8], ["0.5"]), ("SELECT count(*) FROM t GROUP BY coalesce(f, $1) ORDER BY 1", [BOOL], ["true"]),
    ("SELECT id, rank() OVER (ORDER BY coalesce(a, $1)) FROM t ORDER BY id", [INT8], ["7"]),
    ("SELECT id, count(*) OVER (PARTITION BY coalesce(a, $1)) FROM t ORDER BY id", [INT8], ["7"]),
    ("SELECT first_value(id) OVER (ORDER BY coalesce(a, $1)) FROM t LIMIT 1", [INT8], ["0"]),
    ("SELECT DISTINCT coalesce(a, $1) FROM t ORDER BY 1", [INT8], ["7"]),
    ("SELECT id FROM t EXCEPT SELECT $1", [INT8], ["2"]), ("SELECT id FROM t EXCEPT SELECT $1 ORDER BY 1", [INT8], ["2"]),
    ("SELECT id FROM t EXCEPT VALUES ($1), ($2)", [INT8, INT8], ["2", "4"]), ("SELECT a, s FROM t EXCEPT SELECT $1, $2", [INT8, TEXT], ["3", "'x'"]),
    ("SELECT a FROM t INTERSECT SELECT $1 ORDER BY 1", [INT8], ["7"]), ("SELECT a FROM t UNION SELECT $1 ORDER BY 1", [INT8], ["7"]),
    ("WITH d AS (SELECT $1 AS k) SELECT id FROM t WHERE id IN (SELECT id FROM t EXCEPT SELECT k FROM d)", [INT8], ["2"]),
    ("SELECT id, $1 AS x FROM t UNION ALL SELECT id, a FROM t ORDER BY x LIMIT 3", [INT8], ["5"]),
    ("SELECT s, a FROM t UNION ALL SELECT $1, a FROM t ORDER BY 2, 1", [TEXT], ["'q'"]), ("SELECT u, id FROM t UNION ALL SELECT $1, 77 ORDER BY id", [TEXT], ["'q'"]),
    ("SELECT id, a FROM t EXCEPT SELECT $1, $2 ORDER BY 2 DESC", [INT8, INT8], ["1", "3"]),
    # In no order, and compared with nothing.
    ("SELECT count(*) FROM (SELECT id, $1 AS kind FROM t ORDER BY a LIMIT 3)", [TEXT], ["'q'"]),
    ("SELECT count(*) FROM (SELECT id, $1 AS kind FROM t UNION SELECT id, $2 FROM t)", [TEXT, TEXT], ["'q'", "'r'"]),
    ("WITH q AS (SELECT id, $1 AS kind FROM t) SELECT o.id FROM q o JOIN q p ON o.id = p.id", [TEXT], ["'q'"]),
    ("WITH q AS MATERIALIZED (SELECT $1) SELECT count(*) FROM q", [TEXT], ["'q'"]),
    ("SELECT sum(a) OVER (PARTITION BY nullif($1, ''), r ORDER BY id) FROM t", [TEXT], ["'q'"]),
    ("SELECT sum(a) OVER (PARTITION BY $1 ORDER BY id) FROM t", [TEXT], ["'red'"]),
    ("SELECT sum(a) OVER (PARTITION BY CASE WHEN a > $1 THEN $2 ELSE $3 END ORDER BY id) FROM t", [INT8, TEXT, TEXT], ["5", "'x'", "'y'"]),
    # The same in each row, and with others of which nothing is known: as PostgreSQL has it, text.
    ("SELECT id FROM t ORDER BY $1, id", [TEXT], ["'1'"]), ("SELECT $1 AS k, count(*) FROM t GROUP BY k", [TEXT], ["'1'"]), ("SELECT DISTINCT $1 FROM t", [TEXT], ["'1'"]),
    ("SELECT id, count(*) OVER (PARTITION BY $1) FROM t ORDER BY id", [TEXT], ["'1'"]), ("SELECT id FROM t WHERE $1 = $1", [TEXT], ["'1'"]),
    ("SELECT $1 UNION SELECT $2 ORDER BY 1", [TEXT, TEXT], ["'9'", "'10'"]), ("SELECT $1 EXCEPT SELECT $2", [TEXT, TEXT], ["'9'", "'9'"]),
]
CHANGES = [
    ("id IN (SELECT id FROM t EXCEPT SELECT $1)", "2", [1, 3, 4]), ("id NOT IN (SELECT min(id) FROM t GROUP BY coalesce(a, $1))", "7", [4]),
    ("id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY coalesce(a, $1)) AS k FROM t) WHERE k = 1)", "5", [1]),
    ("EXISTS (SELECT id EXCEPT SELECT $1)", "2", [1, 3, 4]),
]


@pytest.mark.parametrize("sql, types, values", ROWS)
def test_as_with_literals(client, sql, types, values):
    assert parameter_types(client, sql) == types
    literal = sql
    for number, value in enumerate(values, 1):
        literal = literal.replace(f"${number}", value)
    sent = [value.strip("'") for value in values]
    assert client.extended(sql, sent).check().texts == client.query(literal).check().texts


@pytest.mark.parametrize("condition, value, changed", CHANGES)
def test_no_other_rows_are_changed(client, condition, value, changed):
    found = client.extended(f"DELETE FROM t WHERE {condition} RETURNING id", [value]).check().texts
    assert sorted(int(number) for number, in found) == changed


@pytest.mark.parametrize("sql", ["SELECT id FROM t ORDER BY coalesce(u, $1)", "SELECT u FROM t UNION SELECT $1 ORDER BY 1", "SELECT u FROM t EXCEPT SELECT $1"])
def test_beside_anything(client, sql):
    """A number and a text are not equal, and nothing says which is meant."""
    assert client.extended(sql, ["5"]).state == "42P18"
