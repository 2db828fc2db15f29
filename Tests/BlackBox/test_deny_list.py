"""What no client may run. `DENY_LIST` is complete: an item without a test is a failure."""

import pytest

from hostile import bystander, served  # fixtures

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
    "journal_mode": ["PRAGMA journal_mode = WAL", "PRAGMA journal_mode = DELETE", "PRAGMA main.journal_mode(OFF)"],
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
