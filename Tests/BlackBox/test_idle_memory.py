"""What a session keeps while its client does nothing: nothing of what is over."""

import pytest

import wire


def test_values_of_portals_that_went_with_a_member_of_a_group(daemon):
    """One that was bound and not executed, and a transaction that then arrives whole."""
    daemon.run("CREATE TABLE t (n INTEGER)", "SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(3)]
    insert = "INSERT INTO t VALUES (length($1))"
    for client in clients:
        client.query("BEGIN").check()
        client.ask(wire.parse(insert), wire.bind(["x" * (40 << 20)], portal="large")).check()
        run = [message for sql, values in [(insert, ["small"]), ("COMMIT", [])]
               for message in (wire.parse(sql), wire.bind(values), wire.execute())]
        assert client.ask(*run).check().tags == ["INSERT 0 1", "COMMIT"]
    daemon.settle(*clients)
    assert daemon.memory() - before < 40 << 20
    assert daemon.value("SELECT count(*) FROM t") == "3"


@pytest.mark.parametrize("kind", ["a long one", "a call with many arguments"])
def test_the_last_query(daemon, kind):
    daemon.run("SELECT 1")
    before = daemon.memory()
    clients = [daemon.client() for _ in range(80)]
    for number, client in enumerate(clients):
        if kind == "a long one":
            assert client.value(f"SELECT {number} --" + "x" * 1_000_000) == str(number)
        else:
            client.query("PREPARE p AS SELECT ?65535").check()
            assert client.query(f"EXECUTE p({','.join(['NULL'] * 65_535)})").texts == [(None,)]
            client.query("DEALLOCATE ALL").check()
    daemon.settle(*clients)
    # What malloc keeps for itself is not more with more sessions.
    assert daemon.memory() - before < 150 << 20
