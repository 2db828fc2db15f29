"""Rules, and sessions of users whom they are about."""

from identity import NOBODY, client_as

# Users without a name on any machine, and without a password entry to be looked up.
ALICE, BOB, CAROL, STAFF, GUESTS = 70_001, 70_002, 70_003, 70_101, 70_102

READER = f"""
[[access]]
uid = {ALICE}
role = "reader"
[[access]]
uid = {BOB}
role = "writer"
[[access]]
user = "root"
role = "admin"
"""


def refused(reply, state="28000"):
    assert reply.closed and reply.error["S"] == "FATAL" and reply.error["C"] == state, reply
    return reply.error


def started(daemon, user, group=NOBODY, groups=(), /, **parameters):
    parameters.setdefault("database", daemon.name)
    return client_as(daemon, user, group, groups).start(**parameters)
