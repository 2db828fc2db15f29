import Foundation
import Pool
import Scheduling
import Testing

@testable import Server

/// The thread that answers a commit looks for the client's next request before it lets go of the session.
@Suite struct SpeculativeReadTests {
    private let insert = "INSERT INTO big(n) VALUES (1)"

    ///     client                          thread
    ///     INSERT
    ///                                     commits and answers
    ///     INSERT                          (epoll has no event)
    ///                                     reads it
    ///
    /// And asks epoll now and then, for others.
    @Test func whatIsThereInTime() throws {
        let test = try SteppedServer()
        let client = try test.connect()
        var announced: [Int] = []
        for number in 1...200 {
            client.sendQuery(insert)
            if !test.hasWorkInHand { announced.append(number) }
            #expect(test.handleNext())
            #expect(try client.reply().picture == "INSERT 0 1 I")
        }
        #expect(announced == stride(from: 1, through: 200, by: EventBatch.capacity).map { $0 })
        client.sendQuery("SELECT count(*) FROM big")
        test.handleAll()
        #expect(try client.reply().picture == "210 SELECT 1 I")
    }

    /// A thread that has gone on for long enough asks epoll at once: a cancel may be there. While it waited for the disk another one has
    /// asked, if any other polls, so that counts from then on: its event began before.
    @Test(arguments: [(Int64.min, true, false), (0, true, true), (0, false, false)])
    func whatIsThereWhenItHasGoneOnForLong(_ longestNanoseconds: Int64, _ anotherOnePolls: Bool, _ goesOn: Bool) throws {
        let test = try SteppedServer()
        if anotherOnePolls {
            // The first that comes watches.
            let crew = test.server.crew
            Thread.detachNewThread { _ = crew.joinOrStandBy() }
            while !crew.isWatched { sched_yield() }
            crew.willBlock(now: MonotonicClock.now)
            #expect(crew.joinOrStandBy())
            // It would find the thread stuck that the test is.
            crew.stop()
        }
        test.worker.longestWithoutAskingNanoseconds = longestNanoseconds
        let client = try test.connect()
        for number in 1...5 {
            client.sendQuery(insert)
            #expect(test.hasWorkInHand == (goesOn && number > 1))
            #expect(test.handleNext())
            #expect(try client.reply().picture == "INSERT 0 1 I")
        }
    }

    ///     client                          thread
    ///     INSERT
    ///                                     commits and answers
    ///                                     finds nothing, and has the socket announced again
    ///     SELECT
    ///                                     is told by epoll
    @Test func whatComesLater() throws {
        let test = try SteppedServer()
        let client = try test.connect()
        for _ in 1...5 {
            client.sendQuery(insert)
            test.handleAll()
            #expect(try client.reply().picture == "INSERT 0 1 I")
            #expect(!test.hasEvent)
            client.sendQuery("SELECT 1")
            #expect(test.hasEvent)
            test.handleAll()
            #expect(try client.reply().picture == "1 SELECT 1 I")
        }
    }

    ///     client                          thread
    ///     INSERT
    ///                                     commits and answers
    ///     a part of a request
    ///                                     reads it
    ///     the rest
    ///                                     is told by epoll
    @Test func aPartOfWhatComes() throws {
        let test = try SteppedServer()
        let client = try test.connect()
        client.sendQuery(insert)
        #expect(test.handleNext())
        // Here nobody watches over threads, and so the turn of its commit was announced to all.
        #expect(test.takeWakeUps() == 1)
        let next = RawClient.message("Q", RawClient.string("SELECT 2"))
        client.send(Array(next[..<7]))
        #expect(!test.hasEvent)
        test.handleAll()
        client.send(Array(next[7...]))
        #expect(test.hasEvent)
        test.handleAll()
        #expect(try client.reply().picture == "INSERT 0 1 I")
        #expect(try client.reply().picture == "2 SELECT 1 I")
    }

    ///     client                          thread
    ///     INSERT
    ///                                     commits and answers
    ///     hangs up
    ///                                     reads the end
    @Test(arguments: [0, 1]) func whoHangsUp(_ looksBefore: Int) throws {
        let test = try SteppedServer()
        let client = try test.connect()
        client.sendQuery(insert)
        for _ in 0...looksBefore { #expect(test.handleNext()) }
        client.close()
        test.handleAll()
        #expect(test.server.table.count == 0)
    }

    ///     writer                          other                           thread
    ///     BEGIN IMMEDIATE; INSERT
    ///                                     INSERT                          has it wait
    ///     COMMIT
    ///                                                                     commits both, and answers
    ///     SELECT                          SELECT
    ///                                                                     answers
    @Test func whoWaitsForTheWriterIsAnsweredFirst() throws {
        let test = try SteppedServer()
        let (writer, other) = (try test.connect(), try test.connect())
        writer.sendQuery("BEGIN IMMEDIATE; " + insert)
        test.handleAll()
        #expect(try writer.reply().picture == "BEGIN INSERT 0 1 T")
        other.sendQuery(insert)
        test.handleAll()
        writer.sendQuery("COMMIT")
        #expect(test.handleNext())
        #expect(try writer.reply().picture == "COMMIT I")
        #expect(try other.reply().picture == "INSERT 0 1 I")
        for client in [writer, other] { client.sendQuery("SELECT count(*) FROM big") }
        test.handleAll()
        for client in [writer, other] { #expect(try client.reply().picture == "12 SELECT 1 I") }
    }
}
