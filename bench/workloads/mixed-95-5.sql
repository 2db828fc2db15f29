\set kind random(1, 100)
\set aid random(1, 100000 * :scale)
\set value random(1, 1000000000)
\if :kind <= 95
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
\else
INSERT INTO bench_insert (client, value) VALUES (:client_id, :value);
\endif
