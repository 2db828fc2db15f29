-- pgbench -D records=100000, with PostgreSQL's range of zipfian: YCSB's 0.99 is below it.
\set k random_zipfian(1, :records, 1.001) - 1
SELECT * FROM usertable WHERE ycsb_key = 'user' || substr(CAST(1000000000000 + :k AS TEXT), 2);
