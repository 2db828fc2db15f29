import Glibc
import Testing

@testable import Server

/// Two threads and one session: who owns it, and what becomes of an event that comes meanwhile.
@Suite struct SessionTableTests {
    /// A session of a server of its own, idle, and its table. Its client says nothing, so nobody else comes for it.
    private struct Idle {
        let test: TestServer
        let client: RawClient
        let session: Session
        var table: SessionTable { test.server.table }

        init() throws {
            test = try TestServer()
            client = try test.connect()
            try client.query("SELECT 1")
            session = try #require(test.server.table.sessions.first)
            // Its thread has answered and is about to let go of it.
            while table.own(slot: session.slot, generation: session.generation) == nil { sched_yield() }
            #expect(table.disown(session) == nil)
        }

        func event(isHungUp: Bool = false) -> Poller.Event { Poller.Event(token: session.token, isHungUp: isHungUp) }
    }

    ///     A                   B
    ///     owns at an event
    ///                         an event: noted
    ///     disowns: that event
    ///     owns again
    @Test(arguments: [false, true])
    func anEventMeanwhileIsTheOwnersToSeeTo(_ isHungUp: Bool) throws {
        let idle = try Idle()
        let table = idle.table
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        #expect(table.ownAtEvent(idle.event(isHungUp: isHungUp)) == nil)
        #expect(table.ownAtEvent(idle.event()) == nil)
        let noted = try #require(table.disown(idle.session))
        #expect(noted.token == idle.session.token && noted.isHungUp == isHungUp)
        #expect(table.ownAtEvent(noted) === idle.session)
        #expect(table.disown(idle.session) == nil)
    }

    ///     A                   B
    ///     owns
    ///                         owns, for a deadline: no
    ///     disowns: nothing to see to
    @Test func whoComesForADeadlineNotesNothing() throws {
        let idle = try Idle()
        #expect(idle.table.ownAtEvent(idle.event()) === idle.session)
        #expect(idle.table.own(slot: idle.session.slot, generation: idle.session.generation) == nil)
        #expect(idle.table.disown(idle.session) == nil)
    }

    ///     A                   B
    ///     owns
    ///     arms …
    ///                         owns at the event that this announces
    ///                         lets go of it
    ///     … is done
    ///     nobody owns it
    @Test func whoReceivesTheEventOfArmingOwnsAtOnce() throws {
        let idle = try Idle()
        let table = idle.table
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        #expect(table.ownAtEvent(idle.event()) == nil)
        table.disown(idle.session) {
            // What was noted before is announced again, so it is not kept.
            #expect(table.ownAtEvent(idle.event()) === idle.session)
            #expect(table.disown(idle.session) == nil)
            #expect(table.ownAtEvent(idle.event()) === idle.session)
            #expect(table.ownAtEvent(idle.event()) == nil)
            #expect(table.disown(idle.session)?.token == idle.session.token)
        }
        #expect(table.own(slot: idle.session.slot, generation: idle.session.generation) === idle.session)
        table.waitUntilArmed(idle.session)
        #expect(table.disown(idle.session) == nil)
    }

    ///     A                   B
    ///     owns at an event
    ///                         an event: noted
    ///     disowns if quiet: no
    ///     disowns: that event
    @Test func quietIsWithoutANote() throws {
        let idle = try Idle()
        let table = idle.table
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        #expect(table.disownIfQuiet(idle.session))
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        #expect(table.ownAtEvent(idle.event()) == nil)
        #expect(!table.disownIfQuiet(idle.session))
        #expect(table.disown(idle.session)?.token == idle.session.token)
        // That another thread still arms its socket is no reason to keep it.
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        table.disown(idle.session) {
            #expect(table.ownAtEvent(idle.event()) === idle.session)
            #expect(table.disownIfQuiet(idle.session))
        }
        #expect(table.ownAtEvent(idle.event()) === idle.session)
        #expect(table.disownIfQuiet(idle.session))
    }

    @Test func anEventOfASessionThatIsGone() throws {
        let idle = try Idle()
        let gone = Poller.Event(token: UInt64(idle.session.slot) << 32 | (idle.session.generation &- 1) & 0xFFFF_FFFF)
        #expect(idle.table.ownAtEvent(gone) == nil)
        #expect(idle.table.own(slot: idle.session.slot, generation: idle.session.generation &+ 1) == nil)
        #expect(idle.table.ownAtEvent(idle.event()) === idle.session)
        #expect(idle.table.disown(idle.session) == nil)
        #expect(try idle.client.query("SELECT 2").picture == "2 SELECT 1 I")
    }
}
