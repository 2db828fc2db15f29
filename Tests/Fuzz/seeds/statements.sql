SELECT 1
SELECT id, n, r, x, b, a FROM t
SELECT * FROM t WHERE id = $1
SELECT * FROM t WHERE id = $1::int8 AND x = $2::text OR b = $3::bytea
SELECT n + 1, n * 2.0, -n, ~n, n / 2, n % 3, n & 1, n << 2, x || 'z', +n FROM t
SELECT count(*), sum(n), avg(r), total(n), min(x), max(b), group_concat(x, ',') FROM t
SELECT coalesce(n, 0), ifnull(x, 'none'), nullif(n, 1), iif(n, 1, 2.5), typeof(a), quote(b) FROM t
SELECT CASE WHEN n > 1 THEN 'many' ELSE 1 END AS m, CASE n WHEN 1 THEN 2.0 END FROM t
SELECT CAST(n AS TEXT), CAST(x AS INTEGER), CAST(r AS REAL), CAST(b AS BLOB), CAST(a AS NUMERIC), CAST(x AS VARCHAR(10)) FROM t
SELECT abs(n), round(r), round(r, 2), length(x), hex(b), substr(x, 1, 2), substr(b, 1), upper(x), trim(x), instr(x, 'o'), unicode(x), char(65, 66), printf('%d', n) FROM t
SELECT date('now'), datetime('2020-01-01'), julianday('now'), strftime('%s', 'now'), unixepoch(), time(0) 
SELECT json('{"a":1}'), json_extract('{"a":[1,2]}', '$.a'), '{"a":1}' -> 'a', '{"a":1}' ->> 'a', json_array_length('[1]'), json_type('1')
SELECT value FROM json_each('[1,"two",3.5,null]')
SELECT row_number() OVER (ORDER BY id), sum(n) OVER (PARTITION BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), lag(x) OVER w FROM t WINDOW w AS (ORDER BY id)
SELECT count(*) FILTER (WHERE n > 1) FROM t GROUP BY x HAVING count(*) > 1 ORDER BY 1 LIMIT 2 OFFSET 1
SELECT x FROM t UNION ALL SELECT n FROM t INTERSECT SELECT 1 EXCEPT SELECT 2
SELECT t.id, u.v FROM t JOIN u ON t.x = u.k LEFT JOIN w ON w.m = t.n WHERE t.id IN (1, 2, $1) AND n NOT BETWEEN $2 AND $3
SELECT n IS NOT DISTINCT FROM $1, n IS NULL, x LIKE 'o%' ESCAPE '\', x GLOB '*', n NOTNULL, n ISNULL, NOT n, n = 1 AND x <> 'a' FROM t
SELECT (SELECT max(id) FROM t), EXISTS (SELECT 1), ((1)), (n), +(-n), - -1, "id", [n], `x`, 'a' 'b' FROM t
SELECT 0x10, 1e10, .5, 1., 1_000, 9223372036854775808, -9223372036854775808, x'00ff', NULL, TRUE, current_timestamp
SELECT $1 + 1, $1 || 'x', -$2, $3 < n, n > $4, $5 LIKE x, ($6), (($7)) * 2, $8::float8 FROM t LIMIT $9 OFFSET $10
SELECT ?, ?2, :a, @b, $c, $1::a::b(c), #1
SELECT last_insert_rowid(), changes(), total_changes(), random() > 0, randomblob(2), zeroblob(3), sqlite_version()
VALUES (1, 'a'), (2, NULL), (3.5, x'00')
WITH c(a, b) AS (VALUES (1, 'x'), (2, 'y')) SELECT a + 1, b FROM c
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, i * i FROM n
WITH c AS MATERIALIZED (SELECT 1), d AS (SELECT 2) INSERT INTO t(n) SELECT * FROM c
INSERT INTO t(n, x) VALUES ($1, $2), (3, 'three') RETURNING id, n, x
INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6)
INSERT INTO u VALUES ('a', 2) ON CONFLICT(k) DO UPDATE SET v = excluded.v WHERE v < 5
INSERT OR ROLLBACK INTO u VALUES ('a', 1)
INSERT OR FAIL INTO u SELECT 'c', 1 UNION ALL SELECT 'a', 2
INSERT OR IGNORE INTO u VALUES ('a', 3)
REPLACE INTO u VALUES ('b', $1)
UPDATE t SET n = n + $1, x = 'new' WHERE id = $2 RETURNING *
UPDATE OR REPLACE t SET id = id + 1
UPDATE t SET n = u.v FROM u WHERE u.k = t.x
DELETE FROM t WHERE id = $1
DELETE FROM t RETURNING id
CREATE TABLE z(a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT NOT NULL DEFAULT 'x' CHECK (length(b) > 0), c REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED)
CREATE TABLE IF NOT EXISTS z AS SELECT * FROM t
CREATE UNIQUE INDEX i ON t(n DESC) WHERE n IS NOT NULL
CREATE VIEW v AS SELECT id, n + 1 AS m FROM t
CREATE TRIGGER g AFTER INSERT ON t WHEN new.n > 5 BEGIN UPDATE u SET v = CASE new.x WHEN 'a' THEN 1 END; SELECT RAISE(ABORT, 'no; END'); END
CREATE TEMP TRIGGER g BEFORE DELETE ON t BEGIN SELECT 1; END; SELECT 2
CREATE VIRTUAL TABLE f USING fts5(a, b)
ALTER TABLE t ADD COLUMN y INT
ALTER TABLE t RENAME COLUMN x TO y
ALTER TABLE t DROP COLUMN r
DROP TABLE IF EXISTS nothing
DROP TABLE u
DROP VIEW w
EXPLAIN SELECT * FROM t
EXPLAIN QUERY PLAN SELECT * FROM t WHERE n = 1
EXPLAIN CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3
PRAGMA table_info(t)
PRAGMA journal_mode = DELETE
PRAGMA user_version
PRAGMA foreign_keys = OFF
PRAGMA integrity_check
ATTACH 'x' AS y
DETACH y
ANALYZE
REINDEX
VACUUM
BEGIN
BEGIN IMMEDIATE
BEGIN DEFERRED TRANSACTION
BEGIN EXCLUSIVE
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ WRITE NOT DEFERRABLE
START TRANSACTION READ ONLY
COMMIT
COMMIT AND CHAIN
COMMIT AND NO CHAIN
END
ROLLBACK
ROLLBACK AND CHAIN
ABORT
SAVEPOINT a
RELEASE SAVEPOINT a
ROLLBACK TO SAVEPOINT a
ROLLBACK TO a
PREPARE TRANSACTION 'x'
COMMIT PREPARED 'x'
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
SET statement_timeout = 100
SET LOCAL lock_timeout TO '10ms'
SET queue_notice = 1
SET TIME ZONE 'UTC'
SET NAMES 'UTF8'
SET SESSION AUTHORIZATION DEFAULT
SET application_name TO 'a', 'b'
SET search_path TO a, "b"
SET my.own = 'thing'
SET result_typing = text
SET default_transaction_read_only = on
SET default_transaction_isolation = 'repeatable read'
SET CONSTRAINTS ALL DEFERRED
RESET ALL
RESET statement_timeout
SHOW ALL
SHOW statement_timeout
SHOW TIME ZONE
SHOW TRANSACTION ISOLATION LEVEL
DISCARD ALL
DEALLOCATE ALL
DEALLOCATE PREPARE p
PREPARE p (int8, text) AS SELECT $1, $2
PREPARE q AS INSERT INTO t(n) VALUES ($1)
EXECUTE p (1, 'two')
EXECUTE q (5)
DECLARE c CURSOR FOR SELECT * FROM t
DECLARE c BINARY NO SCROLL CURSOR WITH HOLD FOR SELECT id FROM t
FETCH 2 FROM c
FETCH FORWARD ALL IN c
FETCH BACKWARD 1 FROM c
MOVE NEXT FROM c
CLOSE c
CLOSE ALL
LISTEN a
UNLISTEN *
NOTIFY a, 'payload'
COPY t FROM STDIN
COPY t TO STDOUT WITH (FORMAT csv)
LOCK TABLE t
TRUNCATE t
CHECKPOINT
SELECT version()
SELECT pg_catalog.version()
SELECT current_schema()
SELECT current_database(), 1
SELECT pg_is_in_recovery()
SELECT set_config('statement_timeout', '50', false)
SELECT current_setting('server_version')
SELECT pg_backend_pid() AS pid
SELECT pg_advisory_unlock_all()
SELECT current_user
SELECT oid, typname FROM pg_catalog.pg_type
SHOW HELP
SHOW VERSION
SHOW CLIENTS
SHOW POOLS
SHOW WRITER
SHOW WAL
SHOW SNAPSHOTS
SHOW MAINTENANCE
SHOW BACKUPS
SHOW STATS
SHOW STATEMENTS
SHOW SERVERS
SHOW CONFIG
PAUSE
RESUME app
KILL 2
RELOAD
SHUTDOWN WAIT_FOR_CLIENTS
BACKUP TO 'b'
-- only a comment
/* a */ SELECT /* b */ 1 -- c
SELECT 'it''s', "a""b", 'unterminated
SELECT 1; SELECT 2; ; INSERT INTO t(n) VALUES (1); SELECT 'x;y'
