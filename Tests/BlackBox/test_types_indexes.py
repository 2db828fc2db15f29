"""An index changes how a statement is run, and not what its parameters are; nor does a constant beside a column."""

import pytest

import wire
from wire import BOOL, BYTEA, FLOAT8, INT8, TEXT

NUMERIC = 1700
TABLE = """
    DROP TABLE IF EXISTS f;
    CREATE TABLE f (id INTEGER PRIMARY KEY, a INT, t TEXT, r REAL, n DECIMAL(10, 2), b BOOLEAN, d DATE, x BLOB);
    INSERT INTO f VALUES (1, 5, 'five', 1.5, 19.99, 1, '2024-01-02', x'00ff'), (2, 6, 'six', 2.5, 7, 0, '2024-05-06', x'01')
"""
INDEXES = {
    "none": [],
    "one for each": [f"CREATE INDEX f_{column} ON f ({column})" for column in "atrnbdx"],
    "of several": ["CREATE INDEX f_ba ON f (b, a)", "CREATE INDEX f_bat ON f (b, a, t)", "CREATE INDEX f_nr ON f (n, r DESC)"],
    "partial": ["CREATE INDEX f_pb ON f (a) WHERE b = 1", "CREATE INDEX f_pn ON f (a) WHERE n > 0", "CREATE INDEX f_pr ON f (a) WHERE r BETWEEN 0 AND 9"],
    "of expressions": ["CREATE INDEX f_eb ON f ((b = 1))", "CREATE INDEX f_en ON f ((n > 0))", "CREATE INDEX f_ea ON f (a + 1)"],
    "of functions": ["CREATE INDEX f_low ON f (lower(t), length(t))", "CREATE INDEX f_len ON f (length(t) DESC)",
                     "CREATE INDEX f_cn ON f (coalesce(n, 0))", "CREATE INDEX f_cb ON f (coalesce(b, 0), a)"],
}
STATEMENTS = [
    ("INSERT INTO f (a, t, r, n, b, d, x) VALUES ($1, $2, $3, $4, $5, $6, $7)", [INT8, TEXT, FLOAT8, NUMERIC, BOOL, TEXT, BYTEA]),
    ("UPDATE f SET b = $1, n = $2, r = $3 WHERE id = $4", [BOOL, NUMERIC, FLOAT8, INT8]),
    ("INSERT INTO f (id, n, b) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET b = excluded.b WHERE excluded.n > f.n", [INT8, NUMERIC, BOOL]),
    ("INSERT INTO f (n, b) VALUES ($1, $2) RETURNING n > 0, b = 1", [NUMERIC, BOOL]),
    ("SELECT id FROM f WHERE b = $1 OR a = $2", [BOOL, INT8]), ("SELECT id FROM f WHERE x = $1 OR a = $2", [BYTEA, INT8]),
    ("SELECT id FROM f WHERE r = $1 OR n = $2 OR t = $3", [FLOAT8, NUMERIC, TEXT]), ("DELETE FROM f WHERE d = $1 OR a IN ($2, $3)", [TEXT, INT8, INT8]),
    ("SELECT a, count(*) FROM f WHERE b = $1 GROUP BY a", [BOOL]), ("SELECT id FROM f WHERE (b = $1 AND a = $2) OR (b = $3 AND a = $4)", [BOOL, INT8] * 2),
    ("SELECT id FROM f WHERE b = $1 AND a IN ($2, $3, $4) AND t > $5", [BOOL, INT8, INT8, INT8, TEXT]),
    ("SELECT id FROM f WHERE $1 NOT IN (SELECT b FROM f WHERE a = $2)", [BOOL, INT8]),
    ("SELECT f.id FROM f LEFT JOIN f g ON f.b = g.b AND g.b = $1", [BOOL]), ("SELECT id FROM f WHERE b = $1 AND b <> $2", [BOOL, BOOL]),
    ("SELECT id FROM f WHERE n = $1 AND n <> $2", [NUMERIC, NUMERIC]),
    ("UPDATE f SET a = max(a, $1), n = min(3, $2, n), t = max($3, t) WHERE b = max(b, $4)", [INT8, NUMERIC, TEXT, BOOL]),
    ("SELECT id FROM f WHERE n = $1 OR $1 > 3", [NUMERIC]), ("SELECT id FROM f WHERE n + $1 > 3 OR a + $1 > 3", [NUMERIC]),
    ("SELECT id FROM f WHERE round($1, 1) = 3 OR a = $1", [INT8]), ("SELECT id FROM f WHERE round($1, 1) = 3 OR $1 + 1 > 3", [INT8]),
    ("INSERT INTO f (id, b) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET b = excluded.b WHERE excluded.b = 1", [INT8, BOOL]),
    ("INSERT INTO f (id, b) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET b = excluded.b WHERE excluded.b", [INT8, BOOL]),
    ("SELECT id FROM f WHERE b = nullif($1, b) AND coalesce(b, 0) = $2", [BOOL, BOOL]), ("SELECT id FROM f WHERE b = nullif($1, 0)", [BOOL]),
    ("SELECT id FROM f WHERE EXISTS (SELECT 1 FROM f LIMIT $1 OFFSET $2)", [INT8, INT8]),
    ("SELECT id FROM f WHERE (a > 3) = $1 AND $2 <> (t IS NULL) AND (NOT b) IN ($3, $4)", [BOOL] * 4), ("SELECT id FROM f WHERE 1 = $1", [INT8]),
    ("SELECT $1 & $1", [INT8]), ("SELECT f.id, g.id FROM f LEFT JOIN f g ON g.b = $1 AND g.a = f.a", [BOOL]),
    ("SELECT id FROM f WHERE coalesce($1, $2) <> b AND b = $3", [BOOL] * 3), ("SELECT id FROM f WHERE CASE WHEN a THEN $1 ELSE $2 END = b AND b = $3", [BOOL] * 3),
    ("INSERT INTO f (a, r) VALUES ($1, $1)", [NUMERIC]), ("INSERT INTO f (a, n) VALUES ($1, $1)", [NUMERIC]), ("INSERT INTO f (a, t) VALUES ($1, $1)", [TEXT]),
    ("SELECT g.id FROM f, f g WHERE f.a = g.r AND f.a = $1", [NUMERIC]),
]
# What they are for SQLite has left out of the program, or never comes to: the value makes no difference, and its type does to a driver.
IDLE = [
    ("SELECT id FROM f WHERE a > $1 AND f.t = $2 LIMIT 0", [INT8, TEXT]), ("SELECT id FROM f g WHERE false AND g.b = $1", [BOOL]),
    ("SELECT id FROM f WHERE n = $1 AND false", [NUMERIC]), ("UPDATE f SET r = $1 WHERE false", [FLOAT8]), ("DELETE FROM f WHERE false AND x = $1", [BYTEA]),
    ("SELECT CASE WHEN true THEN 'x' ELSE $1 END", [TEXT]), ("SELECT CASE WHEN false THEN $1 ELSE t END FROM f", [TEXT]),
    ("SELECT id FROM f WHERE NOT false OR b = $1", [BOOL]), ("SELECT id FROM f WHERE length(t) > $1 AND false", [NUMERIC]),
]

