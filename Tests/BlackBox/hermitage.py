"""The isolation anomalies of Martin Kleppmann's Hermitage (https://github.com/ept/hermitage), drawn.

The names are Adya's and Bailis's; the interleavings are Hermitage's, with what Walpool answers.

|                | READ COMMITTED                      | REPEATABLE READ, SERIALIZABLE, DEFERRED | IMMEDIATE |
|----------------|-------------------------------------|-----------------------------------------|-----------|
| G0             | prevented                           | prevented                               | prevented |
| G1a, G1b, G1c  | prevented                           | prevented                               | prevented |
| OTV            | prevented                           | prevented                               | prevented |
| PMP            | happens before the first write only | prevented                               | prevented |
| P4             | happens if read before the write    | prevented: 40001                        | prevented |
| G-single       | happens before the first write only | prevented                               | prevented |
| G2-item, G2    | happens if read before the write    | prevented: 40001                        | prevented |

Why: one transaction writes at a time, from its first write to its end, and a snapshot may become a writer only while
it is the newest state. So a snapshot level is serializable whatever its name. PostgreSQL's REPEATABLE READ lets G2
through; the standard allows more isolation than was asked for:
https://www.postgresql.org/docs/current/transaction-iso.html.
A snapshot begins with the transaction's first read, as PostgreSQL's does with its first statement.
"""

import pytest

COMMITTED = "ISOLATION LEVEL READ COMMITTED"
SNAPSHOTS = ["ISOLATION LEVEL REPEATABLE READ", "ISOLATION LEVEL SERIALIZABLE", "DEFERRED"]

every_level = pytest.mark.parametrize("level", [COMMITTED, *SNAPSHOTS])
every_snapshot = pytest.mark.parametrize("level", SNAPSHOTS)


def two_rows(daemon):
    """Hermitage's table."""
    daemon.run("DROP TABLE IF EXISTS test", "CREATE TABLE test (id INTEGER PRIMARY KEY, value INTEGER)",
               "INSERT INTO test VALUES (1, 10), (2, 20)")
    return daemon
