\set first random(1, (:scale - 1) * 100000 + 90000)
SELECT aid, bid, abalance, filler FROM pgbench_accounts WHERE aid BETWEEN :first AND :first + 9999 ORDER BY aid;