# With what the results are.
CALCULATED = [
    ("SELECT a + 1 FROM f WHERE a + 1 BETWEEN $1 AND $2", [INT8, INT8], [INT8]), ("SELECT lower(t) FROM f WHERE lower(t) IN ($1, 'x')", [TEXT], [TEXT]),
    ("SELECT max(length(t)) FROM f WHERE length(t) > $1", [INT8], [INT8]), ("SELECT length(t) FROM f WHERE lower(t) > $1", [TEXT], [INT8]),
    ("SELECT coalesce(n, 0) FROM f WHERE coalesce(n, 0) = $1", [NUMERIC], [FLOAT8]), ("SELECT a FROM f WHERE coalesce(b, 0) = $1", [BOOL], [INT8]),
    ("SELECT count(*), lower(t) FROM f GROUP BY lower(t) HAVING count(*) > $1", [INT8], [INT8, TEXT]),
    ("UPDATE f SET t = $1 WHERE length(t) = $2 AND coalesce(b, 0) = $3 RETURNING length(t)", [TEXT, INT8, BOOL], [INT8]),
]


@pytest.fixture(params=INDEXES)
def client(shared, request):
    shared.run(*TABLE.split(";"), *INDEXES[request.param])
    with shared.client() as client:
        yield client


@pytest.mark.parametrize("sql, types", STATEMENTS + IDLE)
def test_announced(client, sql, types):
    assert client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == types


@pytest.mark.parametrize("sql, types, results", CALCULATED)
def test_calculated(client, sql, types, results):
    reply = client.ask(wire.parse(sql), wire.describe_statement()).check()
    assert (reply.of("t")[0].types, [column.type for column in reply.of("T")[0].columns]) == (types, results)


def test_stored(client):
    client.extended("INSERT INTO f (id, r, n, b) VALUES (3, $1, $2, $3)", ["Infinity", "19.99", "true"]).check()
    assert client.query("SELECT typeof(r), n, typeof(n), typeof(b) FROM f WHERE id = 3").texts == [("real", "19.99", "real", "integer")]


@pytest.mark.parametrize("sql, parameters, ids", [
    ("b = $1 OR a = $2", ["t", "77"], ["1"]), ("x = $1 OR a = $2", ["\\x00ff", "6"], ["1", "2"]), ("d = $1 OR a = $2", ["2024-01-02 +01", "77"], ["1"]),
    ("b = $1 AND b <> $2", ["true", "false"], ["1"]), ("(b = $1 AND a = $2) OR (b = $3 AND a = $4)", ["t", "5", "f", "6"], ["1", "2"])])
def test_found(client, sql, parameters, ids):
    assert [row[0] for row in client.extended(f"SELECT id FROM f WHERE {sql} ORDER BY id", parameters).check().texts] == ids


@pytest.mark.parametrize("name", ["e", "nocase", "binary", "a \"quoted\" one"])
def test_an_index_that_is_called_as_a_collation(shared, name):
    quoted = name.replace('"', '""')
    shared.run(*TABLE.split(";"), "DROP TABLE IF EXISTS o", "CREATE TABLE o (c TEXT COLLATE NOCASE)", "CREATE INDEX o_c ON o ((c || 1), c)",
               f'CREATE INDEX "{quoted}" ON f ((a + 0))')
    with shared.client() as client:
        sql = "SELECT id FROM f WHERE a + 0 = $1"
        assert client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == [INT8]
        assert client.extended(sql, ["5"]).check().texts == [("1",)]
