-- pgbench -D records=100000, with PostgreSQL's range of zipfian: YCSB's 0.99 is below it.
\set kind random(1, 100)
\set k random_zipfian(1, :records, 1.001) - 1
SELECT * FROM usertable WHERE ycsb_key = 'user' || substr(CAST(1000000000000 + :k AS TEXT), 2);
\if :kind > 50
UPDATE usertable SET field0 = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' WHERE ycsb_key = 'user' || substr(CAST(1000000000000 + :k AS TEXT), 2);
\endif
