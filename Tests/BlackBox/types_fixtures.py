"""What the tests of types share. A test module has its own `db`, with its own tables."""

import pytest

import wire


@pytest.fixture
def client(db):
    with db.client() as client:
        yield client
        client.send(wire.terminate())


def parameter_types(client, sql):
    """As announced for the statement."""
    return client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types


def result_types(client, sql):
    return [c.type for c in client.ask(wire.parse(sql), wire.describe_statement()).check().of("T")[0].columns]
