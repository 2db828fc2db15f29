SELECT count(*), sum(abalance), max(length(filler)) FROM pgbench_accounts;
