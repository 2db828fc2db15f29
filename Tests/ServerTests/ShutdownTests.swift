import Glibc
import Testing

@testable import Pool
@testable import Server

@Suite struct ShutdownTests {
    private static let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"

    ///     idle     holder           queued    pinned          reading     running         server
    ///              BEGIN, INSERT
    ///                               INSERT
    ///                                         holds a reader
    ///                                                         waits
    ///                                                                     endless
    ///                                                                                     stop()
    ///     57P01    57P01            57P01     57P01           57P01       57P01
    ///                                                                                     returns
    @Test func everybodyIsTold() throws {
        let test = try TestServer { $0.pool.readers = 2 }
        let path = test.configuration.socketPath
        let names = ["idle", "holder", "queued", "pinned", "reading", "running"]
        let clients = try Dictionary(uniqueKeysWithValues: names.map { ($0, try test.connect()) })
        // Otherwise it has a reader first to be prepared, and leaves it to "reading" before it runs.
        clients["running"]!.send(RawClient.parse(Self.endless) + RawClient.message("S"))
        #expect(try clients["running"]!.reply().errors.isEmpty)
        #expect(try clients["idle"]!.query("INSERT INTO t VALUES(1, 1)").picture == "INSERT 0 1 I")
        try clients["reading"]!.query("SELECT count(*) FROM t")
        try clients["queued"]!.query("DELETE FROM t WHERE n = -1")
        try clients["pinned"]!.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t")
        try clients["holder"]!.query("BEGIN; INSERT INTO t VALUES(2, 2)")
        clients["queued"]!.sendQuery("DELETE FROM t WHERE n = -1")
        try test.untilWaitingWriters(1)
        clients["running"]!.sendQuery(Self.endless)
        // A statement may have begun and not yet have its reader, which "reading" would get.
        let running = try #require(test.server.table.session(processID: clients["running"]!.processID)).clientID
        try test.until { test.pool.view.readerUsers.contains { $0.client == running } }
        clients["reading"]!.sendQuery("SELECT count(*) FROM t")
        try test.untilWaitingReaders(1)
        let halfStarted = try RawClient(path)
        try test.until { test.server.table.count == 7 }

        test.stop()

        for name in names {
            let reply = try clients[name]!.reply()
            // Whoever waited for the holder's writer or for a reader may still have been served before it was told.
            #expect(reply.errors.last == "57P01" || name == "queued" || name == "reading", "\(name): \(reply.picture)")
            #expect(reply.severities.last == "FATAL" || reply.status == "I", "\(name): \(reply.picture)")
            if reply.status == "I" { #expect(try clients[name]!.reply().picture == "57P01 closed", "\(name)") }
        }
        #expect(try halfStarted.isClosedByServer())
        #expect(test.server.table.count == 0)
        #expect(!fileExists(path))
        // Who closes the database last leaves one whole file.
        #expect(!fileExists(test.configuration.databasePath + "-wal"))
        #expect(!fileExists(test.configuration.databasePath + "-shm"))
        #expect(try test.look("SELECT id FROM t") == ["1"])
    }

    @Test func itStartsAgainWhereItWas() throws {
        let test = try TestServer()
        try test.connect().query("INSERT INTO t VALUES(1, 1)")
        try test.restart()
        let client = try test.connect()
        #expect(try client.query("SELECT id FROM t").picture == "1 SELECT 1 I")
    }

    /// A second server on the same socket does not start; a socket file nobody listens on is replaced.
    @Test func theSocketIsTaken() throws {
        let test = try TestServer()
        #expect(throws: StartError.self) { try Listener(path: test.configuration.socketPath, mode: 0o660) }
        let stale = test.directory + "/stale"
        let dead = try Listener(path: stale, mode: 0o660)
        Glibc.close(dead.descriptor)
        let next = try Listener(path: stale, mode: 0o600)
        next.stop()
        next.close()
        #expect(!fileExists(stale))
        Glibc.close(open(stale, O_CREAT | O_WRONLY, 0o600))
        #expect(throws: StartError.self) { try Listener(path: stale, mode: 0o660) }
        #expect(fileExists(stale))
    }

    @Test func anUnusedServerStops() throws {
        let test = try TestServer()
        test.stop()
        #expect(!fileExists(test.configuration.socketPath))
        #expect(throws: RawClient.Gone.self) { try test.connect() }
    }
}
