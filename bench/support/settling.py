"""What PostgreSQL puts off is done when its turn ends, so that it is in no other system's: a checkpoint whose time has come
or that is spread over minutes, and what autovacuum would begin within a minute."""

import os
import time

# A timed checkpoint comes 300 s after the last one began. Made after each turn, one would cost PostgreSQL something: a
# page that is changed for the first time after it is written to its log as a whole. The next turn is a minute away at most.
CHECKPOINT_AFTER_SECONDS = 120

CHECKPOINT_IS_DUE = f"""
SELECT now() - checkpoint_time > '{CHECKPOINT_AFTER_SECONDS} s' OR EXISTS (
    SELECT FROM pg_stat_activity WHERE backend_type = 'checkpointer' AND wait_event IS DISTINCT FROM 'CheckpointerMain')
FROM pg_control_checkpoint()
"""


def _threshold(what):
    """https://www.postgresql.org/docs/15/routine-vacuuming.html#AUTOVACUUM. Nobody has counted a new table's rows: -1."""
    return (f"current_setting('autovacuum_{what}_threshold')::float8"
            f" + current_setting('autovacuum_{what}_scale_factor')::float8 * greatest(reltuples, 0)")


DUE_TABLES = f"""
SELECT relid::regclass, n_dead_tup > {_threshold('vacuum')} OR n_ins_since_vacuum > {_threshold('vacuum_insert')} AS vacuum,
    n_mod_since_analyze > {_threshold('analyze')} AS analyze
FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid
"""


def settle(server, checkpoint=False):
    """Does it, with a checkpoint where one is due or asked for. The part of a RUN (record.py) that tells what was done. A worker of
    autovacuum that is at it gives way."""
    began = time.monotonic()
    with server.connect(timeout=120) as connection:
        statements = [statement for row in connection.query(DUE_TABLES)[0].rows if (statement := due(*row))]
        if checkpoint or connection.value(CHECKPOINT_IS_DUE) == "t":
            statements.append("CHECKPOINT")
        for statement in statements:
            connection.query(statement)
    os.sync()       # what it has written and not synced
    return {"seconds": round(time.monotonic() - began, 3), "statements": statements}


def due(table, vacuum, analyze):
    """What autovacuum would do with a table, or None."""
    words = [word for word, is_due in (("VACUUM", vacuum), ("ANALYZE", analyze)) if is_due == "t"]
    return f"{' '.join(words)} {table}" if words else None
