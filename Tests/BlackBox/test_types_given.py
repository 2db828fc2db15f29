"""What the client, or the statement's text, says that a parameter is: it comes back as that, whatever stands beside it."""

import pytest

import wire
from wire import BYTEA, TEXT, VARCHAR

DESCRIBED = [pytest.param([wire.describe_statement()], [], id="statement"), pytest.param([], [wire.describe_portal()], id="portal")]


def answer(client, sql, value, given, before, behind):
    reply = client.ask(wire.parse(sql, types=given), *before, wire.bind([value]), *behind, wire.execute()).check()
    return reply.of("T")[0].columns[0].type, reply.texts[0][0]


@pytest.mark.parametrize("before, behind", DESCRIBED)
@pytest.mark.parametrize("sql, value, given, type", [
    ("SELECT ifnull($1::text, 0)", "abc", [], TEXT), ("SELECT coalesce($1::text, 0)", "abc", [], TEXT),
    ("SELECT coalesce($1::bytea, 0)", "\\x41", [], BYTEA), ("SELECT coalesce($1, 0)", "\\x41", [BYTEA], BYTEA),
    ("SELECT iif(value = 1, $1::text, value) FROM generate_series(1, 2)", "abc", [], TEXT),
    ("SELECT * FROM (VALUES ($1::text), (2))", "abc", [], TEXT),
    *[("SELECT coalesce($1, 0)", value, [given], TEXT) for value in ["007", "1e3", " 7 ", "9223372036854775808"] for given in (TEXT, VARCHAR)],
    ("SELECT $1 AS code, $1 + 1", "007", [TEXT], TEXT), ("SELECT CASE WHEN 1 THEN $1 ELSE 0 END, typeof($1)", "007", [TEXT], TEXT)])
def test_it_comes_back(shared, sql, value, given, type, before, behind):
    with shared.client() as client:
        assert answer(client, sql, value, given, before, behind) == (type, value)


@pytest.mark.parametrize("sql, found", [
    ("SELECT count(*) FROM generate_series(1, 9) WHERE value + 0 = $1", "1"), ("SELECT count(*) FROM generate_series(1, 9) WHERE $1 < value + 0", "2"),
    ("SELECT coalesce($1, 0) = 7", "t"), ("SELECT 7 IN (1, $1)", "t"), ("SELECT $1 + 1", "8")])
def test_a_text_that_only_a_number_can_be(shared, sql, found):
    """To be compared with a number it must be one; PostgreSQL has no such operator."""
    with shared.client() as client:
        assert client.extended(sql, ["007"], types=[TEXT]).check().texts == [(found,)]
