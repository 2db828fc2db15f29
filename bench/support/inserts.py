"""Counts what the clients of the insert workload left in the table."""


def last_insert(server):
    """The newest row's id: what comes later belongs to the run that begins now."""
    with server.connect(timeout=120) as connection:
        return int(connection.value("SELECT coalesce(max(id), 0) FROM bench_insert"))


def rows_by_client(server, clients, after=0):
    """The rows of each client, those with none included."""
    with server.connect(timeout=120) as connection:
        [counted] = connection.query(
            f"SELECT client, count(*) FROM bench_insert WHERE id > {after} GROUP BY client")
    counts = {int(client): int(rows) for client, rows in counted.rows}
    return [counts.get(client, 0) for client in range(clients)]


def fairness(counts):
    """Fewest and most rows by one client, and the one divided by the other."""
    fewest, most = min(counts), max(counts)
    return {"fewest": fewest, "most": most, "ratio": round(fewest / most, 3) if most else 0.0}
