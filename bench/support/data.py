"""The data of `pgbench -i` as a SQLite file, and the tables of the other workloads."""

import sqlite3

ACCOUNTS_PER_SCALE, TELLERS_PER_SCALE = 100_000, 10

# pgbench declares char(84) and the like; PostgreSQL pads them with blanks, so the blanks are stored here.
SCHEMA = """
CREATE TABLE pgbench_branches (bid INTEGER PRIMARY KEY, bbalance INTEGER, filler TEXT);
CREATE TABLE pgbench_tellers (tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler TEXT);
CREATE TABLE pgbench_accounts (aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler TEXT);
CREATE TABLE pgbench_history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler TEXT);
CREATE TABLE bench_insert (id INTEGER PRIMARY KEY, client INTEGER, value TEXT);
"""

# What `pgbench -i` does not make, for PostgreSQL: the table of the inserts, and a user whose commits wait for no sync.
ASYNC_USER = "asynchronous"
POSTGRES_SCHEMA = (
    "CREATE TABLE bench_insert (id bigserial PRIMARY KEY, client int, value text)",
    f"CREATE ROLE {ASYNC_USER} LOGIN SUPERUSER",
    f"ALTER ROLE {ASYNC_USER} SET synchronous_commit = off",
)

# YCSB's table: 100,000 rows of ten fields with 100 characters each.
YCSB_ROWS = 100_000
FIELDS = [f"field{number}" for number in range(10)]
YCSB_SCHEMA = f"CREATE TABLE usertable (ycsb_key TEXT PRIMARY KEY, {', '.join(f'{name} TEXT' for name in FIELDS)})"
YCSB = f"""
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {YCSB_ROWS - 1})
INSERT INTO usertable SELECT printf('user%012d', i){', hex(randomblob(50))' * len(FIELDS)} FROM n
"""
POSTGRES_YCSB = f"""{YCSB_SCHEMA};
INSERT INTO usertable SELECT 'user' || lpad(i::text, 12, '0')
{''.join(f", left(repeat(md5(i::text || '{name}'), 4), 100)" for name in FIELDS)} FROM generate_series(0, {YCSB_ROWS - 1}) i
"""

FILL = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :branches)
INSERT INTO pgbench_branches SELECT i, 0, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :tellers)
INSERT INTO pgbench_tellers SELECT i, (i - 1) / 10 + 1, 0, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :accounts)
INSERT INTO pgbench_accounts SELECT i, (i - 1) / 100000 + 1, 0, printf('%84s', '') FROM n;
"""


def make_database(path, scale, ycsb=False):
    """Writes a new SQLite file, in WAL mode, with everything checkpointed."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # A new file: nothing is lost if the machine stops here.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        counts = {
            "branches": scale,
            "tellers": scale * TELLERS_PER_SCALE,
            "accounts": scale * ACCOUNTS_PER_SCALE,
        }
        connection.execute("BEGIN")
        for statement in filter(str.strip, FILL.split(";")):
            used = {name: count for name, count in counts.items() if f":{name}" in statement}
            connection.execute(statement, used)
        if ycsb:
            connection.execute(YCSB_SCHEMA)
            connection.execute(YCSB)
        connection.execute("COMMIT")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
