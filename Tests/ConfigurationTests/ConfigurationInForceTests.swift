import Glibc
import Server
import Testing

@testable import Configuration

struct ConfigurationInForceTests {
    private func settings(_ text: String) throws -> StartSettings {
        var settings = StartSettings()
        try ConfigurationFile(path: "f", text: text).apply(to: &settings)
        return settings
    }

    private func take(_ text: String, _ inForce: inout ConfigurationInForce) throws -> ConfigurationInForce.Changes {
        inForce.take(try settings(text))
    }

    @Test("Each change is told once, and what needs a restart every time")
    func changes() throws {
        var inForce = ConfigurationInForce(try settings("readers = 4\ngate_limit = 100"))
        #expect(try take("readers = 4\ngate_limit = 100", &inForce) == .init())
        let new = "readers = 5\ngate_limit = \"2s\"\nstatement_timeout = 5\nbackup_directory = \"/b\""
        let changes = try take(new, &inForce)
        #expect(
            changes.changed.sorted() == [
                "backup_directory = \"/b\", was (not set)", "gate_limit = \"2s\", was \"100ms\"",
                "statement_timeout = \"5ms\", was \"0\"; for new sessions",
            ])
        #expect(changes.needRestart == ["readers = 5, is 4"])
        #expect(try take(new, &inForce) == .init(changed: [], needRestart: ["readers = 5, is 4"]))
        #expect(inForce.settings.server.pool.gateMilliseconds == 2000)
        #expect(try take("readers = 4", &inForce).needRestart == [])
        #expect(inForce.settings.server.backupDirectory == nil)
    }

    @Test("SHOW CONFIG tells what is in force, not what waits for a restart")
    func rows() throws {
        var inForce = ConfigurationInForce(try settings(""))
        _ = inForce.take(try settings("readers = 5\nlog_level = \"debug\""))
        let rows = Dictionary(uniqueKeysWithValues: inForce.rows.map { ($0.key, $0) })
        #expect(rows.count == ConfigurationKey.all.count)
        #expect(rows["readers"] == ConfigurationRow(key: "readers", value: "8", defaultValue: "8", isChangeable: false))
        #expect(rows["log_level"] == ConfigurationRow(key: "log_level", value: "debug", defaultValue: "info", isChangeable: true))
        #expect(rows["backup_directory"]?.value == nil)
    }

    @Test("Of a socket that the service manager made its own place, port and permissions are in force, and who says others is told")
    func handedOverSocket() throws {
        let directory = "/tmp/walpool-socket-\(UInt64.random(in: 0...UInt64.max))"
        #expect(mkdir(directory, 0o700) == 0)
        defer { rmdir(directory) }
        let path = directory + "/.s.PGSQL.5433"
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        #expect(file >= 0 && fchmod(file, 0o660) == 0)
        close(file)
        defer { unlink(path) }
        let socket = SocketInForce(path: path)
        #expect(socket.notApplied(try settings("readers = 4")) == [])
        // One directory by another path, and what the unit says, too.
        #expect(socket.notApplied(try settings("socket_directory = \"\(directory)/.\"\nport = 5433\nsocket_mode = \"0660\"")) == [])
        let text = "socket_directory = \"/run\"\nport = 5432\nsocket_mode = \"0600\""
        let rest = ": not applied to \(path), which the service manager made; that is"
        let lines = [
            "socket_directory = \"/run\", is \"\(directory)\"\(rest) ListenStream= of its socket unit",
            "port = 5432, is 5433\(rest) ListenStream= of its socket unit",
            "socket_mode = \"0600\", is \"0660\"\(rest) SocketMode= of its socket unit",
        ]
        #expect(socket.notApplied(try settings(text)) == lines)
        var inForce = ConfigurationInForce(try settings(text), socket: socket)
        let values = Dictionary(uniqueKeysWithValues: inForce.rows.map { ($0.key, $0.value) })
        #expect(values["port"] == "5433" && values["socket_mode"] == "0660" && values["socket_directory"] == directory)
        // Nor would a restart apply them.
        #expect(try take(text, &inForce) == .init(changed: lines, needRestart: []))
        let abstract = SocketInForce(path: "@/run/.s.PGSQL.5432")
        #expect(abstract.notApplied(try settings(text)).map { String($0.prefix { $0 != " " }) } == ["socket_directory", "socket_mode"])
    }

    @Test("More sessions than there is room for need a restart, and change nothing until then")
    func sessions() throws {
        var inForce = ConfigurationInForce(try settings("max_sessions = 10"))
        #expect(try take("max_sessions = 4096", &inForce).changed == ["max_sessions = 4096, was 10"])
        let changes = inForce.take(try settings("max_sessions = 4097"))
        #expect(changes == .init(changed: [], needRestart: ["max_sessions = 4097: above 4096 it needs a restart"]))
        #expect(inForce.settings.server.maximumSessions == 4096)
    }

    @Test("What is wrong on the command line is told under the option's name, all at once")
    func commandLine() throws {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try StartSettings(file: nil, options: [("readers", .integer(0)), ("port", .integer(0)), ("name", .string("walpool"))])
        }
        #expect(error?.lines.map { String($0.prefix { $0 != " " }) } == ["--readers", "--port", "--name"])
    }

    @Test("The system's file is read when nothing is named that it could be about")
    func standardFile() {
        let standard = "/etc/walpool/walpoold.toml"
        #expect(StartSettings.file(given: nil, database: nil) { $0 == standard } == standard)
        #expect(StartSettings.file(given: nil, database: nil) { _ in false } == nil)
        #expect(StartSettings.file(given: nil, database: "a.db") { _ in true } == nil)
        #expect(StartSettings.file(given: "mine", database: nil) { _ in true } == "mine")
        #expect(StartSettings.file(given: "mine", database: "a.db") { _ in true } == "mine")
    }
}
