import PostgresWire

/// What SHOW answers. Names are PgBouncer's where they mean the same (https://www.pgbouncer.org/usage.html#show-commands);
/// times are UTC, durations have their unit in the name.
extension ConsoleTopic {
    /// What SHOW HELP says of it.
    var summary: String {
        switch self {
        case .help: "this list"
        case .version: "the versions of Walpool and SQLite"
        case .clients: "one row for each session, those of the console included"
        case .pools: "sessions, readers and queues in numbers"
        case .writer: "who has the writer (place 0), and who waits for it, in order"
        case .wal: "the write-ahead log, its last checkpoint, and what holds it back"
        case .snapshots: "the snapshots that are kept open, oldest first"
        case .maintenance: "VACUUM: what it waits for or how far it is, the last, the next"
        case .backups: "the backup that runs, and the last one"
        case .stats, .statsTotals, .statsAverages, .statements: statisticsSummary
        }
    }

    var columns: [ConsoleTable.Column] {
        switch self {
        case .help: [text("command"), text("description")]
        case .version: [text("version"), text("sqlite"), text("protocol")]
        case .clients:
            [
                integer("id"), text("user"), text("database"), text("state"), text("transaction"),
                text("connect_time"), text("waits_for"), integer("wait_ms"), integer("uid"), integer("pid"),
                text("application_name"),
            ]
        case .pools:
            [
                text("database"), integer("sessions"), integer("cl_active"), integer("cl_waiting"), integer("sv_active"),
                integer("sv_idle"), integer("readers_limit"), text("writer"), integer("writer_queue"),
                integer("reader_queue"), integer("maxwait_ms"),
            ]
        case .writer:
            [integer("place"), integer("client"), text("user"), text("purpose"), integer("since_ms"), integer("idle_ms")]
        case .wal, .maintenance: [text("name"), text("value")]
        case .snapshots: [integer("client"), text("user"), text("owner"), integer("age_ms")]
        case .backups:
            [
                text("name"), text("state"), text("started"), integer("duration_ms"), integer("pages"),
                integer("pages_copied"), integer("bytes"), integer("snapshot_ms"), text("error"),
            ]
        case .stats, .statsTotals, .statsAverages, .statements: statisticsColumns
        }
    }

    private func text(_ name: String) -> ConsoleTable.Column { ConsoleTable.Column(name: name, type: .text) }
    private func integer(_ name: String) -> ConsoleTable.Column { ConsoleTable.Column(name: name, type: .int8) }
}
