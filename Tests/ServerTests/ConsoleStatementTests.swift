import PostgresWire
import Testing

@testable import Server

@Suite struct ConsoleStatementTests {
    /// What the console makes of a text: its statement, another kind's name, or the error with its position.
    private func picture(_ sql: String) -> String {
        var sql = sql
        return sql.withUTF8 { bytes in
            do throws(WireError) {
                switch try Query(console: UnsafeRawBufferPointer(bytes)).kind {
                case .console(.show(let topic)): return "show \(topic.rawValue)"
                case .console(.backup(let name)): return "backup \(name)"
                case .console(let statement): return "\(statement)"
                case .session: return "session"
                case .transaction: return "transaction"
                case .chatter: return "chatter"
                case .catalog: return "catalog"
                case .copy: return "copy"
                case .empty: return "empty"
                case .sqlite: return "sqlite"
                }
            } catch {
                #expect(error.hint?.hasSuffix(". SHOW HELP explains them.") == true)
                return error.state.code + (error.position.map { " at \($0)" } ?? "")
            }
        }
    }

    @Test(arguments: ConsoleTopic.allCases)
    func topics(_ topic: ConsoleTopic) {
        let name = topic.rawValue
        for sql in ["SHOW \(name)", "show \(name.uppercased());", " /* x */ sHoW \(name) -- y\n;;"] {
            #expect(picture(sql) == "show \(topic.rawValue)", "\(sql)")
        }
        #expect(!topic.columns.isEmpty && !topic.summary.isEmpty)
        #expect(Set(topic.columns.map(\.name)).count == topic.columns.count)
        #expect(picture("SHOW \(name) twice").hasPrefix("42601 at"))
    }

    @Test func commands() {
        #expect(picture("BACKUP TO 'a.db'") == "backup a.db")
        #expect(picture("backup to 'it''s; here';") == "backup it's; here")
        #expect(picture("BACKUP TO ''") == "backup ")
        #expect(picture("checkpoint;") == "checkpoint")
        #expect(picture("Vacuum") == "vacuum")
        #expect(picture("") == "empty" && picture("-- nothing") == "empty")
    }

    @Test(arguments: [
        ("PAUSE", "pause(nil)"), ("pause ;", "pause(nil)"), ("Pause app", "pause(Optional(\"app\"))"),
        ("PAUSE \"My db\";", "pause(Optional(\"My db\"))"), ("resume -- all", "resume(nil)"),
        ("RESUME app", "resume(Optional(\"app\"))"), ("/* now */ RELOAD", "reload"), ("KILL 17", "kill(17)"),
        ("kill 2147483647;", "kill(2147483647)"), ("SHUTDOWN", "shutdown(whenClientsHaveLeft: false)"),
        ("shutdown Wait_For_Clients ;", "shutdown(whenClientsHaveLeft: true)"), ("SET max_sessions = 4", "set(\"max_sessions\")"),
        ("SET nonsense TO on", "set(\"nonsense\")"),
    ])
    func administration(_ sql: String, _ expected: String) { #expect(picture(sql) == expected) }

    /// Each says why, whatever stands behind it.
    @Test(arguments: MissingCommand.allCases)
    func missing(_ command: MissingCommand) {
        for sql in ["\(command.rawValue)", "\(command.rawValue.uppercased()) app;"] {
            #expect(picture(sql) == "missing(Server.MissingCommand.\(command))", "\(sql)")
        }
        #expect(command.error.state == .featureNotSupported && command.error.message.hasPrefix(command.rawValue.uppercased()))
    }

    @Test func everyCommandIsInTheHelp() {
        for (syntax, summary) in ConsoleStatement.help {
            // As it stands there, with what is optional and with a value for what stands for one.
            let sql = syntax.filter { $0 != "[" && $0 != "]" }.split(separator: " ")
                .map { $0 == "client" ? "7" : String($0) }.joined(separator: " ")
            #expect(!picture(sql).hasPrefix("42601") && !summary.isEmpty, "\(sql)")
        }
    }

    @Test func whatDriversSendUnasked() {
        for sql in ["BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE", "COMMIT", "ROLLBACK", "SAVEPOINT a"] {
            #expect(picture(sql) == "transaction", "\(sql)")
        }
        for sql in [
            "SET application_name = 'x'", "SET client_encoding TO 'UTF8'", "SET my.own = 1", "SET SESSION AUTHORIZATION DEFAULT",
            "RESET ALL", "DISCARD ALL", "SHOW server_version", "UNLISTEN *", "CLOSE ALL",
        ] {
            #expect(picture(sql) == "session", "\(sql)")
        }
        #expect(picture("SELECT version()") == "chatter")
    }

    @Test func mistakes() {
        #expect(picture("BACKUP") == "42601 at 7")
        #expect(picture("BACKUP 'a.db'") == "42601 at 8")
        #expect(picture("BACKUP TO a.db") == "42601 at 11")
        #expect(picture("BACKUP TO 'a.db' NOW") == "42601 at 18")
        #expect(picture("BACKUP TO 'a.db") == "42601 at 11")
        #expect(picture("CHECKPOINT hard") == "42601 at 12")
        for (sql, position) in [
            ("KILL", 5), ("KILL app", 6), ("KILL -1", 6), ("KILL 99999999999", 6), ("KILL 1 2", 8), ("KILL 1.5", 6),
            ("PAUSE a b", 9), ("PAUSE 7", 7), ("RESUME 'a'", 8), ("RELOAD now", 8), ("SHUTDOWN now", 10),
            ("SHUTDOWN WAIT_FOR_CLIENTS now", 27), ("SHUTDOWN WAIT_FOR_SERVERS", 10),
        ] { #expect(picture(sql) == "42601 at \(position)", "\(sql): \(picture(sql))") }
    }

    /// Nothing gets to SQLite, nor to the pool's queues.
    @Test func strangers() {
        for sql in [
            "SELECT 1", "SHOW nonsense", "SHOW 1", "HELP", "INSERT INTO t VALUES (1)", "PRAGMA wal_checkpoint", "BEGIN IMMEDIATE",
            "BEGIN EXCLUSIVE", "DECLARE c CURSOR FOR SELECT 1", "PREPARE p AS SELECT 1", "EXECUTE p", "FETCH c", "LISTEN a",
            "NOTIFY a", "\u{0}", "$1", "EXPLAIN SHOW HELP",
        ] {
            #expect(picture(sql).hasPrefix("42601"), "\(sql): \(picture(sql))")
        }
    }
}
