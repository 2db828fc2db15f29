"""What was answered must be in the tables: rows are counted before and after a run, and set against the transactions that
succeeded. Every one that was answered counts, whether in the measured seconds, in the warm-up or after the end.

And it must be an answer: the systems of a cell give as many rows for a transaction as each other."""

import tomllib

from support import generator

# The key by which the newest row of a table is known, so that only later ones are counted. PostgreSQL's history has none, so all of
# it is counted: the VACUUM that its turn ends with reads it all the same.
INSERTS, HISTORY = "bench_insert", "pgbench_history"
KEYS = {INSERTS: "id", HISTORY: "rowid"}


def rows_of_a_transaction(workload):
    """Class -> table -> rows that each of its transactions adds. A class that draws between transactions of which some add
    others is left out: nobody tells how often it drew which."""
    described = tomllib.loads(generator.path_of_workload(workload).read_text())
    found = {}
    for each in described["class"]:
        added = [_added(transaction["statements"]) for transaction in each.get("transaction", [])]
        if added and added[0] and all(other == added[0] for other in added):
            found[each["name"]] = added[0]
    return found


def _added(statements):
    rows = {}
    for statement in statements:
        for table in KEYS:
            if statement.get("sql", "").startswith(f"INSERT INTO {table} "):
                rows[table] = rows.get(table, 0) + statement.get("rows", 1) * statement.get("repeat", 1)
    return rows


def of_the_generator(told):
    """Class -> how many of its transactions were answered, ever."""
    return {each["name"]: each["transactions"] + each["warm_up_transactions"] + each["late_transactions"] for each in told["classes"]}


# Which rows are asked for is drawn. Of fewer transactions the mean of what was drawn says less than UNLIKE.
FEWEST_TRANSACTIONS, UNLIKE = 1000, 0.1


def unlike(cells, runs):
    """Where one system gives more rows for a transaction than another, in words: one of them has not answered what it was asked."""
    found = []
    for cell in cells:
        of_cell = [run for run in runs if run["cell"] == cell.id and not run["errors"]]
        for name in dict.fromkeys(name for run in of_cell for name in run["classes"]):
            means = _rows_of_each(of_cell, name)
            if means and max(means.values()) > min(means.values()) * (1 + UNLIKE):
                found.append(f"{cell.id}, {name}: rows for each transaction differ: "
                             + ", ".join(f"{system} {mean:.2f}" for system, mean in means.items()))
    return found


def _rows_of_each(runs, name):
    """System -> the mean of its transactions."""
    counts = {}
    for run in runs:
        if of_class := run["classes"].get(name):
            rows, transactions = counts.get(run["system"], (0, 0))
            counts[run["system"]] = (rows + of_class["rows"], transactions + of_class["transactions"])
    return {system: rows / transactions for system, (rows, transactions) in counts.items() if transactions >= FEWEST_TRANSACTIONS}


class Rows:
    """Of the tables that a workload adds rows to, since this was made."""

    def __init__(self, system, workload):
        self._system, self._of_each = system, rows_of_a_transaction(workload)
        tables = dict.fromkeys(table for added in self._of_each.values() for table in added)
        self._before = {table: system.asked(self._newest(table)) for table in tables}

    def missing(self, answered):
        """`answered`: class -> transactions, or under None those of a load that has one class. In words, or None."""
        for table, before in self._before.items():
            due = sum(added.get(table, 0) * answered.get(name, answered.get(None, 0)) for name, added in self._of_each.items())
            if (rows := self._since(table, before)) < due:
                return f"{due} rows of {table} were answered, {rows} are there"
        return None

    def _key(self, table):
        is_postgres = any(server.name == "postgres" for server in self._system.servers())
        return None if is_postgres and table == HISTORY else KEYS[table]

    def _newest(self, table):
        key = self._key(table)
        return f"SELECT coalesce(max({key}), 0) FROM {table}" if key else f"SELECT count(*) FROM {table}"

    def _since(self, table, before):
        key = self._key(table)
        rows = self._system.asked(f"SELECT count(*) FROM {table}" + (f" WHERE {key} > {before}" if key else ""))
        return rows if key else rows - before
