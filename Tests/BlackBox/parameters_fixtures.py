"""The tables of the tests of parameters that come without a type."""

import pytest

DATE, TIMESTAMP, UUID, JSON, JSONB, NUMERIC = 1082, 1114, 2950, 114, 3802, 1700

SCHEMA = """
    DROP VIEW IF EXISTS sums; DROP TABLE IF EXISTS p; DROP TABLE IF EXISTS w; DROP TABLE IF EXISTS g; DROP TABLE IF EXISTS checked;
    CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER, r REAL, t TEXT, x, b BLOB, d NUMERIC(10, 2), f BOOLEAN, day DATE,
                    at DATETIME, u UUID, j JSON, odd STRANGE);
    CREATE INDEX p_t ON p (t, day); CREATE INDEX p_x ON p (x);
    CREATE TABLE checked (f BOOLEAN CHECK (f IN (0, 1)), b BLOB CHECK (length(b) < 9), n INTEGER CHECK (n > 0));
    CREATE TABLE w (a TEXT, k INTEGER, v TEXT, PRIMARY KEY (k, a)) WITHOUT ROWID;
    CREATE TABLE g (virtual INTEGER AS (n + 1), n INTEGER, f BOOLEAN);
    CREATE VIEW sums AS SELECT t, sum(n) AS total, t || '!' AS loud FROM p GROUP BY t;
    INSERT INTO p (id, n, r, t, x) VALUES (1, 10, 1.5, '10', 10), (2, 20, 2.5, 'b', '10'), (3, 3, 3.5, 'b', NULL);
"""


@pytest.fixture
def db(shared):
    shared.run(SCHEMA)
    return shared
