"""One thing that happens frees what several clients wait for, and the first of them is at one step of SQLite's machine, which nothing can
interrupt: the others go on. So do those who get something in the middle of what keeps its thread then."""

import pytest

import wire
from daemon import Daemon

# One of the modes is like "full" here, and half of the other cases are alike.
pytestmark = pytest.mark.optimised("normal", "pipelined-BEGIN", "full-hangs up", "pipelined-ROLLBACK")
# In which no progress handler runs. In this order that is seconds; what is tested takes milliseconds.
STEP = "trim(printf('%.*c', 20000, 'a') || 'b', printf('%.*c', 20000, 'c') || 'a')"


@pytest.fixture(params=["full", "pipelined", "normal"])
def serve(start_daemon, request):
    def serve(readers) -> Daemon:
        daemon = start_daemon(config=f'readers = {readers}\nwriter_idle_limit = "0"\nsynchronous = "{request.param}"\n')
        daemon.run("CREATE TABLE t (v TEXT)", "INSERT INTO t VALUES ('a'), ('b')")
        return daemon

    return serve


@pytest.mark.parametrize("ends", ["ROLLBACK", "hangs up"])
@pytest.mark.optimised("pipelined")
def test_a_block_ends_that_had_a_reader_and_the_writer(serve, ends):
    """
    holder                      reading                     writing, later
    has the only reader,
    and the writer
                                SELECT: waits for a reader
                                                            INSERT: waits for the writer
    ends
                                is at one long step
                                                            has the writer
    """
    daemon = serve(readers=1)
    holder, reading, writing, later = [daemon.client() for _ in range(4)]
    holder.query("BEGIN; DECLARE c CURSOR FOR SELECT v FROM t").check()
    holder.query("FETCH 1 FROM c").check()
    holder.query("INSERT INTO t VALUES ('h')").check()
    reading.send(wire.query(f"SELECT {STEP}"))
    daemon.settle(reading)
    writing.send(wire.query("INSERT INTO t VALUES ('w')"))
    daemon.settle(writing)
    if ends == "ROLLBACK":
        assert holder.query("ROLLBACK").tag == "ROLLBACK"
    else:
        holder.close()
    assert writing.reply().tag == later.query("INSERT INTO t VALUES ('l')").tag == "INSERT 0 1"
    assert not reading.has_reply(), "it was not long enough to show anything"
    reading.reply().check()


@pytest.mark.optimised("pipelined")
def test_members_of_a_group_with_more_behind_it(serve):
    """
    holder                      members                     next
    has the writer
                                INSERT; SELECT
                                                            in a block, INSERT: waits for the writer
    COMMIT
                                are committed, answered
                                                            has the writer, and is at one long step
                                their SELECTs are answered
    """
    daemon = serve(readers=4)
    holder, following, *members = [daemon.client() for _ in range(4)]
    holder.query("BEGIN IMMEDIATE").check()
    following.query("BEGIN").check()
    for member in members:
        member.send(wire.query("INSERT INTO t VALUES ('m')"), wire.query("SELECT v FROM t WHERE rowid = 1"))
        daemon.settle(member)
    following.send(wire.query(f"INSERT INTO t SELECT {STEP}"))
    daemon.settle(following)
    holder.query("COMMIT").check()
    for member in members:
        assert member.reply().tag == "INSERT 0 1" and member.reply().value == "a"
    assert not following.has_reply(), "it was not long enough to show anything"
    following.reply().check()


@pytest.mark.parametrize("begin, waits", [("BEGIN ISOLATION LEVEL REPEATABLE READ", False), ("BEGIN ISOLATION LEVEL REPEATABLE READ", True),
                                          ("BEGIN DEFERRED", False)])
def test_a_transaction_that_takes_the_writer_gives_its_reader_back(serve, begin, waits):
    """
    other                       holder                      reading
                                has the only reader
                                                            SELECT: waits for a reader
    has the writer, or not
                                INSERT: has the writer, needs
                                the reader no more, and is
                                at one long step
                                                            is answered
    """
    daemon = serve(readers=1)
    holder, reading, other = [daemon.client() for _ in range(3)]
    holder.query(begin).check()
    holder.query("SELECT v FROM t").check()
    reading.send(wire.query("SELECT v FROM t WHERE rowid = 1"))
    daemon.settle(reading)
    if waits:
        other.query("BEGIN IMMEDIATE").check()
    holder.send(wire.query(f"INSERT INTO t SELECT {STEP}"))
    if waits:
        daemon.settle(holder)
        other.query("COMMIT").check()
    assert reading.reply().check().value == "a"
    assert not holder.has_reply(), "it was not long enough to show anything"
    holder.reply().check()
