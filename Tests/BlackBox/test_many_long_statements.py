"""However many statements are long, somebody polls and somebody watches over who does: what a thread was told of and has not come to,
because it is at one step that nothing can interrupt, others take."""

import os
import signal

import wire
from daemon import daemon_reads, eventually, halt, processor_times

# In which no progress handler runs. It takes the square of that.
STEP = "length(trim(printf('%.*c', {0}, 'a') || 'b', printf('%.*c', {0}, 'c') || 'a'))"
# It is found to be stuck by one step, and says that it will be long after the others.
STUCK_AND_LONG = f"WITH RECURSIVE c (n) AS (SELECT {STEP.format(2500)} UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


def test_somebody_watches(start_daemon):
    """
    long                        step                        others
    are found to be stuck at one
    step, then say that they
    will be long
                                with others: is at one long step
                                                            are answered
    """
    # With four, more than one thread polls while events are quick, and each takes one.
    daemon = start_daemon(config="readers = 8\n", processors=2)
    longs = [daemon.client() for _ in range(6)]
    step, *others = [daemon.client() for _ in range(8)]
    # What is compiled for the first time is compiled by the connection that only prepares.
    for client in [step, *others]:
        client.query("SELECT 1").check()
    for client in longs:
        client.send(wire.query(STUCK_AND_LONG))
    eventually(lambda: sum(time >= 12 for time in processor_times(daemon.pid).values()) >= len(longs), "so many long statements")
    # All at once, for a thread that takes several.
    halt(daemon.pid)
    step.send(wire.query(f"SELECT {STEP.format(20000)}"))
    for client in others:
        client.send(wire.query("SELECT 1"))
    os.kill(daemon.pid, signal.SIGCONT)
    daemon_reads(step, *others)
    for client in others:
        assert client.reply().check().value == "1"
    assert not step.has_reply(), "it was not long enough to show anything"
    for client in [step, *longs]:
        client.close()
