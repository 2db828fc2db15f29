"""The daemon's own SQL functions at work on long texts: they are stopped amid one, and take memory that the limits count."""

import pytest

# Quickly made, and of as many characters as bytes.
TEXT = "CAST(zeroblob(60000000) AS TEXT)"

CALLS = [
    f"initcap({TEXT})", f"reverse({TEXT})", f"md5({TEXT})",
    "split_part(hex(zeroblob(20000000)), '0', 39999999)", "split_part(hex(zeroblob(20000000)), '0', -39999999)",
]


@pytest.mark.parametrize("call", CALLS)
def test_one_call_is_stopped(shared, call):
    with shared.client() as client:
        client.query("SET statement_timeout = 50").check()
        reply = client.query(f"SELECT length({call})")
        assert reply.state == "57014" and "statement timeout" in reply.error["M"], reply.rows


# A result that there is no room for is not begun.


MEBIBYTE = 1 << 20
LIMIT, LENGTH = 24 * MEBIBYTE, 20 * MEBIBYTE
LONG = f"CAST(zeroblob({LENGTH}) AS TEXT)"


def test_what_they_make_is_counted(start_daemon):
    daemon = start_daemon(config=f"statement_memory_limit_bytes = {LIMIT}\n")
    client = daemon.client()
    client.query(f"SELECT reverse('ab'), length({LONG})").check()
    before = daemon.memory("VmHWM")
    makers = [
        f"reverse({LONG})", f"initcap({LONG})", f"concat({LONG}, 'a')", f"concat_ws({LONG}, 'a', 'b')", f"lpad({LONG}, {LENGTH + 1})",
        "repeat('a', 60000000)",
    ]
    for call in makers:
        reply = client.query(f"SELECT {call} IS NULL")
        assert reply.state == "53200", (call, reply.rows)
    assert daemon.memory("VmHWM") < before + LIMIT + 8 * MEBIBYTE


def test_no_room_for_an_argument(start_daemon):
    """SQLite gives functions no text then, and says that it has so many bytes."""
    daemon = start_daemon(config=f"statement_memory_limit_bytes = {LIMIT}\n")
    client = daemon.client()
    reply = client.query(f"SELECT md5(x), reverse(x) FROM (SELECT CAST(zeroblob({LENGTH}) AS TEXT) AS x)")
    assert reply.state == "53200", reply.rows
    assert client.value("SELECT reverse('ab')") == "ba"


# Letters beyond ASCII, and bytes that are no text.


@pytest.mark.parametrize("text, capitals", [
    ("éCOLE ÄÖÜ öäü", "École Äöü Öäü"), ("straße ßa", "Straße ßa"), ("e\u0301COLE", "E\u0301cole"), ("ИВАН иван", "Иван Иван"),
    ("a1b 1AB x_y", "A1b 1ab X_Y"), ("日本 語", "日本 語"), ("😀abc", "😀Abc"), ("ⱥb Ⱥb xȺ", "Ⱥb Ⱥb Xⱥ"), ("ΟΔΟΣ", "Οδοσ"), ("", ""),
])
def test_capitals(shared, text, capitals):
    with shared.client() as client:
        assert client.extended("SELECT initcap($1)", [text]).value == capitals
        assert client.extended("SELECT reverse($1)", [text]).value == text[::-1]


@pytest.mark.parametrize("bytes, backwards", [("61ff62", "62ff61"), ("80", "80"), ("8061", "6180"), ("61e282", "e28261"), ("f09f", "f09f")])
def test_bytes_that_are_no_text(shared, bytes, backwards):
    assert shared.value(f"SELECT hex(reverse(CAST(x'{bytes}' AS TEXT)))") == backwards.upper()
    assert shared.value(f"SELECT hex(initcap(CAST(x'{bytes}' AS TEXT)))") in (bytes.upper(), bytes.replace("61", "41", 1).upper())


@pytest.mark.parametrize("part, times", [("a", 1), ("ab", 3), ("äöü", 70_000), ("x" * 70_000, 3), ("abc" * 9, 5000)])
def test_the_same_many_times(shared, part, times):
    with shared.client() as client:
        assert client.extended("SELECT repeat($1, $2)", [part, str(times)]).value == part * times
        want = len(part) * times + 2
        assert client.extended("SELECT rpad('-', $2, $1)", [part, str(want)]).value == "-" + part * times + part[0]
