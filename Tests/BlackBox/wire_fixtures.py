"""What the tests of the protocol share: a client, a table, and queries of many rows."""

import pytest

NUMBERS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT x FROM c"


def numbers(last):
    return NUMBERS.format(last)


@pytest.fixture
def client(shared):
    return shared.client()


@pytest.fixture
def table(shared):
    """An empty table t(id, v)."""
    shared.run("DROP TABLE IF EXISTS t", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    return "t"


def column(reply):
    return [row[0] for row in reply.texts]
