"""Transactions drawn as columns, one for each session, driven step by step from top to bottom.

    interleave(daemon, '''
        a                                   | b
        BEGIN                               |
        SELECT n FROM t => 1                |
                                            | UPDATE t SET n = 2 => UPDATE 1
        SELECT n FROM t => 2 [T]            |
    ''')

A cell is what the session sends as one simple query, and after `=>` what it gets for it: rows with `, ` between them
and `/` between their columns, `none` without rows, the command tag of a statement without result, or `ERROR` with
the SQLSTATE; `; ` between the results of several statements. `[T]` is the transaction status then. Without `=>` it
has to succeed.

`=> waits`: the daemon has read it, has nothing left to do, and has not answered. `...` receives that answer later.
`closes`: the client vanishes.
"""

import re

import wire


def outcome(reply):
    """What a reply came to, as written in a cell."""
    results, rows, has_rows = [], [], False
    for m in reply.messages:
        if m.kind == "T":
            has_rows = True
        elif m.kind == "D":
            rows.append("/".join("null" if v is None else v.decode() for v in m.values))
        elif m.kind == "C":
            results.append((", ".join(rows) or "none") if has_rows else m.tag)
            rows, has_rows = [], False
        elif m.kind == "E":
            results.append(f"ERROR {m.state}")
    if reply.closed:
        results.append("closed")
    return "; ".join(results)


def interleave(daemon, drawing, sessions=None):
    """Plays the drawing; returns the sessions by name."""
    lines = [line for line in drawing.splitlines() if line.strip()]
    names = [name.strip() for name in lines[0].split("|")]
    sessions = sessions if sessions is not None else {}
    for name in names:
        if name not in sessions:
            sessions[name] = daemon.client()
    waiting = set()
    for line in lines[1:]:
        cells = [cell.strip() for cell in re.split(r"(?:^|\s)\|(?:\s|$)", line)]
        steps = [(name, cell) for name, cell in zip(names, cells) if cell]
        assert len(cells) <= len(names) and len(steps) == 1, f"one step in a line: {line}"
        name, cell = steps[0]
        step(daemon, sessions[name], name, cell, waiting)
    assert not waiting, f"these still wait: {waiting}"
    return sessions


def step(daemon, session, name, cell, waiting):
    sql, arrow, expected = (part.strip() for part in cell.partition("=>"))
    status = None
    if found := re.search(r"\s*\[([ITE])\]$", expected):
        status, expected = found[1], expected[: found.start()]
    if sql == "closes":
        session.close()
        waiting.discard(name)
        return
    if sql == "...":
        assert name in waiting, cell
        waiting.remove(name)
    else:
        assert name not in waiting, f"{name} waits: {cell}"
        session.send(wire.query(sql))
    if expected == "waits":
        daemon.settle(session)
        assert not session.has_reply(), f"{name}: {cell}: did not wait"
        waiting.add(name)
        return
    reply = session.reply()
    got = outcome(reply)
    if arrow and expected:
        assert got == expected, f"{name}: {cell}: got {got} {reply.errors}"
    else:
        assert not reply.errors and not reply.closed, f"{name}: {cell}: got {got} {reply.errors}"
    if status:
        assert reply.status == status, f"{name}: {cell}: got {got} [{reply.status}]"
