"""Asking for metrics, and what a reply says."""

import psycopg
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics_families
from psycopg.rows import dict_row

OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Response:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        self.version, self.status = status[:8], int(status[9:12])
        self.fields = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
        assert self.version == "HTTP/1.1" and self.fields["connection"] == "close", status

    @property
    def text(self):
        assert len(self.body) == int(self.fields["content-length"])
        return self.body.decode()


def request(daemon, data=b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"):
    with daemon.raw() as client:
        client.send(data)
        return Response(client.rest())


def get(daemon, *fields, path="/metrics", method="GET"):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *fields]
    return request(daemon, ("\r\n".join(lines) + "\r\n\r\n").encode())


def values(daemon):
    """Every sample by its name and labels."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in open_metrics_families(get(daemon).text) for sample in family.samples}


def settled_values(daemon):
    """What is counted behind a reply, its bytes and its time, is counted, and so is the end of who has left."""
    daemon.settle()
    return values(daemon)


def moved(daemon, work):
    """By how much each sample changed while `work` was done."""
    before = settled_values(daemon)
    work()
    after = settled_values(daemon)
    return {key: after[key] - before.get(key, 0) for key in after if after[key] != before.get(key, 0)}


def console(daemon, topic):
    with psycopg.connect(
            host=str(daemon.directory), dbname="pgbouncer", autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(f"SHOW {topic}").fetchall()


def totals(daemon):
    """STATS_TOTALS when everything before it is counted, as `settled_values`."""
    daemon.settle()
    return console(daemon, "STATS_TOTALS")[0]


def statements(daemon):
    return {row["query"]: row for row in console(daemon, "STATEMENTS")}


def kind(name):
    return ("walpool_statements_total", ("kind", name))
