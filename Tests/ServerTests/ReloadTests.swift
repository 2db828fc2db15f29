import Testing

@testable import Pool
@testable import Server

/// Changing the configuration of a server at work.
@Suite struct ReloadTests {
    @Test("What a session starts with changes for new sessions only, and RESET goes back to its own")
    func sessionDefaults() throws {
        let test = try TestServer()
        let old = try test.connect()
        var configuration = test.configuration
        try configuration.setDefault("statement_timeout", "7s")
        test.server.apply(configuration)
        #expect(try old.query("SHOW statement_timeout").picture.hasPrefix("0 "))
        #expect(try old.query("SET statement_timeout = 1; RESET statement_timeout").status == "I")
        #expect(try old.query("SHOW statement_timeout").picture.hasPrefix("0 "))
        #expect(try test.connect().query("SHOW statement_timeout").picture.hasPrefix("7s "))
        test.server.apply(test.configuration)
        #expect(try test.connect().query("SHOW statement_timeout").picture.hasPrefix("0 "))
    }

    @Test("Fewer sessions: those there are stay; more: up to the room made at the start")
    func sessions() throws {
        let test = try TestServer { $0.maximumSessions = 2 }
        let clients = try (0..<2).map { _ in try test.connect() }
        var configuration = test.configuration
        func startUp() throws -> [String] {
            try RawClient(test.configuration.socketPath).startUp([("user", "u"), ("database", "app")]).errors
        }
        #expect(try startUp() == ["53300"])
        configuration.maximumSessions = 3
        test.server.apply(configuration)
        #expect(try startUp() == [])
        try test.until { test.server.table.count == 2 }
        configuration.maximumSessions = 1
        test.server.apply(configuration)
        #expect(try startUp() == ["53300"])
        for client in clients { #expect(try client.query("SELECT 1").picture == "1 SELECT 1 I") }
        configuration.maximumSessions = 100_000
        test.server.apply(configuration)
        #expect(test.server.current { $0.maximumSessions } == configuration.sessionRoomAtStart(2))
    }

    @Test("What needs a restart is not changed")
    func fixed() throws {
        let test = try TestServer { $0.pool.readers = 3 }
        var configuration = ServerConfiguration(databasePath: "/x", databaseName: "x", socketPath: "/y")
        configuration.pool.readers = 5
        configuration.pool.durability = .normal
        configuration.connection.foreignKeys = false
        configuration.backupDirectory = "/tmp"
        test.server.apply(configuration)
        let current = test.server.current { $0 }
        #expect(current.databaseName == "app" && current.databasePath == test.configuration.databasePath)
        #expect(current.socketPath == test.configuration.socketPath && current.pool.readers == 3)
        #expect(current.pool.durability == .full && current.connection.foreignKeys && current.backupDirectory == "/tmp")
        #expect(try test.connect().query("SELECT 1").picture == "1 SELECT 1 I")
    }

    @Test("A reload without a program behind it is refused; one with it is told what came of it")
    func outcome() throws {
        let test = try TestServer()
        #expect(test.server.reload() == .refused(problems: ["there is no configuration to read again"]))
        test.server.onReload { .applied(changes: ["a"], needRestart: ["b"], doubts: []) }
        #expect(test.server.reload() == .applied(changes: ["a"], needRestart: ["b"], doubts: []))
    }
}

extension ServerConfiguration {
    fileprivate func sessionRoomAtStart(_ sessions: Int) -> Int {
        var started = self
        started.maximumSessions = sessions
        return started.sessionRoom
    }
}
