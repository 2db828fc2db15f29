import PostgresWire
import Testing

@testable import Pool
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
                case .empty: return "empty"
                case .sqlite: return "sqlite"
                }
            } catch {
                #expect(error.hint == "SHOW HELP lists the commands of the console.")
                return error.state.code + (error.position.map { " at \($0)" } ?? "")
            }
        }
    }

    @Test(arguments: ConsoleTopic.allCases)
    func topics(_ topic: ConsoleTopic) {
        for sql in ["SHOW \(topic.rawValue)", "show \(topic.rawValue.uppercased());", " /* x */ sHoW \(topic.rawValue) -- y\n;;"] {
            #expect(picture(sql) == "show \(topic.rawValue)", "\(sql)")
        }
        #expect(!topic.columns.isEmpty && !topic.summary.isEmpty)
        #expect(picture("SHOW \(topic.rawValue) twice").hasPrefix("42601 at"))
    }

    @Test func commands() {
        #expect(picture("BACKUP TO 'a.db'") == "backup a.db")
        #expect(picture("backup to 'it''s; here';") == "backup it's; here")
        #expect(picture("BACKUP TO ''") == "backup ")
        #expect(picture("checkpoint;") == "checkpoint")
        #expect(picture("Vacuum") == "vacuum")
        #expect(picture("") == "empty" && picture("-- nothing") == "empty")
    }

    @Test func whatDriversSendUnasked() {
        for sql in ["BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE", "COMMIT", "ROLLBACK", "SAVEPOINT a"] {
            #expect(picture(sql) == "transaction", "\(sql)")
        }
        for sql in ["SET application_name = 'x'", "RESET ALL", "DISCARD ALL", "SHOW server_version", "UNLISTEN *", "CLOSE ALL"] {
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
