"""Connections of other users: the kernel notes who connects, so a child process becomes the user, connects, and hands the
socket over."""

import os
import socket

import wire

NOBODY = 65534


def connected_as(path, user, group=NOBODY, groups=()):
    """A socket connected to `path` by a process of that user and these groups."""
    ours, childs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    child = os.fork()
    if child == 0:
        # In a child of a threaded process nothing may be done that takes a lock of the parent's, and no test may go on.
        try:
            os.setgroups(list(groups))
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.connect(str(path))
            socket.send_fds(childs, [b"x"], [connection.fileno()])
        except OSError as error:
            childs.sendall(str(error).encode())
        finally:
            os._exit(0)
    childs.close()
    with ours:
        message, descriptors, _, _ = socket.recv_fds(ours, 1024, 1)
    os.waitpid(child, 0)
    assert descriptors, message
    return socket.socket(fileno=descriptors[0])


def client_as(daemon, user, group=NOBODY, groups=()):
    """A client of that user that has sent nothing."""
    client = wire.Client.__new__(wire.Client)
    client.socket = connected_as(daemon.socket_path, user, group, groups)
    client.socket.settimeout(wire.DEADLINE)
    client.buffer = bytearray()
    client.parameters = {}
    client.process_id = client.key = client.negotiation = None
    client.path = daemon.socket_path
    daemon._clients.append(client)
    return client


def session_as(daemon, user, group=NOBODY, groups=(), /, **parameters):
    """A session of that user."""
    client = client_as(daemon, user, group, groups)
    parameters.setdefault("database", daemon.name)
    client.start(**parameters).check()
    return client
