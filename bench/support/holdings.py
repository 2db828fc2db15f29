"""What a session has between two requests and asks for with one: the writer, a reader. And who waits for somebody."""

from dataclasses import dataclass, replace

READ, WRITE, CURSOR, END = "read", "write", "cursor", "end"
# Mostly in one step of SQLite's machine, which nothing can interrupt.
LONG = LONG_READ, LONG_WRITE = "long read", "long write"
# BEGIN, by what follows it -> whether its snapshot stays, whether it takes the writer.
BEGINS = {"": (False, False), "IMMEDIATE": (False, True), "DEFERRED": (True, False), "READ ONLY": (True, False),
          "ISOLATION LEVEL REPEATABLE READ": (True, False)}


@dataclass(frozen=True)
class Block:
    """An open transaction block, or none."""

    is_open: bool = False
    pins: bool = False
    has_queried: bool = False
    has_writer: bool = False
    has_cursor: bool = False        # whose rows come from a reader

    @property
    def has_reader(self):
        return self.has_cursor or (self.pins and self.has_queried and not self.has_writer)

    def after(self, part):
        """Behind that part of a request, if it went well."""
        if part == END:
            return Block()
        if part in BEGINS:
            pins, takes_writer = BEGINS[part]
            return Block(is_open=True, pins=pins, has_writer=takes_writer)
        if not self.is_open:
            return self
        if part in (WRITE, LONG_WRITE):
            return replace(self, has_writer=True)
        return replace(self, has_queried=True, has_cursor=self.has_cursor or (part == CURSOR and not self.has_writer))

    def needs(self, parts):
        """What it has not got and may have to wait for."""
        found, block = set(), self
        for part in parts:
            if (part in (WRITE, LONG_WRITE) or part in BEGINS and BEGINS[part][1]) and not block.has_writer:
                found.add("writer")
            elif part in (READ, LONG_READ, CURSOR) and not block.has_writer and not block.has_reader:
                found.add("reader")
            block = block.after(part)
        return found


def may_have_writer(session):
    """Also who is at a long step behind a write: nobody outside knows how far it has come."""
    is_long = any(part in LONG for part in session.pending)
    return session.block.has_writer or (is_long and "writer" in session.block.needs(session.pending))


def may_have_reader(session, others):
    """A snapshot goes with the writer, so who waits for that has a reader if somebody else may have it."""
    if LONG_READ in session.pending:
        return True
    if not session.block.has_reader:
        return session.is_unread
    takes_writer = any(part in (WRITE, LONG_WRITE) for part in session.pending)
    return session.block.has_cursor or session.is_unread or not takes_writer or any(map(may_have_writer, others))


def long_steps_under_way(sessions, others, readers):
    """How many of these sessions must be at a long step by now, at least: all that wait for nobody. The others may have something, too."""
    longs = [each for each in sessions if not each.is_unread and len(each.pending) == 1 and each.pending[0] in LONG]
    others = others + [each for each in sessions if each not in longs]
    needs = [each.block.needs(each.pending) for each in longs]
    takes_writer = "writer" in set().union(*needs) and not any(map(may_have_writer, others)) \
        and not any(each.block.has_writer for each in longs)
    taken = sum(may_have_reader(each, others + longs) for each in others) + sum(each.block.has_reader for each in longs)
    return needs.count(set()) + takes_writer + min(needs.count({"reader"}), max(0, readers - taken))


IS_LONG = "it is long"


def reason_to_wait(session, sessions, readers):
    """Why it has not been answered by now, in words; None if there is no reason."""
    others = [other for other in sessions if other is not session]
    if session.is_unread or any(part in LONG for part in session.pending):
        return IS_LONG
    needs = session.block.needs(session.pending)
    if "writer" in needs and any(map(may_have_writer, others)):
        return "another may have the writer"
    having = sum(may_have_reader(other, [each for each in sessions if each is not other]) for other in others)
    return "others may have all readers" if "reader" in needs and having >= readers else None
